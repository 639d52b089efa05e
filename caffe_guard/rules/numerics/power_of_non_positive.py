"""A Power layer takes a power that its input does not have: a root of a negative number, or 1 over 0.

What happens
    Caffe computes (shift + scale * x) ^ power without a check. A power that is no whole number gives NaN for a negative base,
    and a negative power gives inf for 0. In the backward pass every power except 0, 1 and 2 is found by dividing the output
    by the base: for a base of exactly 0, which ReLU makes all the time, that is 0/0 = NaN, even for x ^ 3.

How to fix
    Keep the base above 0: a small shift (power_param { power: 0.5 shift: 1e-6 }) behind a ReLU, AbsVal before a root of
    something signed. For x ^ 3 multiply with an Eltwise layer (operation: PROD), or shift.

When it is fine
    When what comes in is positive by construction. Sources that caffe-guard cannot judge are not told of.

Source
    PowerLayer::Forward_cpu and Backward_cpu, src/caffe/layers/power_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.numerics._signs import ANY, signs
from caffe_guard.rules.rule import Example
from caffe_guard.solver.float32 import f32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG318"
NAME = "power-of-non-positive"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 4 dim: 6 } data_filler { type: "gaussian" } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 8 weight_filler { type: "xavier" } } }
"""
_RELU = 'layer { name: "r" type: "ReLU" bottom: "fc" top: "fc" }\n'
_POWER = 'layer {\n  name: "w"\n  type: "Power"\n  bottom: "fc"\n  top: "w"\n  power_param { power: %s }\n}\n'
_END = 'layer { name: "loss" type: "Reduction" bottom: "w" top: "loss" loss_weight: 1 }\n'
BAD = (
    Example(_HEAD + _POWER % "0.5" + _END, expect=[8], caffe="nan"),
    Example(_HEAD + _RELU + _POWER % "-1" + _END, expect=[9], caffe="nan"),
    Example(_HEAD + _RELU + _POWER % "0.5" + _END, expect=[9], caffe="nan"),
    Example(_HEAD + _RELU + _POWER % "3" + _END, expect=[9], caffe="nan"),
)
GOOD = (
    Example(_HEAD + _POWER % "3" + _END, caffe="finite"),
    Example(_HEAD + _RELU + _POWER % "2" + _END, caffe="finite"),
    Example(_HEAD + _RELU + _POWER % "0.5 shift: 1e-4" + _END, caffe="finite"),
    Example(
        _HEAD
        + 'layer { name: "r" type: "AbsVal" bottom: "fc" top: "r" }\n'
        + (_POWER % "0.5").replace('"fc"', '"r"')
        + _END,
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Power layers behind a layer that is known to give 0 or negative values."""
    if not any(layer.param("power_param").has("power") for layer in ctx.by_type("Power")):
        return
    for net in ctx.phases:
        bottoms = signs(net)
        for index, layer in enumerate(net.layers):
            known = bottoms[index]
            if layer.type == "Power" and known is not None:
                finding = _finding(layer, *known, net.need_backward[index])
                if finding is not None:
                    yield finding


def _finding(layer: Layer, kind: str, source: Layer, backward: bool) -> Finding | None:
    param = layer.param("power_param")
    power, scale, shift = (f32(param.get(name)) for name in ("power", "scale", "shift"))
    if power * scale == 0:
        return None  # the input is not read
    negative = kind == ANY or scale < 0 or shift < 0
    zero = kind != ANY and shift == 0
    whole = power == int(power) if abs(power) < 1e9 else True
    makes = f"which {source.type} {source.name} can make {'negative' if kind == ANY else '0'}"
    if negative and not whole:
        if kind != ANY:
            makes = f"which can make shift + scale × x negative (scale {scale:g}, shift {shift:g})"
        what = "the power of a negative number is NaN when the exponent is not whole"
        advice = "make the input positive first, with AbsVal or power: 2"
    elif zero and power < 0:
        what = f"0 ^ {power:g} is inf"
        advice = "add a shift that keeps the base above 0, as shift: 1e-6"
    elif zero and power not in (1, 2) and backward:
        what = "its gradient is the output divided by the input, 0/0 = NaN"
        advice = "add a shift that keeps the base above 0, as shift: 1e-6"
    else:
        return None
    value = param.at("power")
    start, end = (value.name_start, value.end) if value is not None else layer.anchor
    return Finding(
        f'{layer.name} takes the power {power:g} of "{layer.bottoms[0].value}", {makes}: {what}',
        start,
        end,
        help=advice,
        related=[Related(f'{source.type} "{source.name}"', *source.anchor)],
        layer=layer.name,
        field="power_param.power",
    )
