"""A pooling window lies outside the input: average pooling gives NaN, max pooling the lowest float.

What happens
    Caffe rounds the pooled size up. Without pad nothing clips it, so with a stride larger than the kernel the last
    window can begin at the input's edge or past it. AVE divides the sum of nothing by a window of size zero: 0/0 = NaN
    when the window begins exactly at the edge (past it the size is negative and the result -0). MAX leaves its start
    value, -FLT_MAX = -3.4028235e38, with index -1, and its backward writes one item before its buffer, which can crash
    the process at any later time.

Why it matters
    The NaN reaches the loss in the same iteration. -3.4e38 overflows to inf in the next layer that multiplies it.

How to fix
    Use a stride no larger than the kernel, or one of the strides and input sizes that the help names, or pad, or
    round_mode: FLOOR (Caffe of March 2018 or later).

When it is fine
    Padded pooling is clipped, and a stride larger than the kernel alone only skips pixels (CG302).

Source
    PoolingLayer::Reshape and Forward_cpu, src/caffe/layers/pooling_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Related, Severity
from caffe_guard.net.layers.pool import pooled_axes, pooled_size
from caffe_guard.net.problem import Abort
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.layers.pool import PooledAxis
    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext
    from caffe_guard.schema.message import Message, Value

CODE = "CG301"
NAME = "empty-pooling-window"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 10 dim: 10 } } }
layer {
  name: "pool5"
  type: "Pooling"
  bottom: "data"
  top: "pool5"
  pooling_param { pool: AVE kernel_size: 3 stride: 5 }
}
""",
        expect=[7],
        fixed="""\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 10 dim: 10 } } }
layer {
  name: "pool5"
  type: "Pooling"
  bottom: "data"
  top: "pool5"
  pooling_param { pool: AVE kernel_size: 3 stride: 4 }
}
""",
        caffe="nan",
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 6 dim: 6 } } }
layer {
  name: "pick"
  type: "Pooling"
  bottom: "data"
  top: "pick"
  pooling_param { pool: MAX kernel_size: 2 stride: 3 }
}
""",
        expect=[7],
        caffe="garbage",
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 9 dim: 9 } } }
layer {
  name: "pick"
  type: "Pooling"
  bottom: "data"
  top: "pick"
  pooling_param { pool: MAX kernel_size: 2 stride: 6 }
}
""",
        expect=[7],
        caffe="garbage",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 11 dim: 11 } } }
layer { name: "p" type: "Pooling" bottom: "data" top: "p" pooling_param { pool: AVE kernel_size: 3 stride: 5 } }
""",
        caffe="finite",
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 10 dim: 10 } } }
layer { name: "p" type: "Pooling" bottom: "data" top: "p" pooling_param { pool: AVE kernel_size: 3 stride: 5 pad: 1 } }
""",
        caffe="finite",
    ),
)
_SIDES = (("h", "row"), ("w", "column"))


def check(ctx: NetContext) -> Iterator[Finding]:
    """Every pooling whose input is known and whose last window holds nothing of it."""
    if not ctx.by_type("Pooling"):
        return
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.type != "Pooling" or not net.bottom_shapes[index]:
                continue
            at = net.setup(index)
            assert at is not None
            try:
                axes = pooled_axes(at)
            except Abort:
                continue
            for axis, (side, word) in zip(axes, _SIDES):
                if axis is not None and axis.size > 0 and axis.starts_past_input:
                    yield _finding(layer, at.param, axis, side, word)
                    break


def _place(param: Message, name: str, side: str) -> tuple[str, Value | None]:
    """The field that sets stride or kernel along a side, and its value in the text."""
    own = param.at(f"{name}_{side}")
    if own is not None and (name == "stride" or not param.has("kernel_size")):
        return f"{name}_{side}", own
    field = name if name == "stride" else "kernel_size"
    return field, param.at(field)


def _finding(layer: Layer, param: Message, axis: PooledAxis, side: str, word: str) -> Finding:
    field, stride = _place(param, "stride", side)
    _, kernel = _place(param, "kernel", side)
    method = param.get("pool")
    where = f"window {axis.size - 1} starts at {word} {axis.last_start} of a {axis.extent}-{word} input"
    severity = None
    if method == "AVE" and axis.last_start == axis.extent:
        message = f"{layer.name}: average {where}: 0/0 = NaN"
    elif method == "AVE":
        message = f"{layer.name}: average {where}: it averages nothing and gives -0"
        severity = Severity.WARNING
    else:
        message = f"{layer.name}: max {where}: the output is -3.4e38, and backward writes before its buffer"
    start, end = (stride.name_start, stride.end) if stride is not None else layer.anchor
    safe = _safe_stride(axis)
    fix = None
    if stride is not None:
        fix = Fix(f"use stride {safe}", [Edit(stride.start, stride.end, str(safe))])
    related = [Related("the kernel", kernel.name_start, kernel.end)] if kernel is not None else []
    sizes = _safe_sizes(axis)
    return Finding(
        message,
        start,
        end,
        help=f"use stride {safe} or less, or pad, or an input of {sizes} {word}s",
        fix=fix,
        related=related,
        layer=layer.name,
        field=f"pooling_param.{field}",
        severity=severity,
    )


def _is_safe(extent: int, kernel: int, stride: int) -> bool:
    return (pooled_size(extent, kernel, stride, 0, True, False) - 1) * stride < extent


def _safe_stride(axis: PooledAxis) -> int:
    """The largest smaller stride below which all are safe for this input; the kernel itself always is."""
    stride = axis.kernel
    while stride + 1 < axis.stride and _is_safe(axis.extent, axis.kernel, stride + 1):
        stride += 1
    return stride


def _safe_sizes(axis: PooledAxis) -> str:
    """The nearest input sizes, one smaller and one larger, for which the last window holds something."""
    nearest = []
    for step in (-1, 1):
        extent = axis.extent + step
        while extent >= axis.kernel and abs(extent - axis.extent) <= axis.stride:
            if _is_safe(extent, axis.kernel, axis.stride):
                nearest.append(str(extent))
                break
            extent += step
    return " or ".join(nearest) or "another number of"
