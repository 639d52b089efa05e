"""Layers with a bias have no bias_filler.

What happens
    Caffe fills a blob without a filler with the constant 0, so the biases start at 0. That is a common choice, and it
    is not random memory: a missing bias_filler alone never gives NaN, whatever one reads.

Why it matters
    It does not, as a rule. Written out, nobody has to wonder, and a value other than 0 (0.1 before a ReLU, say) has a
    place.

How to fix
    `--fix` adds `bias_filler { type: "constant" value: 0 }`, which changes nothing that Caffe computes.

When it is fine
    Always. Layers without a bias, frozen biases and nets that are not trained are not told of.

Source
    FillerParameter in caffe.proto (type "constant", value 0); BaseConvolutionLayer::LayerSetUp and
    InnerProductLayer::LayerSetUp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Severity
from caffe_guard.prototxt.edit import insert_after, insert_into
from caffe_guard.rules.numerics._fillers import FILLED, learns, named, settings
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.diagnostic import Edit
    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG303"
NAME = "bias-filler-missing"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "data" type: "DummyData" top: "data" top: "label" dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } } }
"""
_TAIL = """\
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "ip" bottom: "label" }
"""
BAD = (
    Example(
        _HEAD
        + """\
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "data"
  top: "ip"
  inner_product_param {
    num_output: 2
    weight_filler { type: "xavier" }  # start
  }
}
"""
        + _TAIL,
        expect=[7],
        fixed=_HEAD
        + """\
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "data"
  top: "ip"
  inner_product_param {
    num_output: 2
    weight_filler { type: "xavier" }  # start
    bias_filler { type: "constant" value: 0 }
  }
}
"""
        + _TAIL,
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + """\
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "data"
  top: "ip"
  inner_product_param { num_output: 2 bias_term: false weight_filler { type: "xavier" } }
}
"""
        + _TAIL,
        caffe="finite",
    ),
)
_FILLER = 'bias_filler { type: "constant" value: 0 }'


def check(ctx: NetContext) -> Iterator[Finding]:
    """All layers of the net that lack it, told once."""
    if not ctx.trains:
        return
    missing = [layer for layer in ctx.by_type(*FILLED) if _lacks(layer)]
    if not missing:
        return
    first = missing[0]
    places = [(settings(layer).name_start, settings(layer).name_end) for layer in missing]
    which = named(missing)
    yield Finding(
        f"{len(missing)} {'layer has' if len(missing) == 1 else 'layers have'} a bias and no bias_filler ({which}):"
        " Caffe starts the bias at 0, which is fine and gives no NaN",
        *places[0],
        help="say so with bias_filler, if you want it written",
        fix=Fix(f"add {_FILLER}", [_edit(ctx.source.text, layer) for layer in missing], safe=True),
        layer=first.name,
        field=f"{FILLED[first.type]}.bias_filler",
        others=places[1:],
    )


def _lacks(layer: Layer) -> bool:
    param = settings(layer)
    return (
        layer.message.has(FILLED[layer.type])
        and bool(param.get("bias_term"))
        and not param.has("bias_filler")
        and learns(layer, 1)
        # What an old format's upgrade moved has no place of its own for a new field.
        and layer.message.at(FILLED[layer.type]) is not None
        and param.start < param.end
    )


def _edit(text: str, layer: Layer) -> Edit:
    param = settings(layer)
    weight = param.at("weight_filler")
    if weight is not None:
        return insert_after(text, weight.name_start, weight.end, _FILLER)
    return insert_into(text, param.start, param.end, _FILLER)
