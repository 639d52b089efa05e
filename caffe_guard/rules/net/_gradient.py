"""Which layers would get a gradient if every top led to a loss: what learning rates and propagation leave."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.shapes import PhaseNet


def learns(net: PhaseNet, index: int) -> bool:
    """Whether a layer has a learnable blob that training may change: one whose lr_mult is not 0 (default 1)."""
    layer = net.layers[index]
    specs = layer.message.fields.get("param", ())
    blobs = len(net.blobs[index])
    if blobs == 0 and net.types[index] is None:
        blobs = len(specs)
    return any(place >= len(specs) or specs[place].value.get("lr_mult") != 0 for place in range(blobs))


def carries_gradient(net: PhaseNet) -> list[bool]:
    """Per layer, whether it or a layer before it learns: Net::Init's forward pass (src/caffe/net.cpp)."""
    carries: list[bool] = []
    for index in range(len(net.layers)):
        below = any(
            # A layer that reads its own top has been told as an unknown bottom.
            version is not None and version.index < index and carries[version.index]
            for version in net.graph.reads[index]
        )
        carries.append(below or learns(net, index))
    return carries


def has_weight(net: PhaseNet, index: int) -> bool:
    """Whether some top of a layer counts as a loss: an explicit weight that is not 0, or the type's own.

    A layer of a type that caffe-guard does not know counts when its name says that it is a loss.
    """
    weights = net.layers[index].message.fields.get("loss_weight")
    if weights:
        return any(weight.value != 0 for weight in weights)
    entry = net.types[index]
    return entry.is_loss if entry is not None else "Loss" in net.layers[index].type
