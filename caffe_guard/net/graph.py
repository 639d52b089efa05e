"""The net as a chain of steps: Caffe's InsertSplits (src/caffe/util/insert_splits.cpp) on the layers of a phase.

A blob name stands for a new *version* each time a layer writes it, in place or not. A version that is read more than
once, or read once and carries a loss weight, gets a Split layer of Caffe's own behind its producer; its readers then
read the Split's tops, which have names of their own.
"""

from __future__ import annotations

import bisect

from caffe_guard.net.problem import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.model import Layer
    from caffe_guard.schema.message import Value


class Step:
    """A layer, or a Split that Caffe inserts (``layer`` is None), with the blob names Caffe gives it.

    ``loss_weights`` are the explicit weights that are left after InsertSplits moved them.
    """

    __slots__ = ("bottoms", "layer", "loss_weights", "name", "tops")

    def __init__(
        self, layer: Layer | None, name: str, bottoms: list[str], tops: list[str], loss_weights: list[float]
    ) -> None:
        self.layer = layer
        self.name = name
        self.bottoms = bottoms
        self.tops = tops
        self.loss_weights = loss_weights


class Version:
    """One writing of a blob: who wrote it (the layer and its index), as which top, and who reads it (layer, bottom)."""

    __slots__ = ("index", "loss_weight", "name", "producer", "readers", "top")

    def __init__(self, name: str, producer: Layer, index: int, top: int) -> None:
        self.name = name
        self.producer = producer
        self.index = index
        self.top = top
        self.readers: list[tuple[Layer, int]] = []
        self.loss_weight = 0.0

    @property
    def uses(self) -> int:
        """How many uses Caffe counts: readers, and the loss weight."""
        return len(self.readers) + (1 if self.loss_weight else 0)


class Graph:
    """Versions by producer, what each layer reads, the steps, and the bottoms that nobody makes."""

    __slots__ = ("problems", "reads", "steps", "unknown", "versions", "writes")

    def __init__(self) -> None:
        self.versions: list[Version] = []
        # per layer in order: the version of each bottom (None when unknown) and of each top
        self.reads: list[list[Version | None]] = []
        self.writes: list[list[Version]] = []
        self.steps: list[Step] = []
        self.problems: list[Problem] = []
        self.unknown: set[int] = set()

    def dead(self) -> list[Version]:
        """The versions that nothing reads and that carry no loss: Caffe prints them as outputs of the net."""
        return [version for version in self.versions if not version.readers]


def build_graph(layers: list[Layer]) -> Graph:
    """The graph of the layers that a phase has, in file order."""
    graph = Graph()
    current: dict[str, Version] = {}
    makers: _Makers | None = None
    for index, layer in enumerate(layers):
        reads: list[Version | None] = []
        for place, bottom in enumerate(layer.bottoms):
            version = current.get(bottom.value)
            reads.append(version)
            if version is None:
                graph.unknown.add(index)
                makers = makers or _Makers(layers)
                graph.problems.append(makers.unknown_bottom(index, bottom))
            else:
                version.readers.append((layer, place))
        graph.reads.append(reads)
        writes = []
        for place, top in enumerate(layer.tops):
            version = Version(top.value, layer, index, place)
            current[top.value] = version
            graph.versions.append(version)
            writes.append(version)
        weights = layer.message.fields.get("loss_weight")
        if weights:
            for top, weight in zip(layer.tops, weights):
                current[top.value].loss_weight = weight.value
        graph.writes.append(writes)
    _insert_splits(graph, layers)
    return graph


def split_name(blob: str, layer_name: str, top: int) -> str:
    """The name of the Split behind a top (SplitLayerName)."""
    return f"{blob}_{layer_name}_{top}_split"


def _insert_splits(graph: Graph, layers: list[Layer]) -> None:
    taken: dict[int, int] = {}
    for layer, reads, writes in zip(layers, graph.reads, graph.writes):
        bottoms = []
        for value, version in zip(layer.bottoms, reads):
            name: str = value.value
            if version is not None and version.uses > 1:
                number = taken.get(id(version), 1 if version.loss_weight else 0)
                taken[id(version)] = number + 1
                name = f"{split_name(name, version.producer.name, version.top)}_{number}"
            bottoms.append(name)
        weight_values = layer.message.fields.get("loss_weight")
        weights: list[float] = [weight.value for weight in weight_values] if weight_values else []
        step = Step(layer, layer.name, bottoms, [top.value for top in layer.tops], weights)
        graph.steps.append(step)
        for version in writes:
            if version.uses > 1:
                name = split_name(version.name, layer.name, version.top)
                tops = [f"{name}_{number}" for number in range(version.uses)]
                split_weights = [version.loss_weight, *([0.0] * (len(tops) - 1))] if version.loss_weight else []
                if version.loss_weight:
                    step.loss_weights = []
                graph.steps.append(Step(None, name, [version.name], tops, split_weights))


class _Makers:
    """Which layers make a blob, looked up when a bottom is unknown: in what words, and what name is near."""

    # Near names are searched for this often in one net: the search looks at every blob.
    _MOST_HINTS = 20

    def __init__(self, layers: list[Layer]) -> None:
        self._layers = layers
        self._by_name: dict[str, list[int]] = {}
        self._hints = 0
        for index, layer in enumerate(layers):
            for top in layer.tops:
                self._by_name.setdefault(top.value, []).append(index)

    def unknown_bottom(self, index: int, bottom: Value) -> Problem:
        """In words: is it made later, or not at all; and what name is near."""
        layer = self._layers[index]
        name = bottom.value
        makers = self._by_name.get(name, [])
        later = bisect.bisect_left(makers, index)
        if later < len(makers):
            where = (
                "itself" if makers[later] == index else f'"{self._layers[makers[later]].name}", which comes after it'
            )
            message = (
                f'"{layer.name}" reads "{name}", which is made only by {where}; Caffe goes through the file once, in'
                " order, and aborts"
            )
            help: str | None = "move the layer that makes it before this one"
        else:
            message = f'"{layer.name}" reads "{name}", which no layer before it makes: Caffe aborts'
            help = None
            self._hints += 1
            if self._hints <= self._MOST_HINTS:
                help = _near(name, {known for known, made in self._by_name.items() if made[0] < index})
        return Problem("unknown-bottom", message, bottom.start, bottom.end, layer, "bottom", help)


def _near(name: str, known: set[str]) -> str | None:
    import difflib

    close = difflib.get_close_matches(name, sorted(known), 1)
    return f'did you mean "{close[0]}"?' if close else None
