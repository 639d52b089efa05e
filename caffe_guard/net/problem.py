"""What Caffe would abort on while it builds a net."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from caffe_guard.diagnostic import Related
    from caffe_guard.net.model import Layer

# kind -> what it is about; every kind belongs to exactly one rule.
KINDS = {
    "mixed-formats": "layers of the old and of the new format in one net",
    "upgrade": "an old net that cannot be upgraded",
    "include-and-exclude": "a layer with include and exclude rules",
    "unknown-layer-type": "a layer type that is not registered",
    "unknown-bottom": "a bottom that no earlier layer makes",
    "duplicate-top": "a top that is made already",
    "bottom-count": "a wrong number of bottoms",
    "top-count": "a wrong number of tops",
    "propagate-down-count": "a wrong number of propagate_down",
    "loss-weight-count": "a wrong number of loss_weight",
    "param-count": "more param entries than learnable blobs",
    "shared-param": "a shared parameter of another shape or with other multipliers",
    "bad-parameter": "a setting that the layer refuses",
    "bad-axis": "an axis that the blob does not have",
    "axes": "a wrong number of axes",
    "kernel-larger-than-input": "a kernel that is larger than its padded input",
    "group": "a group that does not divide the channels",
    "shape-mismatch": "blobs whose shapes do not fit each other",
    "label-count": "a number of labels that differs from the number of predictions",
    "class-count": "a number of classes that does not fit a blob",
    "blob-too-large": "a blob of more than 2^31 - 1 items, or of a negative extent",
    "empty-blob": "a blob without items where one is needed",
    "in-place": "a layer in place that refuses to be",
    "mean-file-size": "a mean of another size than the pictures",
    "crop-size": "a crop larger than the picture",
    "batchnorm-lr-mult": "a BatchNorm whose statistics would be trained",
}


class Problem:
    """One such fault. ``layer`` is None for faults of the net as a whole; ``field`` is the dotted path below it."""

    __slots__ = ("end", "field", "help", "kind", "layer", "message", "related", "start")

    def __init__(
        self,
        kind: str,
        message: str,
        start: int,
        end: int,
        layer: Layer | None = None,
        field: str | None = None,
        help: str | None = None,
        related: Iterable[Related] = (),
    ) -> None:
        assert kind in KINDS, kind
        self.kind = kind
        self.message = message
        self.start = start
        self.end = end
        self.layer = layer
        self.field = field
        self.help = help
        self.related = tuple(related)

    def __repr__(self) -> str:
        return f"Problem({self.kind}, {self.message!r})"


class Abort(Exception):
    """Raised by a layer's set-up where Caffe would abort; carries the Problem."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem
