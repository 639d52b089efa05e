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
    """Each module that is not found, once, at its first use."""
    uses: dict[str, list[Layer]] = {}
    for layer in ctx.by_type("Python"):
        module: str = layer.param("python_param").get("module")
        # One that ends in .py is told as a path.
        if is_dotted_name(module) and not module.endswith(".py"):
            uses.setdefault(module, []).append(layer)
    for module, layers in uses.items():
        if find_module(ctx, module) is None:
            yield _finding(ctx, module, layers)


def _finding(ctx: NetContext, module: str, layers: list[Layer]) -> Finding:
    value = layers[0].param("python_param").at("module")
    assert value is not None
    more = f" ({len(layers)} layers need it)" if len(layers) > 1 else ""
    folder = find_nearby(ctx, module)
    if folder is not None:
        return Finding(
            f'module "{module}" lies in {folder}, which is not on PYTHONPATH{more}',
            value.name_start,
            value.end,
            help=f"run with PYTHONPATH={folder}, unless a script adds it to sys.path",
            layer=layers[0].name,
            field="python_param.module",
            severity=Severity.INFO,
        )
    package = module.split(".", 1)[0]
    if package != module and find_module(ctx, package) is not None:
        what = f'package "{package}" is there, but "{module}" is not in it'
    else:
        what = f'module "{module}" was not found'
    return Finding(
        f"{what}{more}; without it Caffe cannot create the layer and ends. Looked in {_shown(search_folders(ctx))}",
        value.name_start,
        value.end,
        help="run with PYTHONPATH=$(caffe-guard layers --path):$PYTHONPATH"
        if module in PACK
        else "put its folder on PYTHONPATH, or correct the name; ignore this where a script extends sys.path",
        layer=layers[0].name,
        field="python_param.module",
    )


def _shown(folders: list[str]) -> str:
    words = [folder if folder != "." else "the working directory" for folder in folders[:4]]
    more = len(folders) - len(words)
    return ", ".join(words) + (f" and {more} more of PYTHONPATH" if more else "")
