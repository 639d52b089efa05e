"""What a net costs in one state: learnable values, multiply-accumulates of a forward, memory of the blobs.

A figure is None where an extent that it needs is unknown. A learnable blob that layers share by name counts once, with
its owner.
"""

from __future__ import annotations

from caffe_guard.net.layers.entry import count

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent, Shape
    from caffe_guard.net.shapes import PhaseNet

# Caffe computes in float32.
ITEM_BYTES = 4


class LayerCost:
    """The figures of one layer; ``activation_bytes`` are those of its tops and of the Splits behind them."""

    __slots__ = ("activation_bytes", "macs", "params")

    def __init__(self, params: Extent, macs: Extent, activation_bytes: Extent) -> None:
        self.params = params
        self.macs = macs
        self.activation_bytes = activation_bytes


def layer_costs(net: PhaseNet) -> list[LayerCost]:
    """The figures of every layer, in order."""
    owned: set[str] = set()
    return [
        LayerCost(_params(net, index, owned), _macs(net, index), _memory(net, index))
        for index in range(len(net.layers))
    ]


def total(values: list[Extent]) -> Extent:
    """The sum; None when one value is unknown."""
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None


def _params(net: PhaseNet, index: int, owned: set[str]) -> Extent:
    if net.types[index] is None:
        return None
    specs = net.layers[index].message.values("param")
    counts: list[Extent] = []
    for place, shape in enumerate(net.blobs[index]):
        name: str = specs[place].value.get("name") if place < len(specs) else ""
        if name and name in owned:
            continue
        if name:
            owned.add(name)
        counts.append(None if shape is None else count(shape))
    return total(counts)


def _macs(net: PhaseNet, index: int) -> Extent:
    entry = net.types[index]
    if entry is None:
        return None
    if entry.macs is None:
        return 0
    blobs = net.blobs[index]
    return entry.macs(net.bottom_shapes[index], net.top_shapes[index], blobs) if blobs else None


def _memory(net: PhaseNet, index: int) -> Extent:
    """As Net::Init adds up its "Memory required for data": each top, in place or not, and each top of a Split."""
    entry = net.types[index]
    counts: list[Extent] = []
    for version, shape in zip(net.graph.writes[index], net.top_shapes[index]):
        items = _items(shape)
        counts.append(items)
        if version.uses > 1:
            counts.append(None if items is None else items * version.uses)
    if entry is not None and entry.auto_top and not net.layers[index].tops:
        counts.append(1)
    items = total(counts)
    return None if items is None else items * ITEM_BYTES


def _items(shape: Shape) -> Extent:
    return None if shape is None else count(shape)
