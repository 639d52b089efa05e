"""The module of a Python layer is nowhere that could be looked at.

What happens
    Caffe imports the module by Python's own search path: PYTHONPATH for `caffe train`, and what a script added to
    sys.path. The folder of the prototxt is not searched by itself. When the import fails, Caffe prints the Python error
    and ends. caffe-guard looked beside the net and its solver, in the working directory, on PYTHONPATH and in this
    Python's own folders; it never imports anything.

How to fix
    Put the module's folder on PYTHONPATH: `PYTHONPATH=path/to/folder:$PYTHONPATH caffe train …`.

When it is fine
    When a script of yours extends sys.path before it builds the net.

Source
    GetPythonLayer, src/caffe/layer_factory.cpp.
"""

from __future__ import annotations

import os

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.python_layers._modules import (
    PACK,
    find_module,
    find_nearby,
    is_dotted_name,
    search_folders,
)
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG403"
NAME = "python-module-not-found"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feeed_it" layer: "Feed" }
}
""",
        expect=[5],
        caffe="aborts",
    ),
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed_it" layer: "Feed" }
}
""",
        expect=[(5, "info")],
        caffe="aborts",
        files={"pylayers/feed_it.py": "import caffe\n\n\nclass Feed(caffe.Layer):\n    pass\n"},
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed_it" layer: "Feed" }
}
""",
        files={"feed_it.py": "import caffe\n\n\nclass Feed(caffe.Layer):\n    pass\n"},
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """The modules that are not found: one finding for all that are nowhere, one for each that lies nearby."""
    uses: dict[str, list[Layer]] = {}
    for layer in ctx.by_type("Python"):
        module: str = layer.param("python_param").get("module")
        # One that ends in .py is told as a path.
        if is_dotted_name(module) and not module.endswith(".py"):
            uses.setdefault(module, []).append(layer)
    nowhere: list[str] = []
    for module, layers in uses.items():
        if find_module(ctx, module) is not None:
            continue
        folder = find_nearby(ctx, module)
        if folder is None:
            nowhere.append(module)
        else:
            yield _nearby(module, folder, layers)
    if nowhere:
        yield _nowhere(ctx, nowhere, [layer for module in nowhere for layer in uses[module]])


def _place(layer: Layer) -> tuple[int, int]:
    value = layer.param("python_param").at("module")
    assert value is not None
    return value.name_start, value.end


def _nearby(module: str, folder: str, layers: list[Layer]) -> Finding:
    more = f" ({len(layers)} layers need it)" if len(layers) > 1 else ""
    return Finding(
        f'module "{module}" lies in {folder}, which is not on PYTHONPATH{more}',
        *_place(layers[0]),
        help=f"run with PYTHONPATH={folder}, unless a script adds it to sys.path",
        layer=layers[0].name,
        field="python_param.module",
        severity=Severity.INFO,
    )


def _nowhere(ctx: NetContext, modules: list[str], layers: list[Layer]) -> Finding:
    layers = sorted(layers, key=lambda layer: layer.start)
    names = ", ".join(f'"{module}"' for module in modules)
    what = f"the modules {names} were not found" if len(modules) > 1 else f"module {names} was not found"
    package = modules[0].split(".", 1)[0]
    if len(modules) == 1 and package != modules[0] and find_module(ctx, package) is not None:
        what = f'the package "{package}" is there, but {names} is not in it'
    more = f" ({len(layers)} layers need {'them' if len(modules) > 1 else 'it'})" if len(layers) > 1 else ""
    advice = "put the folder on PYTHONPATH, or correct the name; ignore this where a script extends sys.path"
    if all(module in PACK for module in modules):
        advice = "run with PYTHONPATH=$(caffe-guard layers --path):$PYTHONPATH"
    return Finding(
        f"{what}{more}; looked in {_shown(search_folders(ctx))}. Where Caffe does not find it either, it ends",
        *_place(layers[0]),
        help=advice,
        layer=layers[0].name,
        field="python_param.module",
    )


def _shown(folders: list[str]) -> str:
    """The first few folders, as short as they can be written."""
    words = []
    for folder in folders[:4]:
        short = os.path.relpath(folder)
        words.append("the working directory" if short == "." else short if len(short) < len(folder) else folder)
    more = len(folders) - len(words)
    return ", ".join(words) + (f" and {more} more folders of PYTHONPATH" if more else "")
