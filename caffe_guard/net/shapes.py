"""Builds a net for a phase as Net::Init does (src/caffe/net.cpp): graph, shapes, parameters, who needs backward.

Where Caffe would abort, a Problem is noted, the layer's tops become unknown, and the net is built on.
"""

from __future__ import annotations

from caffe_guard.net.backward import decide_backward
from caffe_guard.net.graph import build_graph
from caffe_guard.net.layers import layer_type
from caffe_guard.net.layers.entry import ABORTS, UNBOUNDED, Setup, count, words
from caffe_guard.net.phase import filter_layers
from caffe_guard.net.problem import Abort, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.graph import Graph, Version
    from caffe_guard.net.layers.entry import LayerType, Shape
    from caffe_guard.net.model import Layer, Net
    from caffe_guard.net.phase import NetState

_MOST_ITEMS = 2**31 - 1
_MOST_AXES = 32


class PhaseNet:
    """A net in one state. The lists go by the layer's place in ``layers``.

    ``types`` are the entries (None for a type caffe-guard does not know), ``bottom_shapes``/``top_shapes`` the shapes
    of the blobs, ``blobs`` those of the learnable blobs, ``need_backward`` whether Caffe runs the layer's backward.
    """

    __slots__ = (
        "blobs",
        "bottom_shapes",
        "graph",
        "layers",
        "need_backward",
        "net",
        "problems",
        "state",
        "top_shapes",
        "types",
    )

    def __init__(self, net: Net, state: NetState, layers: list[Layer], graph: Graph) -> None:
        self.net = net
        self.state = state
        self.layers = layers
        self.graph = graph
        self.types: list[LayerType | None] = []
        self.bottom_shapes: list[list[Shape]] = []
        self.top_shapes: list[list[Shape]] = []
        self.blobs: list[list[Shape]] = []
        self.need_backward: list[bool] = []
        self.problems: list[Problem] = []

    @property
    def phase(self) -> str:
        """``TRAIN`` or ``TEST``."""
        return self.state.phase

    def in_state(self, state: NetState) -> PhaseNet | None:
        """The same net in another state, when that has the same layers: nothing else depends on the state."""
        layers, _ = filter_layers(self.net, state)
        if len(layers) != len(self.layers) or any(one is not other for one, other in zip(layers, self.layers)):
            return None
        other = PhaseNet(self.net, state, layers, self.graph)
        for name in ("blobs", "bottom_shapes", "need_backward", "problems", "top_shapes", "types"):
            setattr(other, name, getattr(self, name))
        return other

    def setup(self, index: int) -> Setup | None:
        """A layer set up anew on its known bottoms, for rules that ask an entry more; None for unknown types."""
        entry = self.types[index]
        if entry is None:
            return None
        return Setup(self.layers[index], entry, self.bottom_shapes[index], (), False)


def infer(
    net: Net, state: NetState, base_dir: str | None = None, data: bool = True, unread: frozenset[int] = frozenset()
) -> PhaseNet:
    """Build a net for a state. ``base_dir`` and its parents are tried for files a net names, if ``data`` says so.

    ``unread`` are the indices of layers of which the schema refused a value: what they make is unknown.
    """
    layers, problems = filter_layers(net, state)
    graph = build_graph(layers)
    built = PhaseNet(net, state, layers, graph)
    built.problems.extend(net.problems)
    built.problems.extend(problems)
    built.problems.extend(graph.problems)
    base_dirs = _parents(base_dir) if base_dir is not None else ()
    shapes: dict[int, Shape] = {}
    written: dict[str, Version] = {}
    owners: dict[str, tuple[Layer, int, Shape]] = {}
    for index, layer in enumerate(layers):
        entry = layer_type(layer.type)
        if entry is not None and entry.param is not None and entry.param not in layer.message.type.fields:
            # A fork's layer in files that are read with the schema of another Caffe: its settings cannot be seen.
            entry = None
        bottoms = [None if version is None else shapes.get(id(version)) for version in graph.reads[index]]
        built.types.append(entry)
        built.bottom_shapes.append(bottoms)
        tops: list[Shape] = [None] * len(layer.tops)
        blobs: list[Shape] = []
        at: Setup | None = None
        try:
            _check_tops(layer, graph, index, written)
            if entry is None:
                _check_type(layer)
            else:
                at = Setup(layer, entry, bottoms, base_dirs, data)
                _check_counts(at)
                known = index not in graph.unknown and layer.index not in unread
                if known:
                    entry.setup(at)
                    _check_sizes(at)
                    _check_in_place(at, graph.reads[index])
                    tops = _as_many(at.tops, tops)
                    blobs = at.blobs
                    _check_loss_weights(at)
                    if layer.type != "Python":
                        _check_params(at, owners)
        except Abort as abort:
            built.problems.append(abort.problem)
            if at is not None:
                tops = _as_many(at.tops, tops)
        for version, shape in zip(graph.writes[index], tops):
            shapes[id(version)] = shape
            written[version.name] = version
        built.top_shapes.append(tops)
        built.blobs.append(blobs)
    built.need_backward = decide_backward(net, graph, built.types, built.blobs)
    return built


