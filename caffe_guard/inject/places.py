"""Where guards go, and in which form each changes nothing of the training.

A guard in place on a blob is an identity that Caffe runs forward and backward. On the top of a loss that alone is
wrong: the guard's own top has no loss weight, so the loss reaches nothing any more and every gradient becomes 0
(Net::Init, src/caffe/net.cpp). A guard beside it, without tops, keeps the gradients, but the loss that Caffe displays
then counts twice: InsertSplits clears the loss's weight, and LossLayer::LayerSetUp gives it 1 again. So the weight
moves: the loss gets loss_weight 0, and the guard in place behind it the weight that the loss had.
"""

from __future__ import annotations

import fnmatch

from caffe_guard.rules.python_layers._modules import PACK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import LayerType
    from caffe_guard.net.model import Layer, Net
    from caffe_guard.net.shapes import PhaseNet

PYTHON = "Python"


class PlaceError(Exception):
    """A place that does not exist, or where no guard can stand; one line."""


class Place:
    """A guard in place behind a layer, on some of its tops.

    ``weights`` are the loss weights, as written, of those tops when they carry a loss: they move from the layer to the
    guard. They are empty for plain blobs.
    """

    __slots__ = ("layer", "tops", "weights")

    def __init__(self, layer: Layer, tops: list[int], weights: list[str]) -> None:
        self.layer = layer
        self.tops = tops
        self.weights = weights

    @property
    def is_loss(self) -> bool:
        """Whether the guard takes over loss weights."""
        return bool(self.weights)


def choose(
    text: str, net: Net, phases: list[PhaseNet], after: list[str], all_layers: bool, losses: bool, inputs: bool
) -> list[Place]:
    """The places that a command line asks for, in the net's order. Raises PlaceError for a name that is none."""
    entries: dict[int, LayerType | None] = {}
    for built in phases:
        for index, layer in enumerate(built.layers):
            entries.setdefault(layer.index, built.types[index])
    chosen: dict[int, set[int]] = {}
    for name in after:
        for layer, tops in _named(net, name):
            chosen.setdefault(layer.index, set()).update(tops)
    for layer in net.layers:
        if not layer.tops or layer.type == PYTHON or layer.from_input:
            continue
        is_loss = carries_loss(layer, entries.get(layer.index))
        if all_layers or (losses and is_loss) or (inputs and not layer.bottoms):
            chosen.setdefault(layer.index, set()).update(range(len(layer.tops)))
    read = _read_tops(phases)
    places = []
    for index in sorted(chosen):
        layer = net.layers[index]
        places.extend(_places(text, layer, sorted(chosen[index]), entries.get(index), read.get(index, set())))
    return places


def carries_loss(layer: Layer, entry: LayerType | None) -> bool:
    """Whether some top counts as a loss: by a loss_weight, or by the type (an unknown type's name tells)."""
    weights = layer.message.values("loss_weight")
    if weights:
        return any(value.value != 0 for value in weights)
    return entry.is_loss if entry is not None else layer.type.endswith("Loss")


def _places(text: str, layer: Layer, tops: list[int], entry: LayerType | None, read: set[int]) -> list[Place]:
    """One guard for the plain tops of a layer, one for those that carry a loss and that nothing reads."""
    given = layer.message.values("loss_weight")
    lossy = []
    if given:
        lossy = [top for top in tops if top < len(given) and given[top].value != 0]
    elif carries_loss(layer, entry):
        lossy = [top for top in tops if top == 0]
    plain = [top for top in tops if top not in lossy]
    places = []
    if plain:
        places.append(Place(layer, plain, []))
    lossy = [top for top in lossy if top not in read]
    if lossy:
        weights = [text[given[top].start : given[top].end] if given else "1" for top in lossy]
        places.append(Place(layer, lossy, weights))
    return places


def _read_tops(phases: list[PhaseNet]) -> dict[int, set[int]]:
    """By layer, the tops that some layer reads."""
    found: dict[int, set[int]] = {}
    for built in phases:
        for layer, versions in zip(built.layers, built.graph.writes):
            found.setdefault(layer.index, set()).update(version.top for version in versions if version.readers)
    return found


def _named(net: Net, name: str) -> list[tuple[Layer, list[int]]]:
    """What a name or pattern means: layers of that name, else the last writers of a blob of that name."""
    pattern = any(character in name for character in "*?[")
    found = [layer for layer in net.layers if layer.name == name or (pattern and fnmatch.fnmatchcase(layer.name, name))]
    found = [layer for layer in found if not layer.from_input]
    if found:
        with_tops = [(layer, list(range(len(layer.tops)))) for layer in found if layer.tops]
        if not with_tops:
            raise PlaceError(f'"{name}" has no tops: there is nothing behind it to check')
        return [(layer, tops) for layer, tops in with_tops if layer.type != PYTHON or not pattern]
    written: dict[str, list[tuple[Layer, list[int]]]] = {}
    for layer in net.layers:
        if is_guard(layer):
            continue
        for place, top in enumerate(layer.tops):
            blob: str = top.value
            if blob != name and not (pattern and fnmatch.fnmatchcase(blob, name)):
                continue
            # In place: the writer before is not the last one. Layers of two phases write side by side.
            if any(bottom.value == blob for bottom in layer.bottoms):
                written[blob] = []
            written.setdefault(blob, []).append((layer, [place]))
    places = [one for writers in written.values() for one in writers if not one[0].from_input]
    if not places:
        raise PlaceError(f'no layer and no blob is called "{name}"{_nearest(net, name)}')
    return places


def is_guard(layer: Layer) -> bool:
    """Whether a layer is a guard of the pack."""
    return layer.type == PYTHON and layer.param("python_param").get("module") in PACK


def _nearest(net: Net, name: str) -> str:
    import difflib

    known = {layer.name for layer in net.layers} | {top.value for layer in net.layers for top in layer.tops}
    close = difflib.get_close_matches(name, sorted(known), 3)
    if not close:
        return ""
    return "; near it: " + ", ".join(f'"{one}"' for one in close)
