"""A Python layer does not say which module, or which class in it, it is.

What happens
    Caffe imports `python_param.module` and takes the attribute `python_param.layer` of it. An empty module name is
    "ValueError: Empty module name", an empty class name an AttributeError; Caffe ends with it.

How to fix
    python_param { module: "my_layers" layer: "MyLayer" }, where my_layers.py is on PYTHONPATH.

When it is fine
    Never.

Source
    GetPythonLayer, src/caffe/layer_factory.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG402"
NAME = "python-module-or-layer-missing"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { layer: "Feed" }
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
  python_param {
    module: "os"
    layer: ""
  }
}
""",
        expect=[7],
        caffe="aborts",
    ),
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
}
""",
        expect=[2],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed" layer: "Feed" }
}
""",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """module and layer, empty or not given."""
    for layer in ctx.by_type("Python"):
        param = layer.param("python_param")
        missing = [field for field in ("module", "layer") if not param.get(field)]
        if not missing:
            continue
        written = next((value for value in map(param.at, missing) if value is not None), None)
        start, end = layer.anchor
        if written is not None:
            start, end = written.name_start, written.end
        elif layer.message.has("python_param"):
            start, end = param.name_start, param.name_end
        yield Finding(
            f"python_param names no {' and no '.join(missing)}: Caffe aborts when it creates the layer",
            start,
            end,
            help='write python_param { module: "…" layer: "…" }: the module\'s name and the class in it',
            layer=layer.name,
            field=f"python_param.{missing[0]}",
        )
