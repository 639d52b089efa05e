"""An Accuracy layer measures scores that no loss trains.

What happens
    The loss moves the scores it reads and what lies before them. An Accuracy layer on other scores, an old head or a
    layer with a similar name, shows a number that training does not move towards anything.

How to fix
    Let Accuracy read the blob of scores that the loss reads.

When it is fine
    Where a head is measured that was trained before and is loaded.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.net._scores import producer_of
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG229"
NAME = "accuracy-on-other-scores"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_FC = 'layer {{ name: "{0}" type: "InnerProduct" bottom: "x" top: "{0}" inner_product_param {{ num_output: 3 weight_filler {{ type: "xavier" }} }} }}\n'
_NET = (
    'layer { name: "data" type: "DummyData" top: "x" top: "l" dummy_data_param { shape { dim: 4 dim: 5 } shape { dim: 4 } } }\n'
    + _FC.format("old")
    + _FC.format("new")
    + 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "new" bottom: "l" top: "loss" }\n'
)
BAD = (
    Example(
        _NET + 'layer { name: "acc" type: "Accuracy" bottom: "old" bottom: "l" top: "acc" }\n',
        expect=[5],
        caffe="finite",
    ),
)
GOOD = (
    Example(_NET + 'layer { name: "acc" type: "Accuracy" bottom: "new" bottom: "l" top: "acc" }\n', caffe="finite"),
    Example(
        _NET
        + 'layer { name: "prob" type: "Softmax" bottom: "new" top: "prob" }\n'
        + 'layer { name: "acc" type: "Accuracy" bottom: "prob" bottom: "l" top: "acc" }\n',
        caffe="finite",
    ),
)
# The largest stays the largest.
_KEEPS_ORDER = ("Softmax", "Sigmoid", "Power", "Dropout")
_WEIGHTED = ("InnerProduct", "Convolution", "Deconvolution")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Accuracy layers whose scores come from a layer with weights that is the source of no loss, in any phase."""
    if not ctx.by_type("Accuracy"):
        return
    trained: set[str] = set()
    for net in ctx.phases:
        for index, entry in enumerate(net.types):
            if entry is None:
                return  # may be a loss
            if entry.is_loss:
                for bottom in range(len(net.layers[index].bottoms)):
                    source = _source(net, index, bottom)
                    if source is not None:
                        trained.add(source.name)
    if not trained:
        return
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            source = _source(net, index, 0) if layer.type == "Accuracy" else None
            if source is None or source.type not in _WEIGHTED or source.name in trained:
                continue
            yield Finding(
                f'{layer.name} measures the scores of "{source.name}", which no loss reads',
                layer.bottoms[0].name_start,
                layer.bottoms[0].end,
                help="let it read the scores that the loss reads",
                layer=layer.name,
                field="bottom",
            )


def _source(net: PhaseNet, index: int, bottom: int) -> Layer | None:
    """Where scores come from, seen through layers that leave the largest the largest."""
    source = producer_of(net, index, bottom)
    for _ in range(len(net.layers)):
        if source is None or source.type not in _KEEPS_ORDER or not source.bottoms:
            return source
        place = next(place for place, layer in enumerate(net.layers) if layer is source)
        source = producer_of(net, place)
    return source
