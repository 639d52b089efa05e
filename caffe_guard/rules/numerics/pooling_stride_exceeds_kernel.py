"""A pooling strides further than its kernel is wide.

What happens
    Some rows and columns lie between the windows and are never looked at. For some input sizes the last window begins
    at or past the edge and holds nothing: NaN for average pooling, -3.4e38 for max pooling (CG301 tells it where the
    size is known). With kernel k and stride s, no pad and rounding up, that happens for heights and widths of
    n·s + k + r with r from 1 to s - k.

How to fix
    Take a stride no larger than the kernel, or make sure that no input has one of these sizes; pad or
    round_mode: FLOOR keep every window inside.

When it is fine
    Subsampling on purpose, such as kernel 1 and stride 2 in a residual shortcut. Where the size is known and no window
    is empty, or pad or FLOOR protect it, this is an info only.

Source
    PoolingLayer::Reshape, src/caffe/layers/pooling_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.net.layers.pool import pooled_axes
from caffe_guard.net.problem import Abort
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG302"
NAME = "pooling-stride-exceeds-kernel"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer { name: "data" type: "Data" top: "data" data_param { source: "db" batch_size: 1 } }
layer {
  name: "p"
  type: "Pooling"
  bottom: "data"
  top: "p"
  pooling_param { pool: AVE kernel_size: 2 stride: 3 }
}
""",
        expect=[(7, "warning")],
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 9 dim: 9 } } }
layer {
  name: "p"
  type: "Pooling"
  bottom: "data"
  top: "p"
  pooling_param { pool: MAX kernel_size: 1 stride: 2 }
}
""",
        expect=[(7, "info")],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 8 dim: 8 } } }
layer { name: "p" type: "Pooling" bottom: "data" top: "p" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Strides larger than kernels, where no empty window is proven."""
    wide = [layer for layer in ctx.by_type("Pooling") if _excess(layer) is not None]
    if not wide:
        return
    verdicts = _verdicts(ctx, wide)
    for layer in wide:
        verdict = verdicts.get(layer.index)
        if verdict == "proven":
            continue
        excess = _excess(layer)
        assert excess is not None
        kernel, stride = excess
        param = layer.param("pooling_param")
        value = param.at("stride") or param.at("stride_h") or param.at("stride_w")
        start, end = (value.name_start, value.end) if value is not None else layer.anchor
        protected = param.get("pad") or param.get("pad_h") or param.get("pad_w") or param.get("round_mode") == "FLOOR"
        message = (
            f"{layer.name}: stride {stride} is larger than kernel {kernel}, so pixels between the windows are skipped"
        )
        if verdict == "safe" or protected:
            yield Finding(
                f"{message}; no window is empty",
                start,
                end,
                layer=layer.name,
                field="pooling_param.stride",
                severity=Severity.INFO,
            )
            continue
        rests = [(kernel + rest) % stride for rest in range(1, min(stride - kernel, 4) + 1)]
        sizes = ", ".join(f"{stride}n+{rest}" if rest else f"{stride}n" for rest in rests)
        result = "NaN" if param.get("pool") == "AVE" else "-3.4e38"
        yield Finding(
            f"{message}; an input of {sizes} rows or columns leaves the last window empty: {result}",
            start,
            end,
            help=f"use stride {kernel} or less, pad, or make sure that no input has such a size",
            layer=layer.name,
            field="pooling_param.stride",
        )


def _excess(layer: Layer) -> tuple[int, int] | None:
    """Kernel and stride along the first side where the stride is larger."""
    param = layer.param("pooling_param")
    if param.get("global_pooling"):
        return None
    for side in ("h", "w"):
        kernel = param.get("kernel_size") if param.has("kernel_size") else param.get(f"kernel_{side}")
        stride = param.get(f"stride_{side}") if param.has(f"stride_{side}") else param.get("stride")
        if kernel and stride > kernel:
            return kernel, stride
    return None


def _verdicts(ctx: NetContext, layers: list[Layer]) -> dict[int, str]:
    """By layer index: ``proven`` (some phase has an empty window) or ``safe`` (all sizes known, none has)."""
    wanted = {layer.index for layer in layers}
    verdicts: dict[int, str] = {}
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.index not in wanted or not net.bottom_shapes[index]:
                continue
            at = net.setup(index)
            assert at is not None
            try:
                axes = pooled_axes(at)
            except Abort:
                continue
            if any(axis is not None and axis.size > 0 and axis.starts_past_input for axis in axes):
                verdicts[layer.index] = "proven"
            elif None in axes:
                verdicts.setdefault(layer.index, "unknown")
            elif verdicts.get(layer.index) != "unknown":
                verdicts.setdefault(layer.index, "safe")
    return verdicts
