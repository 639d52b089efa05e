"""A loss_weight stands where it does not do what its name says.

What happens
    Caffe's loss is the sum of every top times its loss_weight. On a loss layer's single number that is a weight. On any
    other top all items are added up, over the batch too, and made as small as possible: Caffe does not ask whether that
    makes sense. A negative weight on a loss makes training increase it. A weight of 0 switches a loss off; its value is
    still displayed, now without a weight beside it. A NaN weight makes every gradient NaN. Accuracy, ArgMax and Threshold
    have no gradient at all: a weight on them makes the first backward abort ("Not Implemented Yet").

How to fix
    Write loss_weight in the loss layer. To minimise another blob on purpose, reduce it to one number first, with a Reduction
    layer (operation: MEAN) whose top carries the weight.

When it is fine
    Penalties made of Reduction, Power or Python layers are read as what they are and not told of. A loss that is switched
    off to watch it only is an info, told once a file.

Source
    Layer::SetLossWeights, include/caffe/layer.hpp; Net::Init, src/caffe/net.cpp; accuracy_layer.hpp.
"""

from __future__ import annotations

import math

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.net.layers.entry import count, words
from caffe_guard.rules.net._gradient import has_weight
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.layers.entry import LayerType
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext
    from caffe_guard.schema.message import Value

CODE = "CG310"
NAME = "loss-weight-misplaced"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
"""
_FC = 'layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }\n'
_LOSS = 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }\n'
BAD = (
    Example(
        _HEAD
        + """\
layer {
  name: "fc"
  type: "InnerProduct"
  bottom: "x"
  top: "fc"
  loss_weight: 1
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } }
}
"""
        + _LOSS,
        expect=[8],
        caffe="finite",
    ),
    Example(
        _HEAD
        + _FC
        + _LOSS
        + 'layer {\n  name: "acc"\n  type: "Accuracy"\n  bottom: "fc"\n  bottom: "y"\n  loss_weight: 1\n  top: "acc"\n}\n',
        expect=[(10, "error")],
        caffe="aborts",
    ),
    Example(
        _HEAD
        + _FC
        + 'layer {\n  name: "loss"\n  type: "SoftmaxWithLoss"\n  bottom: "fc"\n  bottom: "y"\n  loss_weight: -1\n}\n',
        expect=[9],
        caffe="finite",
    ),
    Example(
        _HEAD
        + _FC
        + 'layer {\n  name: "loss"\n  type: "SoftmaxWithLoss"\n  bottom: "fc"\n  bottom: "y"\n  loss_weight: nan\n}\n',
        expect=[(9, "error")],
        caffe="nan",
    ),
    Example(
        _HEAD
        + _FC
        + _LOSS
        + 'layer { name: "h" type: "HingeLoss" bottom: "fc" bottom: "y" top: "h" loss_weight: 0 }\n'
        + 'layer { name: "h2" type: "HingeLoss" bottom: "fc" bottom: "y" top: "h2" loss_weight: 0 }\n',
        expect=[(5, "info")],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + _FC
        + """\
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" loss_weight: 0.5 }
layer { name: "mean" type: "Reduction" bottom: "fc" top: "mean" loss_weight: -0.1 reduction_param { operation: MEAN } }
layer { name: "acc" type: "Accuracy" bottom: "fc" bottom: "y" top: "acc" loss_weight: 0 }
""",
        caffe="finite",
    ),
)
# What people make penalties of; the weight stands there on purpose.
_PENALTIES = ("Reduction", "Power", "Eltwise", "AbsVal", "Exp", "Log", "Scale", "Bias", "Python", "Slice", "Concat")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Explicit loss weights in the TRAIN phase, layer by layer."""
    if not any(layer.message.has("loss_weight") for layer in ctx.layers):
        return
    for net in ctx.phases:
        if net.phase != "TRAIN":
            continue
        off: list[tuple[str, Value]] = []
        for index, layer in enumerate(net.layers):
            entry = net.types[index]
            weights = layer.message.values("loss_weight")
            if entry is None or not weights:
                continue
            for place, value in enumerate(weights[: max(1, len(layer.tops))]):
                if value.value == 0:
                    if entry.is_loss and place == 0:
                        off.append((layer.name, value))
                else:
                    finding = _weighted(net, index, entry, place, value)
                    if finding is not None:
                        yield finding
        if off and any(has_weight(net, index) for index in range(len(net.layers))):
            yield _switched_off(off)


def _weighted(net: PhaseNet, index: int, entry: LayerType, place: int, value: Value) -> Finding | None:
    layer = net.layers[index]
    weight: float = value.value
    top = f'"{layer.tops[place].value}"' if place < len(layer.tops) else f"the top of {layer.name}"
    severity = None
    related: list[Related] = []
    if not math.isfinite(weight):
        severity = Severity.ERROR if net.need_backward[index] else Severity.WARNING
        message = f"the loss_weight of {top} is {weight:g}: the loss and every gradient below it become NaN"
        advice = "write a number"
    elif not entry.is_loss and 0 in entry.no_gradient and net.need_backward[index] and not net.blobs[index]:
        severity = Severity.ERROR
        message = f"{entry.name} has no gradient, and a loss_weight of {weight:g} asks for one: Caffe aborts at the first backward"
        advice = "remove the loss_weight"
    elif entry.is_loss:
        if weight > 0 or place > 0:
            return None
        message = f"the loss_weight of {layer.name} is {weight:g}: training makes this loss larger, not smaller"
        advice = "write it without the minus, unless this is meant"
    elif entry.name in _PENALTIES or not net.need_backward[index]:
        return None
    else:
        shape = net.top_shapes[index][place] if place < len(layer.tops) else None
        items = count(shape) if shape is not None else None
        if items == 1:
            return None
        readers = net.graph.writes[index][place].readers if place < len(net.graph.writes[index]) else []
        # The output of a chain that nothing reads may be a loss of the user's own.
        severity = None if readers else Severity.INFO
        related = [Related(f'"{readers[0][0].name}" reads it', *readers[0][0].anchor)] if readers else []
        size = f" ({words(shape)})" if items is not None else ""
        message = (
            f"{entry.name} is no loss: with loss_weight {weight:g} the sum of all items of {top}{size} is part of the loss,"
            f" and training pushes them {'down' if weight > 0 else 'up'} without end"
        )
        advice = "move loss_weight to the loss layer, or reduce the blob to one number with a Reduction layer"
    return Finding(
        message,
        value.name_start,
        value.end,
        help=advice,
        related=related,
        layer=layer.name,
        field="loss_weight",
        severity=severity,
    )


def _switched_off(off: list[tuple[str, Value]]) -> Finding:
    name, value = off[0]
    more = f" (and {len(off) - 1} more)" if len(off) > 1 else ""
    return Finding(
        f"loss_weight 0 switches {name} off{more}: its value is displayed, and nothing learns from it",
        value.name_start,
        value.end,
        help="remove loss_weight for a weight of 1, or leave it if the loss is only to be watched",
        layer=name,
        field="loss_weight",
        severity=Severity.INFO,
        others=[(one.name_start, one.end) for _, one in off[1:]],
    )
