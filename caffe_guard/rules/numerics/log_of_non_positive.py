"""A Log layer reads values that can be 0 or negative.

What happens
    Caffe's Log computes log_base(scale·x + shift) without a check: a negative argument gives NaN, 0 gives -inf, and the
    gradient of -inf multiplied by 0 is NaN. A ReLU before it does not help, since it makes exact zeros.

How to fix
    Keep the argument away from 0: log_param { shift: 1 } computes log(1 + x) for x of 0 or more; for probabilities use
    SoftmaxWithLoss in place of Softmax and Log.

When it is fine
    When what comes in is positive by construction (Exp, Sigmoid of moderate values, data that are). Sources that
    caffe-guard cannot judge are not told of.

Source
    LogLayer::Forward_cpu and Backward_cpu, src/caffe/layers/log_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG307"
NAME = "log-of-non-positive"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "data" type: "DummyData" top: "data" dummy_data_param { shape { dim: 4 dim: 8 } data_filler { type: "gaussian" } } }
layer { name: "r" type: "ReLU" bottom: "data" top: "r" }
"""
BAD = (
    Example(
        _HEAD + 'layer {\n  name: "log"\n  type: "Log"\n  bottom: "r"\n  top: "log"\n}\n', expect=[4], caffe="nan"
    ),
)
GOOD = (
    Example(
        _HEAD + 'layer { name: "log" type: "Log" bottom: "r" top: "log" log_param { shift: 1 } }\n', caffe="finite"
    ),
)
# What the outputs of a layer can be: "zero" (0 or more, 0 among them) or "any" sign.
_ZERO_OR_MORE = ("ReLU", "AbsVal", "ReLU6", "Threshold", "Accuracy")
_ANY_SIGN = ("Convolution", "Deconvolution", "InnerProduct", "TanH", "BatchNorm", "MVN", "ELU", "PReLU")
# Layers whose outputs have the range of their bottom.
_KEEPING = ("Pooling", "Flatten", "Reshape", "Concat", "Slice", "Crop", "Tile", "Split", "Permute")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Log layers behind a layer that is known to give 0 or negative values."""
    if not ctx.by_type("Log"):
        return
    ranges: dict[str, tuple[str, Layer]] = {}
    for layer in ctx.layers:
        source = ranges.get(layer.bottoms[0].value) if layer.bottoms else None
        if layer.type == "Log" and source is not None:
            finding = _finding(layer, *source)
            if finding is not None:
                yield finding
        made = None
        if layer.type == "ReLU" and layer.param("relu_param").get("negative_slope") > 0:
            made = ("any", layer)
        elif layer.type in _ZERO_OR_MORE or layer.type == "Dropout":
            made = ("zero", layer) if layer.type != "Dropout" or source is None else source
        elif layer.type in _ANY_SIGN:
            made = ("any", layer)
        elif layer.type in _KEEPING:
            made = source
        for top in layer.tops:
            if made is None or (layer.type == "Dropout" and source is None):
                ranges.pop(top.value, None)
            else:
                ranges[top.value] = made


def _finding(layer: Layer, kind: str, source: Layer) -> Finding | None:
    param = layer.param("log_param")
    scale, shift = param.get("scale"), param.get("shift")
    if kind == "zero" and scale >= 0 and shift > 0:
        return None
    value = param.at("shift")
    start, end = (value.name_start, value.end) if value is not None else layer.anchor
    if kind == "zero":
        what = f"which {source.type} {source.name} makes 0 or more: log 0 = -inf, and its gradient is NaN"
    else:
        what = f"which {source.type} {source.name} can make negative: the log of a negative number is NaN"
    help = "add log_param { shift: 1 }, for log(1 + x)" if kind == "zero" else "make the input positive first"
    return Finding(
        f'{layer.name} takes the log of "{layer.bottoms[0].value}", {what}',
        start,
        end,
        help=help,
        layer=layer.name,
        field="log_param.shift",
    )
