"""The module of a Python layer is written as a path; Python imports names.

What happens
    Caffe hands `module` to Python's import. With slashes or the ending `.py` it fails ("No module named …") and Caffe
    ends with the traceback. Python 2 let slashes pass by accident; Python 3 does not.

How to fix
    Give the module's name without `.py`, and let PYTHONPATH name the folder the file lies in. For a file in a package,
    or in a folder below one that is on PYTHONPATH, join the names by dots (Python 2 needs an `__init__.py` in each).

When it is fine
    Never.

Source
    GetPythonLayer, src/caffe/layer_factory.cpp (bp::import).
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.python_layers._modules import find_module, is_dotted_name
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext
    from caffe_guard.schema.message import Value

CODE = "CG401"
NAME = "python-module-as-path"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"

_LAYER = """\
import caffe


class Feed(caffe.Layer):
    def setup(self, bottom, top):
        top[0].reshape(2)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        top[0].data[...] = 1

    def backward(self, top, propagate_down, bottom):
        pass
"""
BAD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed.py" layer: "Feed" }
}
""",
        expect=[5],
        fixed="""\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed" layer: "Feed" }
}
""",
        caffe="aborts",
        files={"feed.py": _LAYER},
    ),
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param {
    module: "./pack/feed.py"
    layer: "Feed"
  }
}
""",
        expect=[6],
        fixed="""\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param {
    module: "pack.feed"
    layer: "Feed"
  }
}
""",
        caffe="aborts",
        files={"pack/__init__.py": "", "pack/feed.py": _LAYER},
    ),
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "../feed" layer: "Feed" }
}
""",
        expect=[5],
        caffe="aborts",
        files={"feed.py": _LAYER},
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "pack.feed" layer: "Feed" }
}
""",
        caffe="finite",
        files={"pack/__init__.py": "", "pack/feed.py": _LAYER},
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Slashes, backslashes and the ending .py; a module "py" in a package is left alone where there is one."""
    for layer in ctx.by_type("Python"):
        value = layer.param("python_param").at("module")
        if value is None:
            continue
        module: str = value.value
        if "/" not in module and "\\" not in module and not module.endswith(".py"):
            continue
        if is_dotted_name(module) and find_module(ctx, module) is not None:
            continue
        name = _as_name(module)
        file_name = module.replace("\\", "/").rsplit("/", 1)[-1]
        plain = file_name.removesuffix(".py")
        yield Finding(
            f'module "{module}" is a path; Caffe imports it by name, finds no such module and aborts',
            value.name_start,
            value.end,
            help=f'put the folder of {plain}.py on PYTHONPATH and write module: "{plain}"'
            if name is None or "." in name
            else f'write module: "{name}"',
            fix=_fix(value, name) if name is not None else None,
            layer=layer.name,
            field="python_param.module",
        )


def _as_name(module: str) -> str | None:
    """The path as dotted names, seen from the working directory; None when that is not possible."""
    path = module.replace("\\", "/")
    path = path.removesuffix(".py")
    while path.startswith("./"):
        path = path[2:]
    name = path.replace("/", ".")
    return name if is_dotted_name(name) else None


def _fix(value: Value, name: str) -> Fix:
    """Without a folder only the ending goes, which is surely meant; a dotted name rests on PYTHONPATH."""
    return Fix(f'write module: "{name}"', [Edit(value.start, value.end, f'"{name}"')], safe="." not in name)
