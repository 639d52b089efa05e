"""``caffe-guard eject``: take the guards out of a net again."""

from __future__ import annotations

import sys

from caffe_guard.cli import OK, fail
from caffe_guard.cli.inject import open_net, write_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

DESCRIPTION = """\
Takes out of a net what caffe-guard inject put in, and nothing else: the file is then what it was, byte for byte.

NET is a net, or a solver whose train net is meant; without it, the working directory's solver.prototxt or
train_val.prototxt."""


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("net", nargs="?", metavar="NET", help="a net's or a solver's prototxt")
    add("--output", "-o", metavar="FILE", help="write here instead of into the net's own file")
    add("--diff", action="store_true", help="show the change and make none")


def run(args: argparse.Namespace) -> int:
    from caffe_guard.inject.text import count_guards, ejected

    found = open_net(args.net)
    if isinstance(found, str):
        return fail(found)
    _, context = found
    text = context.source.text
    count = count_guards(text)
    after, remarks = ejected(text, context.net)
    code = write_out(args, context.source.path, text, after)
    if code != OK:
        return code
    for remark in remarks:
        sys.stderr.write(f"caffe-guard: {remark}\n")
    if not args.diff:
        told = f"{count} {'guard' if count == 1 else 'guards'} taken out of" if count else "there are no guards in"
        sys.stderr.write(f"caffe-guard: {told} {context.source.path}\n")
    return OK
