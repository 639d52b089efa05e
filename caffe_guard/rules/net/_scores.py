"""Where the scores that a loss reads come from."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet

# What hands on the values as they are, in another shape or order.
_CARRIERS = ("Reshape", "Flatten", "Split", "Permute")


def producer_of(net: PhaseNet, index: int, bottom: int = 0) -> Layer | None:
    """The layer that computes a bottom's values, looked for through layers that only rearrange them."""
    while bottom < len(net.graph.reads[index]):
        version = net.graph.reads[index][bottom]
        if version is None:
            return None
        if version.producer.type not in _CARRIERS or version.index >= index:
            return version.producer
        index, bottom = version.index, 0
    return None
