"""Layers that are trained have no weight_filler, so their weights start at 0.

What happens
    Caffe fills a blob without a filler with the constant 0. A layer of zeros gives 0 for every input; its own weights
    still get a gradient, but it passes none on. Where two such layers follow each other, neither ever gets a gradient:
    nothing below the last one learns, and the loss stays at its start value (ln of the number of classes).

Why it matters
    "Learns nothing" with no message. With pretrained weights (-weights) the fillers do not count, which is why a third
    of the public nets leave them out.

How to fix
    Give weight_filler { type: "xavier" } or "msra" to layers that start from scratch.

When it is fine
    When every layer without a filler is loaded from a .caffemodel under its own name. A new or renamed layer is not.

Source
    FillerParameter in caffe.proto; BaseConvolutionLayer::LayerSetUp, src/caffe/layers/base_conv_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.numerics._fillers import FILLED, is_zero, learns, named, settings
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG304"
NAME = "weight-filler-missing"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } } }
"""
BAD = (
    Example(
        _HEAD
        + """\
layer { name: "a" type: "InnerProduct" bottom: "data" top: "a" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer {
  name: "b"
  type: "InnerProduct"
  bottom: "a"
  top: "b"
  inner_product_param { num_output: 2 }
}
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "b" bottom: "label" }
""",
        expect=[(8, "warning")],
        caffe="finite",
    ),
    Example(
        _HEAD
        + """\
layer { name: "a" type: "InnerProduct" bottom: "data" top: "a" inner_product_param { num_output: 4 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "a" bottom: "label" }
""",
        expect=[(2, "info")],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + """\
layer { name: "a" type: "InnerProduct" bottom: "data" top: "a" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "a" bottom: "label" }
""",
        caffe="finite",
    ),
)
# Layers that hand on zeros as zeros.
_PASSING = ("ReLU", "PReLU", "ELU", "Pooling", "Dropout", "Flatten", "Reshape", "LRN", "TanH", "Split")


def check(ctx: NetContext) -> Iterator[Finding]:
    """All trained layers without a filler, told once: an info when no layer has one, else a warning."""
    if not ctx.trains:
        return
    trained = [layer for layer in ctx.by_type(*FILLED) if learns(layer, 0) and layer.message.has(FILLED[layer.type])]
    missing = [layer for layer in trained if not settings(layer).has("weight_filler")]
    if not missing:
        return
    missing.sort(key=lambda layer: layer.index)
    first = missing[0]
    param = settings(first)
    start, end = param.name_start, param.name_end
    field = f"{FILLED[first.type]}.weight_filler"
    if len(missing) == len(trained):
        yield Finding(
            "no trained layer has a weight_filler: the weights start at 0 unless they are loaded (-weights)",
            start,
            end,
            help='from scratch, give each weight_filler { type: "xavier" } or "msra"',
            layer=first.name,
            field=field,
            severity=Severity.INFO,
        )
        return
    pair = _zero_pair(ctx, missing)
    tail = ""
    if pair is not None:
        tail = f"; {pair[0].name} and {pair[1].name} follow each other, and from zero neither of them ever learns"
    count = len(missing)
    yield Finding(
        f"{count} trained {'layer has' if count == 1 else 'layers have'} no weight_filler ({named(missing)}) while others"
        f" have: unless loaded, the weights start at 0 and pass no gradient on{tail}",
        start,
        end,
        help='give weight_filler { type: "xavier" } or "msra" to each layer that is not loaded from a .caffemodel',
        layer=first.name,
        field=field,
        others=[(settings(layer).name_start, settings(layer).name_end) for layer in missing[1:]],
    )


def _zero_pair(ctx: NetContext, missing: list[Layer]) -> tuple[Layer, Layer] | None:
    """Two layers of zeros, the second fed by the first through nothing but what keeps zeros."""
    zero = {layer.index for layer in missing if is_zero(settings(layer).get("bias_filler"))}
    made: dict[str, Layer | None] = {}
    for layer in ctx.layers:
        source = made.get(layer.bottoms[0].value) if layer.bottoms else None
        if layer.index in zero and source is not None:
            return source, layer
        for top in layer.tops:
            if layer.index in zero:
                made[top.value] = layer
            else:
                made[top.value] = source if layer.type in _PASSING else None
    return None
