"""Which blobs of a built net can be negative or exactly 0, as far as the layer that makes them tells.

A blob is ``ANY`` (both signs), ``ZERO`` (0 or more, with exact zeros), or not known. What is known of a blob goes
through layers that only pick, order or scale down its items.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet

ANY = "any"
ZERO = "zero"

_ANY_SIGN = ("Convolution", "Deconvolution", "InnerProduct", "TanH", "BatchNorm", "MVN", "ELU", "PReLU", "LSTM", "RNN")
_ZERO_OR_MORE = ("ReLU6", "Threshold", "CReLU")
_KEEPING = ("Pooling", "Flatten", "Reshape", "Slice", "Crop", "Tile", "Split", "Permute", "LRN", "SPP")


def signs(net: PhaseNet) -> list[tuple[str, Layer] | None]:
    """For each layer of a phase what its first bottom can be, and the layer that makes it so; None where not known."""
    known: dict[int, tuple[str, Layer]] = {}
    bottoms: list[tuple[str, Layer] | None] = []
    for index, layer in enumerate(net.layers):
        reads = [known.get(id(version)) if version is not None else None for version in net.graph.reads[index]]
        first = reads[0] if reads else None
        bottoms.append(first)
        made = _made(layer, reads, net.phase)
        if made is not None:
            for version in net.graph.writes[index]:
                known[id(version)] = made
    return bottoms


def _made(layer: Layer, reads: list[tuple[str, Layer] | None], phase: str) -> tuple[str, Layer] | None:
    first = reads[0] if reads else None
    kind = layer.type
    if kind in _ANY_SIGN:
        return (ANY, layer)
    if kind in _ZERO_OR_MORE:
        return (ZERO, layer)
    if kind == "ReLU":
        slope = layer.param("relu_param").get("negative_slope")
        return (ZERO, layer) if slope == 0 else (ANY, layer) if slope > 0 else None
    if kind in _KEEPING:
        return first
    if kind == "AbsVal":
        return first if first is not None and first[0] == ZERO else None
    if kind == "Dropout":
        # What is dropped is 0; what stays keeps its sign.
        return first if first is not None or phase != "TRAIN" else None
    if kind == "Scale":
        return first if first is not None and first[0] == ANY else None
    if kind == "Concat":
        return next((one for one in reads if one is not None and one[0] == ANY), None) or next(
            (one for one in reads if one is not None), None
        )
    if kind == "Eltwise":
        return _eltwise(layer, reads)
    return None


def _eltwise(layer: Layer, reads: list[tuple[str, Layer] | None]) -> tuple[str, Layer] | None:
    param = layer.param("eltwise_param")
    if param.get("operation") == "SUM":
        if any(coefficient < 0 for coefficient in param.get("coeff")):
            return (ANY, layer)
        found = next((one for one in reads if one is not None and one[0] == ANY), None)
    else:
        found = None
    if found is None and reads and all(one is not None and one[0] == ZERO for one in reads):
        found = reads[0]
    return found
