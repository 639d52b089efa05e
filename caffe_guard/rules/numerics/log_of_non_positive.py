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
from caffe_guard.rules.numerics._signs import ZERO, signs
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
    Example(_HEAD + 'layer {\n  name: "log"\n  type: "Log"\n  bottom: "r"\n  top: "log"\n}\n', expect=[4], caffe="nan"),
)
GOOD = (
    Example(
        _HEAD + 'layer { name: "log" type: "Log" bottom: "r" top: "log" log_param { shift: 1 } }\n', caffe="finite"
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Log layers behind a layer that is known to give 0 or negative values."""
    if not ctx.by_type("Log"):
        return
    for net in ctx.phases:
        for layer, known in zip(net.layers, signs(net)):
            if layer.type == "Log" and known is not None:
                finding = _finding(layer, *known)
                if finding is not None:
                    yield finding


def _finding(layer: Layer, kind: str, source: Layer) -> Finding | None:
    param = layer.param("log_param")
    scale, shift = param.get("scale"), param.get("shift")
    if kind == ZERO and scale >= 0 and shift > 0:
        return None
    value = param.at("shift")
    start, end = (value.name_start, value.end) if value is not None else layer.anchor
    if kind == ZERO:
        what = f"which {source.type} {source.name} makes 0 or more: log 0 = -inf, and its gradient is NaN"
    else:
        what = f"which {source.type} {source.name} can make negative: the log of a negative number is NaN"
    help = "add log_param { shift: 1 }, for log(1 + x)" if kind == ZERO else "make the input positive first"
    return Finding(
        f'{layer.name} takes the log of "{layer.bottoms[0].value}", {what}',
        start,
        end,
        help=help,
        layer=layer.name,
        field="log_param.shift",
    )
