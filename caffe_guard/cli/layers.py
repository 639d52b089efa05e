"""``caffe-guard layers``: the pack of pycaffe layers, and where it lies."""

from __future__ import annotations

import os
import sys

from caffe_guard.cli import OK, add_format, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

DESCRIPTION = "Lists the layers of the pack; --path prints the folder for PYTHONPATH."


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--path", action="store_true", help="print the folder for PYTHONPATH")
    add_format(parser, "text", "json")


def run(args: argparse.Namespace) -> int:
    from caffe_guard.inject.pack import folder

    place = folder()
    if place is None:
        return fail("the pack is not beside this installation; it is the folder layers/ of the source")
    if args.path:
        sys.stdout.write(f"{place}\n")
        return OK
    found = [
        (name[:-3], _first_sentence(os.path.join(place, name)))
        for name in sorted(os.listdir(place))
        if name.endswith(".py")
    ]
    if args.format == "json":
        import json

        data = {"version": 1, "path": place, "layers": [{"module": name, "summary": text} for name, text in found]}
        sys.stdout.write(json.dumps(data, indent=2) + "\n")
    else:
        for name, text in found:
            sys.stdout.write(f"{name}: {text}\n")
        sys.stdout.write(f"\nexport PYTHONPATH={place}:$PYTHONPATH\n")
    return OK


def _first_sentence(path: str) -> str:
    """The first line of a module's docstring, read and not run."""
    import ast

    with open(path, encoding="utf-8") as stream:
        page = ast.get_docstring(ast.parse(stream.read())) or ""
    return page.partition("\n")[0]
