"""The words every part shares: what a rule finds, where it is, and how it could be mended.

All places are offsets (start, end) into the decoded text of a file, half-open, counted in characters.
Lines and columns are computed by the reports. Plain classes with ``__slots__`` are used on purpose: importing
``dataclasses`` costs more than linting a small net.
"""

from __future__ import annotations

import enum

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from caffe_guard.source import Source


class Severity(enum.IntEnum):
    """How sure and how bad: an error is proven, a warning is a known hazard, an info is advice."""

    INFO = 0
    WARNING = 1
    ERROR = 2

    @property
    def label(self) -> str:
        """The word users see: ``info``, ``warning`` or ``error``."""
        return _LABELS[self]

    @classmethod
    def parse(cls, label: str) -> Severity:
        """The severity of that label. Raises ValueError for any other word."""
        for severity, known in _LABELS.items():
            if known == label:
                return severity
        raise ValueError(f"unknown severity {label!r}: use info, warning or error")


_LABELS = {Severity.INFO: "info", Severity.WARNING: "warning", Severity.ERROR: "error"}


class _Record:
    """Equality and repr over all slots, for the small value classes below."""

    __slots__: tuple[str, ...] = ()

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Record) and type(self) is type(other) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"{type(self).__name__}({fields})"


class Edit(_Record):
    """Replace the text between ``start`` and ``end`` by ``text``; equal offsets insert."""

    __slots__ = ("end", "start", "text")

    def __init__(self, start: int, end: int, text: str) -> None:
        self.start = start
        self.end = end
        self.text = text


class Fix(_Record):
    """A set of edits that are made all together or not at all.

    ``safe`` means that Caffe computes what it computed before, or what the user certainly meant (a typing error that
    Caffe refuses). Any fix that changes a number Caffe uses is unsafe.
    """

    __slots__ = ("description", "edits", "safe")

    def __init__(self, description: str, edits: Iterable[Edit], safe: bool = False) -> None:
        self.description = description
        self.edits = tuple(sorted(edits, key=lambda edit: (edit.start, edit.end)))
        self.safe = safe


class Related(_Record):
    """A second place that helps to understand a finding. ``source`` is None for the finding's own file."""

    __slots__ = ("end", "message", "source", "start")

    def __init__(self, message: str, start: int, end: int, source: Source | None = None) -> None:
        self.message = message
        self.start = start
        self.end = end
        self.source = source


class Finding(_Record):
    """What a rule yields.

    ``message`` is one sentence that stands alone; ``help`` says what to change. ``severity`` overrides the rule's own.
    ``source`` is set when the place lies in another file than the one under judgement. ``others`` are the further
    places of a fault that is told once: a comment that silences the first place leaves them to be told.
    """

    __slots__ = ("end", "field", "fix", "help", "layer", "message", "others", "related", "severity", "source", "start")

    def __init__(
        self,
        message: str,
        start: int,
        end: int,
        help: str | None = None,
        fix: Fix | None = None,
        related: Iterable[Related] = (),
        layer: str | None = None,
        field: str | None = None,
        severity: Severity | None = None,
        source: Source | None = None,
        others: Iterable[tuple[int, int]] = (),
    ) -> None:
        self.message = message
        self.start = start
        self.end = end
        self.others = tuple(others)
        self.help = help
        self.fix = fix
        self.related = tuple(related)
        self.layer = layer
        self.field = field
        self.severity = severity
        self.source = source


class Diagnostic(_Record):
    """A finding with its rule's code and name, and the file it is about; made by the engine only."""

    __slots__ = ("code", "finding", "name", "severity", "source")

    def __init__(self, code: str, name: str, severity: Severity, source: Source, finding: Finding) -> None:
        self.code = code
        self.name = name
        self.severity = severity
        self.source = source
        self.finding = finding

    def sort_key(self) -> tuple[str, int, int, str, str]:
        """By path, place, code, wording: the order of every report."""
        finding = self.finding
        return (self.source.path, finding.start, finding.end, self.code, finding.message)
