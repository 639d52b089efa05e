"""A Python layer asks to be shared between GPUs, which no Caffe since 1.0 does.

What happens
    `share_in_parallel: true` let `caffe train --gpu 0,1` use one Python layer for all GPUs in Caffe rc3. Since then the field
    is read by nothing, and a Python layer in the TRAIN phase with several GPUs in one process is refused:
    "PythonLayer does not support CLI Multi-GPU, use train.py".

How to fix
    Remove the field. For several GPUs use Caffe's python/train.py, which starts a process for each; every process has a
    layer of its own.

When it is fine
    With one GPU the field does nothing. Forks that branched off around rc3 (SSD, R-FCN, Intel, …) still read it.

Source
    include/caffe/layers/python_layer.hpp at rc3, rc4 and 1.0.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.prototxt.edit import remove
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG407"
NAME = "python-layer-on-several-gpus"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param {
    module: "feed"
    layer: "Feed"
    share_in_parallel: true
  }
}
""",
        expect=[8],
        fixed="""\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param {
    module: "feed"
    layer: "Feed"
  }
}
""",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "feed" type: "Python" top: "x" python_param { module: "feed" layer: "Feed" share_in_parallel: false } }
""",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """share_in_parallel: true in files for BVLC's Caffe, told once."""
    if ctx.dialect != "bvlc":
        return
    values = []
    for layer in ctx.by_type("Python"):
        value = layer.param("python_param").at("share_in_parallel")
        if value is not None and value.value:
            values.append((layer, value))
    if not values:
        return
    layer, value = values[0]
    edits: list[Edit] = [remove(ctx.source.text, one.name_start, one.end) for _, one in values]
    yield Finding(
        "share_in_parallel is read by no Caffe since 1.0: with several GPUs in one process this layer makes Caffe abort",
        value.name_start,
        value.end,
        help="use one GPU, or Caffe's python/train.py, which runs one process a GPU",
        fix=Fix("remove share_in_parallel", edits, safe=True),
        layer=layer.name,
        field="python_param.share_in_parallel",
    )
