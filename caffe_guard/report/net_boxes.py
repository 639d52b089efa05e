"""A net as boxes and lines, for pictures: a box a layer, the layers that work in place on its top stacked below it."""

from __future__ import annotations

from caffe_guard.net.layers.entry import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.diagnostic import Diagnostic
    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet


class Box:
    """A layer and those that work in place behind it.

    ``layers`` are indices into the net's layers, ``inputs`` the boxes it reads from with the words of each line (the
    blob's shape), ``shape`` what it makes, ``kind`` a family for colours, ``backward`` whether some of its layers have
    one, ``severity`` that of its worst finding.
    """

    __slots__ = ("backward", "inputs", "kind", "layers", "lines", "messages", "number", "severity", "shape")

    def __init__(self, number: int, layer: int) -> None:
        self.number = number
        self.layers = [layer]
        self.inputs: list[tuple[Box, str]] = []
        self.lines: list[str] = []
        self.kind = "other"
        self.shape = ""
        self.backward = False
        self.severity: str | None = None
        self.messages: list[str] = []


_KINDS = {
    "data": ("Data", "ImageData", "HDF5Data", "MemoryData", "DummyData", "WindowData", "Input", "AnnotatedData"),
    "weights": ("Convolution", "Deconvolution", "InnerProduct", "Embed", "LSTM", "RNN", "DepthwiseConvolution"),
    "pooling": ("Pooling", "SPP", "ROIPooling", "PSROIPooling"),
    "joint": ("Concat", "Eltwise", "Slice", "Split", "Crop"),
    "norm": ("BatchNorm", "LRN", "MVN", "Scale", "Bias", "BN", "Normalize"),
    "score": ("Accuracy", "ArgMax", "Softmax", "Silence"),
}
_KIND_OF = {name: kind for kind, names in _KINDS.items() for name in names}


def kind_of(layer_type: str) -> str:
    """The family of a layer type."""
    if layer_type in _KIND_OF:
        return _KIND_OF[layer_type]
    return "loss" if layer_type.endswith("Loss") else "other"


def boxes(net: PhaseNet, diagnostics: list[Diagnostic]) -> list[Box]:
    """The boxes of a net, in the order of its layers."""
    made: list[Box] = []
    box_of: list[Box] = []
    for index, layer in enumerate(net.layers):
        below = _in_place_below(net, index, layer)
        if below is not None:
            box = box_of[below]
            box.layers.append(index)
        else:
            box = Box(len(made), index)
            box.kind = kind_of(layer.type)
            made.append(box)
        box_of.append(box)
        box.backward = box.backward or net.need_backward[index]
        box.lines.append(f"{layer.name} · {layer.type}" if layer.name != layer.type else layer.name)
        for place, version in enumerate(net.graph.reads[index]):
            if version is not None and version.index < index and box_of[version.index] is not box:
                box.inputs.append((box_of[version.index], words(net.bottom_shapes[index][place])))
        if net.top_shapes[index]:
            box.shape = words(net.top_shapes[index][0])
    _mark(net, box_of, diagnostics)
    return made


def _in_place_below(net: PhaseNet, index: int, layer: Layer) -> int | None:
    """The layer on whose top this one works in place, when nothing else reads or makes anything in between."""
    reads, tops = net.graph.reads[index], layer.tops
    if len(reads) != 1 or len(tops) != 1 or reads[0] is None or reads[0].index >= index:
        return None
    version = reads[0]
    if tops[0].value != layer.bottoms[0].value or len(version.readers) != 1 or len(net.layers[version.index].tops) != 1:
        return None
    return version.index


_ORDER = ("info", "warning", "error")


def _mark(net: PhaseNet, box_of: list[Box], diagnostics: list[Diagnostic]) -> None:
    by_name: dict[str, Box] = {}
    for layer, box in zip(net.layers, box_of):
        by_name.setdefault(layer.name, box)
    for diagnostic in diagnostics:
        found = by_name.get(diagnostic.finding.layer or "")
        if found is None:
            continue
        label = diagnostic.severity.label
        found.messages.append(f"{label} {diagnostic.code}: {diagnostic.finding.message}")
        if found.severity is None or _ORDER.index(label) > _ORDER.index(found.severity):
            found.severity = label
