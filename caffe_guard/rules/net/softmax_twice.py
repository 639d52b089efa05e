"""A loss that applies softmax or sigmoid itself reads values that went through one already.

What happens
    SoftmaxWithLoss and SigmoidCrossEntropyLoss take raw scores. Probabilities lie between 0 and 1, so after a second softmax
    over K classes no class gets more than e / (e + K - 1): for 10 classes 0.23, a loss that stays above 1.46 for a perfect
    net. A second sigmoid keeps everything between 0.5 and 0.73.

Why it matters
    The net still learns, slowly, from gradients that are small everywhere; the loss never comes near 0.

How to fix
    Give the loss the scores: the bottom of the Softmax or Sigmoid. Keep that layer for the TEST phase or the deploy net.

When it is fine
    Where the first softmax is an attention and only looks like scores; then the loss reads something computed from it.

Source
    SoftmaxWithLossLayer, src/caffe/layers/softmax_loss_layer.cpp; SigmoidCrossEntropyLossLayer.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Related, Severity
from caffe_guard.rules.net._scores import producer_of
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG213"
NAME = "softmax-twice"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
"""
BAD = (
    Example(
        _HEAD
        + """\
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "prob"
  bottom: "y"
  top: "loss"
}
""",
        expect=[8],
        fixed=_HEAD
        + """\
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "fc"
  bottom: "y"
  top: "loss"
}
""",
        caffe="finite",
    ),
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
layer { name: "prob" type: "Sigmoid" bottom: "fc" top: "fc" }
layer {
  name: "loss"
  type: "SigmoidCrossEntropyLoss"
  bottom: "fc"
  bottom: "y"
}
""",
        expect=[7],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + """\
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer { name: "quiet" type: "Silence" bottom: "prob" }
""",
        caffe="finite",
    ),
)

_APPLIES = {"SoftmaxWithLoss": "softmax", "SigmoidCrossEntropyLoss": "sigmoid", "Softmax": "softmax"}
_BEFORE = {
    "SoftmaxWithLoss": ("Softmax",),
    "SigmoidCrossEntropyLoss": ("Sigmoid", "Softmax"),
    "Softmax": ("Softmax",),
}


def check(ctx: NetContext) -> Iterator[Finding]:
    """Softmax or sigmoid right before a layer that applies its own."""
    if not ctx.by_type(*_BEFORE):
        return
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            before = _BEFORE.get(layer.type)
            if before is None:
                continue
            producer = producer_of(net, index)
            if producer is not None and producer.type in before:
                yield _finding(net, index, layer, producer)


def _finding(net: PhaseNet, index: int, layer: Layer, producer: Layer) -> Finding:
    bottom = layer.bottoms[0]
    scores = producer.bottoms[0].value if producer.bottoms else None
    fix = None
    version = net.graph.reads[index][0]
    # A blob that is written in place has no older form that could be read.
    direct = version is not None and version.producer is producer
    if scores is not None and direct and scores != bottom.value and _still_there(net, index, producer):
        fix = Fix(f'read the scores "{scores}"', [Edit(bottom.start, bottom.end, f'"{scores}"')])
    return Finding(
        f'{layer.type} applies {_APPLIES[layer.type]} itself, and "{bottom.value}" is the output of'
        f' {producer.type} "{producer.name}" already: the differences between scores are squeezed to next to nothing',
        bottom.name_start,
        bottom.end,
        help=f'let it read "{scores}"' if fix is not None else f'let it read what goes into "{producer.name}"',
        fix=fix,
        related=[Related(f'{producer.type} "{producer.name}"', *producer.anchor)],
        layer=layer.name,
        field="bottom",
    )


def _still_there(net: PhaseNet, index: int, producer: Layer) -> bool:
    """Whether no layer between writes the scores' blob anew."""
    name = producer.bottoms[0].value
    return not any(
        top.value == name for layer in net.layers[:index] if layer.start > producer.start for top in layer.tops
    )
