"""A ReLU or Dropout sits between the last scores and their loss.

What happens
    A loss that compares scores reads them after a ReLU: scores below 0 become 0 and get no gradient, so that a class that fell
    below 0 for a record cannot come back, and the net can stand still at ln(number of classes). Dropout there sets
    scores of random classes to 0 and doubles the rest.

How to fix
    Let the loss read the scores of the last Convolution or InnerProduct directly; put Dropout before that layer.

When it is fine
    Where scores below 0 mean nothing by design. Pooling behind the ReLU, as in NIN and SqueezeNet, is not told.

Source
    ReLULayer and DropoutLayer, src/caffe/layers/.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.net._scores import producer_of
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG217"
NAME = "activation-on-scores"
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
layer {
  name: "relu"
  type: "ReLU"
  bottom: "fc"
  top: "fc"
}
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }
""",
        expect=[5],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + """\
layer { name: "relu" type: "ReLU" bottom: "fc" top: "fc" }
layer { name: "score" type: "InnerProduct" bottom: "fc" top: "score" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "score" bottom: "y" top: "loss" }
""",
        caffe="finite",
    ),
)

_LOSSES = ("SoftmaxWithLoss", "SigmoidCrossEntropyLoss", "HingeLoss")
_EFFECTS = {
    "ReLU": "scores below 0 become 0 and get no gradient",
    "Dropout": "scores of random classes become 0 in training",
}
_WEIGHTED = ("InnerProduct", "Convolution", "Deconvolution")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Weights, then ReLU or Dropout, then a loss on scores; in the phases that are trained."""
    if not ctx.trains or not ctx.by_type(*_LOSSES):
        return
    for net in ctx.phases:
        if net.phase != "TRAIN":
            continue
        places = {id(layer): index for index, layer in enumerate(net.layers)}
        for index, layer in enumerate(net.layers):
            if layer.type not in _LOSSES:
                continue
            between = producer_of(net, index)
            if between is None or between.type not in _EFFECTS:
                continue
            # A leaky ReLU loses nothing.
            if between.type == "ReLU" and between.param("relu_param").get("negative_slope") != 0:
                continue
            source = producer_of(net, places[id(between)])
            if source is None or source.type not in _WEIGHTED:
                continue
            yield Finding(
                f'{between.type} "{between.name}" changes the scores of "{source.name}" before {layer.type}'
                f' "{layer.name}": {_EFFECTS[between.type]}',
                *between.anchor,
                help=f'let the loss read the scores of "{source.name}" directly',
                related=[Related(f'the loss "{layer.name}"', *layer.anchor)],
                layer=between.name,
            )
