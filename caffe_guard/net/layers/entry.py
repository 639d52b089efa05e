"""The form of a layer type's entry, and what a set-up function is given.

A shape is a tuple with an extent an axis, slowest first; an extent that is not known is None, and a shape whose number
of axes is not known is None itself. What is unknown stays unknown and never leads to an abort.
"""

from __future__ import annotations

from caffe_guard.net.problem import Abort, Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import NoReturn, Optional

    from caffe_guard.diagnostic import Related
    from caffe_guard.net.model import Layer
    from caffe_guard.schema.message import Message, Value

    Extent = Optional[int]
    Shape = Optional[tuple[Extent, ...]]

# What happens when a layer's top is its bottom (checked by running real Caffe).
FINE = "fine"  # supported
WRONG_GRADIENT = "wrong gradient"  # forward works, backward reads what was overwritten
WRONG = "wrong"  # forward is wrong too
ABORTS = "aborts"  # Caffe checks it

UNBOUNDED = 1 << 30


class LayerType:
    """A layer type: what Caffe's class declares, and how it sets up its tops and learnable blobs.

    ``bottoms`` and ``tops`` are (fewest, most); ``equal`` that both counts must match; ``auto_top`` that missing tops
    are made without a name. ``loss_weight`` is the default weight of top 0. ``param`` names the settings message.
    ``in_place`` is one of the words above. ``no_force`` are the bottoms that force_backward does not reach,
    ``no_gradient`` those whose gradient, if asked for, makes Caffe abort. ``hides_nan`` tells that a NaN in the bottom
    need not show in the top. ``setup`` fills in ``tops`` and ``blobs``. ``macs`` gives the multiply-accumulates of one
    forward from the shapes of bottoms, tops and learnable blobs; without it they are not counted (element-wise work).
    """

    __slots__ = (
        "auto_top",
        "bottoms",
        "data",
        "equal",
        "hides_nan",
        "in_place",
        "loss_weight",
        "macs",
        "name",
        "no_force",
        "no_gradient",
        "param",
        "setup",
        "tops",
    )

    def __init__(
        self,
        name: str,
        setup: Callable[[Setup], None],
        bottoms: tuple[int, int] = (1, 1),
        tops: tuple[int, int] = (1, 1),
        param: str | None = None,
        equal: bool = False,
        auto_top: bool = False,
        loss_weight: float = 0.0,
        in_place: str = WRONG,
        no_force: tuple[int, ...] = (),
        no_gradient: tuple[int, ...] = (),
        data: bool = False,
        hides_nan: bool = False,
        macs: Callable[[list[Shape], list[Shape], list[Shape]], Extent] | None = None,
    ) -> None:
        self.macs = macs
        self.name = name
        self.setup = setup
        self.bottoms = bottoms
        self.tops = tops
        self.param = param
        self.equal = equal
        self.auto_top = auto_top
        self.loss_weight = loss_weight
        self.in_place = in_place
        self.no_force = no_force
        self.no_gradient = no_gradient
        self.data = data
        self.hides_nan = hides_nan

    @property
    def is_loss(self) -> bool:
        """Whether the type is a loss by itself."""
        return self.loss_weight != 0


class Setup:
    """One layer being set up: its bottoms' shapes in, its tops' and learnable blobs' shapes out.

    ``base_dirs`` are folders in which relative paths are tried, ``data`` whether files may be looked at. No layer of
    Caffe's has other shapes in TEST than in TRAIN: the phase is not known here, and phases of the same layers are built
    once.
    """

    __slots__ = ("base_dirs", "blobs", "bottoms", "data", "layer", "param", "tops", "type")

    def __init__(
        self, layer: Layer, type: LayerType, bottoms: list[Shape], base_dirs: tuple[str, ...], data: bool
    ) -> None:
        self.layer = layer
        self.type = type
        self.bottoms = bottoms
        self.base_dirs = base_dirs
        self.data = data
        self.param: Message = layer.param(type.param) if type.param is not None else layer.message
        self.tops: list[Shape] = [None] * len(layer.tops)
        self.blobs: list[Shape] = []

    def set_tops(self, shape: Shape) -> None:
        """Give every top the same shape."""
        self.tops = [shape] * max(1, len(self.layer.tops))

    def bottom_name(self, index: int) -> str:
        """The name of a bottom, for messages."""
        return f'"{self.layer.bottoms[index].value}"' if index < len(self.layer.bottoms) else "its bottom"

    def abort(
        self,
        kind: str,
        message: str,
        field: str | None = None,
        value: Value | None = None,
        help: str | None = None,
        related: Iterable[Related] = (),
    ) -> NoReturn:
        """Caffe aborts here. The place is ``value``, else the settings' ``field``, else the layer's anchor."""
        if value is None and field is not None:
            value = self.param.at(field)
        start, end = (value.name_start, value.end) if value is not None else self.layer.anchor
        path = field
        if field is not None and "." not in field and self.type.param is not None:
            path = f"{self.type.param}.{field}"
        raise Abort(Problem(kind, message, start, end, self.layer, path, help, related))

    def axis(self, field: str, axes: int, bottom: int = 0) -> int:
        """A settings field that names an axis, counted from the end when negative (Blob::CanonicalAxisIndex)."""
        axis: int = self.param.get(field)
        if not -axes <= axis < axes:
            self.abort(
                "bad-axis",
                f"{field} {axis} is no axis of {self.bottom_name(bottom)}, which has {axes} axes: Caffe aborts",
                field,
            )
        return axis + axes if axis < 0 else axis


def count(shape: Iterable[Extent]) -> Extent:
    """The number of items; None when an extent is unknown. A 0 settles it whatever else is unknown."""
    total = 1
    unknown = False
    for extent in shape:
        if extent is None:
            unknown = True
        else:
            total *= extent
    return None if unknown and total != 0 else total


def int32(value: int) -> int:
    """A value as Caffe's int holds it: settings are unsigned in the schema, and wrap from 2147483648 on."""
    return value if -(2**31) <= value < 2**31 else (value + 2**31) % 2**32 - 2**31


def product(*counts: Extent) -> Extent:
    """The product of counts; None when one is unknown."""
    return count(counts)


def differ(one: Extent, other: Extent) -> bool:
    """Whether two extents are known and unequal."""
    return one is not None and other is not None and one != other


def words(shape: Shape) -> str:
    """A shape as messages show it: ``64×3×224×224``, ``?`` for what is unknown, ``scalar`` for no axes."""
    if shape is None:
        return "an unknown shape"
    if not shape:
        return "a scalar"
    return "×".join("?" if extent is None else str(extent) for extent in shape)


def same_as_bottom(at: Setup) -> None:
    """Every top has the shape of bottom 0."""
    at.set_tops(at.bottoms[0])