def _as_many(tops: list[Shape], unknown: list[Shape]) -> list[Shape]:
    """As many shapes as the layer has tops; a loss may have made one more, an aborted layer fewer."""
    return (tops + unknown)[: len(unknown)]


def _parents(base_dir: str) -> tuple[str, ...]:
    """A folder and those above it."""
    import os

    folders = []
    folder = os.path.abspath(base_dir)
    while True:
        folders.append(folder)
        parent = os.path.dirname(folder)
        if parent == folder:
            return tuple(folders)
        folder = parent


def _check_tops(layer: Layer, graph: Graph, index: int, written: dict[str, Version]) -> None:
    """Net::AppendTop: a name may be written again only in place, at the index of the bottom that it overwrites."""
    own: set[str] = set()
    reads = graph.reads[index]
    for place, top in enumerate(layer.tops):
        name = top.value
        version = written.get(name)
        if name in own:
            raise Abort(
                Problem(
                    "duplicate-top",
                    f'"{layer.name}" makes "{name}" twice: Caffe aborts',
                    top.start,
                    top.end,
                    layer,
                    "top",
                )
            )
        own.add(name)
        if version is None:
            continue
        read = reads[place] if place < len(reads) else None
        if read is version and read.uses <= 1:
            continue
        if read is version:
            others = [reader.name for reader, _ in version.readers if reader is not layer]
            why = f'"{others[0]}" reads the same blob' if others else "the blob carries a loss weight"
            if not others and len(version.readers) > 1:
                why = "it reads the blob twice"
            message = (
                f'"{layer.name}" writes "{name}" in place, but {why}: Caffe puts a Split between, finds the top'
                " made by two layers, and aborts"
            )
            help = f'give the top of "{layer.name}" a name of its own'
        else:
            message = f'"{layer.name}" makes "{name}", which "{version.producer.name}" makes already: Caffe aborts'
            help = "give one of the two another name, or let include rules keep them apart"
        raise Abort(Problem("duplicate-top", message, top.start, top.end, layer, "top", help))


def _check_type(layer: Layer) -> None:
    from caffe_guard.schema.dialects import owners_of_layer_type

    if layer.type and owners_of_layer_type(layer.type):
        return
    value = layer.message.at("type")
    start, end = (value.start, value.end) if value is not None else layer.anchor
    what = f'"{layer.type}" is no layer type of any known Caffe' if layer.type else f'"{layer.name}" has no type'
    raise Abort(Problem("unknown-layer-type", f"{what}: Caffe aborts", start, end, layer, "type"))


def _check_counts(at: Setup) -> None:
    """Net::Init and Layer::CheckBlobCounts."""
    layer, entry = at.layer, at.type
    given = layer.message.fields.get("propagate_down")
    if given and len(given) != len(layer.bottoms):
        at.abort(
            "propagate-down-count",
            f"{len(given)} propagate_down for {len(layer.bottoms)} bottoms; give none, or one a bottom: Caffe aborts",
            value=given[0],
        )
    tops = len(layer.tops)
    if entry.auto_top:
        tops = max(tops, entry.tops[0])
    for what, have, (least, most), values in (
        ("bottom", len(layer.bottoms), entry.bottoms, layer.bottoms),
        ("top", tops, entry.tops, layer.tops),
    ):
        if not least <= have <= most:
            wanted = str(least) if least == most else f"{least} or more" if most == UNBOUNDED else f"{least} to {most}"
            at.abort(
                f"{what}-count",
                f"{entry.name} takes {wanted} {what}{'' if wanted == '1' else 's'}, not {have}: Caffe aborts",
                value=values[most] if have > most else None,
            )
    if entry.equal and len(layer.bottoms) != tops:
        at.abort(
            "top-count",
            f"{entry.name} takes as many tops as bottoms, not {tops} for {len(layer.bottoms)}: Caffe aborts",
        )
    if entry.in_place is ABORTS and layer.bottoms and any(top.value == layer.bottoms[0].value for top in layer.tops):
        at.abort(
            "in-place",
            f"{entry.name} cannot work in place: Caffe aborts",
            value=layer.tops[0],
            help="name the top otherwise",
        )


def _check_sizes(at: Setup) -> None:
    """Blob::Reshape: no extent below 0, no more items than an int counts, 32 axes at most."""
    for index, shape in enumerate((*at.tops, *at.blobs)):
        if shape is None:
            continue
        items = 1
        for extent in shape:
            if extent is not None:
                items *= extent
                if extent < 0:
                    break
        what = f'"{at.layer.tops[index].value}"' if index < len(at.layer.tops) else "a learnable blob"
        if items > _MOST_ITEMS or items < 0 or len(shape) > _MOST_AXES:
            why = "of more than 2147483647 items" if items > _MOST_ITEMS else "of a negative extent"
            if len(shape) > _MOST_AXES:
                why = f"of more than {_MOST_AXES} axes"
            at.abort("blob-too-large", f"{what} would be a blob {why}, {words(shape)}: Caffe aborts")
        if items == 0 and index >= len(at.tops):
            # Filling an empty blob dies on it (Check failed: data_). An empty top may still grow before a forward.
            at.abort("empty-blob", f"{what} would have no items, {words(shape)}: Caffe aborts")


# Their Reshape does nothing: a top that another layer reshapes in place stays as that layer left it.
_NEVER_RESHAPE = ("DummyData", "HDF5Data", "Input", "Parameter")


def _check_in_place(at: Setup, reads: list[Version | None]) -> None:
    """A layer that changes the shape of its own bottom, which comes from a layer that does not shape it anew.

    Every forward reshapes, and the layer takes its own top for its input. Some layers then refuse it (InnerProduct:
    "Input size incompatible"). Others grind on in memory that is not theirs.
    """
    changed = -1
    for top, shape in zip(at.layer.tops, at.tops):
        for index, bottom in enumerate(at.layer.bottoms):
            if bottom.value == top.value and shape is not None and at.bottoms[index] != shape:
                changed = index
                later = list(at.bottoms)
                later[index] = shape
    if changed < 0 or None in (at.bottoms[changed] or (None,)):
        return
    version = reads[changed]
    if version is None or version.producer.type not in _NEVER_RESHAPE:
        return
    again = Setup(at.layer, at.type, later, at.base_dirs, at.data)
    try:
        at.type.setup(again)
        dies = again.blobs != at.blobs
    except Abort:
        dies = True
    if dies:
        at.abort(
            "in-place",
            f"{at.type.name} works in place on {at.bottom_name(changed)} and makes {words(later[changed])} of its"
            f" {words(at.bottoms[changed])}: the next forward takes that for its input, and Caffe aborts",
            value=next(top for top in at.layer.tops if top.value == at.layer.bottoms[changed].value),
            help="name the top otherwise",
        )


def _check_loss_weights(at: Setup) -> None:
    """Layer::SetLossWeights: none, or one a top (a loss counts its automatic top)."""
    given = at.layer.message.fields.get("loss_weight")
    if given:
        tops = max(len(at.layer.tops), at.type.tops[0] if at.type.auto_top else 0)
        if len(given) != tops:
            at.abort(
                "loss-weight-count",
                f"{len(given)} loss_weight for {tops} {'top' if tops == 1 else 'tops'}; give none, or"
                " one a top: Caffe aborts",
                value=given[0],
            )


def _check_params(at: Setup, owners: dict[str, tuple[Layer, int, Shape]]) -> None:
    """Net::Init and Net::AppendParam: no more param entries than blobs; shared blobs of one shape."""
    given = at.layer.message.fields.get("param")
    if not given:
        return
    # The blobs of a fork's layer are only roughly known; BVLC's are.
    if len(given) > len(at.blobs) and at.layer.type not in ("BN", "Normalize"):
        at.abort(
            "param-count",
            f"{len(given)} param for {len(at.blobs)} learnable"
            f" {'blob' if len(at.blobs) == 1 else 'blobs'}: Caffe aborts",
            value=given[len(at.blobs)],
        )
    for index, value in enumerate(given[: len(at.blobs)]):
        name = value.value.get("name")
        if not name:
            continue
        shape = at.blobs[index]
        owner = owners.get(name)
        if owner is None:
            owners[name] = (at.layer, index, shape)
            continue
        other_layer, _, other = owner
        if shape is None or other is None:
            continue
        if value.value.get("share_mode") == "PERMISSIVE":
            one, two = count(shape), count(other)
            fits = one is None or two is None or one == two
        else:
            fits = len(shape) == len(other) and all(a is None or b is None or a == b for a, b in zip(shape, other))
        if not fits:
            at.abort(
                "shared-param",
                f'the parameter "{name}" is {words(other)} in "{other_layer.name}" and {words(shape)} here; shared'
                " parameters must fit: Caffe aborts",
                value=value,
            )
