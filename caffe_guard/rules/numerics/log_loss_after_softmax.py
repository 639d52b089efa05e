"""A logarithm is taken of a Softmax layer's output, in place of the fused SoftmaxWithLoss.

What happens
    A probability below what float32 can hold is 0. MultinomialLogisticLoss cuts it off at 1e-20, so a record never costs
    more than 46.05, and the Softmax then multiplies the gradient by that 0: a record that the net gets completely wrong
    teaches nothing. A Log layer has no cut-off: it gives -inf, and its gradient is NaN. SoftmaxWithLoss computes the
    gradient from the scores, probability - 1, and still learns from such a record.

Why it matters
    Scores that are 105 apart are enough. Nets reach that when the learning rate is too high or weights start too large.

How to fix
    Give the scores (the bottom of the Softmax) to SoftmaxWithLoss. Keep the Softmax for TEST or for deploying.

When it is fine
    While the scores stay small both compute the same. A Log with a positive shift has no such edge and is not told of.

Source
    MultinomialLogisticLossLayer, src/caffe/layers/multinomial_logistic_loss_layer.cpp (kLOG_THRESHOLD);
    LogLayer::Forward_cpu, src/caffe/layers/log_layer.cpp; SoftmaxWithLossLayer::Backward_cpu, softmax_loss_layer.cpp.
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

CODE = "CG306"
NAME = "log-loss-after-softmax"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 4 weight_filler { std: 300 type: "gaussian" } } }
"""
BAD = (
    Example(
        _HEAD
        + """\
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer {
  name: "loss"
  type: "MultinomialLogisticLoss"
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
        _HEAD
        + """\
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer {
  name: "log"
  type: "Log"
  bottom: "prob"
  top: "log"
}
layer { name: "loss" type: "Reduction" bottom: "log" top: "loss" loss_weight: -1 }
""",
        expect=[8],
        caffe="nan",
    ),
)
GOOD = (
    Example(
        _HEAD + 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }\n', caffe="finite"
    ),
    Example(
        _HEAD
        + """\
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer { name: "log" type: "Log" bottom: "prob" top: "log" log_param { shift: 1e-6 } }
layer { name: "loss" type: "Reduction" bottom: "log" top: "loss" loss_weight: -1 }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """MultinomialLogisticLoss and Log layers that read the output of a Softmax."""
    if not ctx.by_type("MultinomialLogisticLoss", "Log"):
        return
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.type not in ("MultinomialLogisticLoss", "Log"):
                continue
            producer = producer_of(net, index)
            if producer is None or producer.type != "Softmax":
                continue
            if layer.type == "Log":
                param = layer.param("log_param")
                # A deploy net whose Log is read by nothing learns nothing from it: -inf stays where it is.
                if param.get("shift") > 0 or param.get("scale") == 0 or not net.need_backward[index]:
                    continue
                yield _log(layer, producer)
            else:
                yield _loss(net, index, layer, producer)


def _loss(net: PhaseNet, index: int, layer: Layer, producer: Layer) -> Finding:
    bottom = layer.bottoms[0]
    scores = producer.bottoms[0] if producer.bottoms else None
    direct = net.graph.reads[index][0]
    fix = None
    kind = layer.message.at("type")
    if scores is not None and kind is not None and direct is not None and direct.producer is producer:
        # The scores must still be there: a Softmax in place overwrites them, and so may a later layer.
        written = [top.value for later in net.layers[:index] if later.index >= producer.index for top in later.tops]
        plain = producer.param("softmax_param").get("axis") == 1
        if scores.value not in written and plain and net.net.syntax == "V2":
            fix = Fix(
                f'SoftmaxWithLoss on the scores "{scores.value}"',
                [Edit(kind.start, kind.end, '"SoftmaxWithLoss"'), Edit(bottom.start, bottom.end, f'"{scores.value}"')],
            )
    return Finding(
        f'{layer.name} takes the logarithm of "{bottom.value}", the output of Softmax {producer.name}: a probability'
        " that rounds to 0 costs 46.05 and gets no gradient, so a record that is completely wrong teaches nothing",
        bottom.name_start,
        bottom.end,
        help=f'use SoftmaxWithLoss on "{scores.value}"' if scores is not None else "use SoftmaxWithLoss on the scores",
        fix=fix,
        related=[Related(f'Softmax "{producer.name}"', *producer.anchor)],
        layer=layer.name,
        field="bottom",
    )


def _log(layer: Layer, producer: Layer) -> Finding:
    bottom = layer.bottoms[0]
    return Finding(
        f'{layer.name} takes the logarithm of "{bottom.value}", the output of Softmax {producer.name}: a probability'
        " that rounds to 0 gives -inf, and its gradient is NaN",
        bottom.name_start,
        bottom.end,
        help="use SoftmaxWithLoss on the scores, or add log_param { shift: 1e-6 }",
        related=[Related(f'Softmax "{producer.name}"', *producer.anchor)],
        layer=layer.name,
        field="bottom",
    )
