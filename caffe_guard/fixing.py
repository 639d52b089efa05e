"""Applies the fixes that findings carry: all edits of a fix or none, round after round until nothing is left to mend.

A round takes the fixes whose edits touch no place that an earlier one touched, changes the texts in memory, and judges
them again. A fix that leads to more syntax errors than there were is left out; rounds that come to no rest stop the
whole work: then nothing is written.
"""

from __future__ import annotations

import bisect
import os

from caffe_guard.prototxt import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from caffe_guard.diagnostic import Diagnostic, Edit, Fix
    from caffe_guard.engine import Result

_MOST_ROUNDS = 10
# Each try parses the text twice.
_MOST_TRIED = 50


class FixError(Exception):
    """Fixes that do not come to rest. A fault of a rule, told in one line."""


class Fixed:
    """What fixing came to: the new texts of changed files, the fixes made, and the last judgement."""

    __slots__ = ("applied", "result", "texts")

    def __init__(self, texts: dict[str, str], applied: list[tuple[str, Diagnostic]], result: Result) -> None:
        self.texts = texts
        self.applied = applied
        self.result = result


def wanted(fix: Fix | None, unsafe: bool) -> bool:
    """Whether a fix may be made: safe ones always, others when asked for."""
    return fix is not None and (fix.safe or unsafe)


def fix(result: Result, judge: Callable[[dict[str, str]], Result], unsafe: bool) -> Fixed:
    """Make the fixes of a result, judging the changed texts with ``judge(overlay)``. Raises FixError."""
    texts: dict[str, str] = {}
    applied: list[tuple[str, Diagnostic]] = []
    for _ in range(_MOST_ROUNDS):
        round_texts = _one_round(result, unsafe, applied)
        if not round_texts:
            return Fixed(texts, applied, result)
        texts.update(round_texts)
        result = judge(texts)
    raise FixError(f"the fixes of {', '.join(sorted(texts))} do not come to rest; nothing was changed")


def _one_round(result: Result, unsafe: bool, applied: list[tuple[str, Diagnostic]]) -> dict[str, str]:
    """The texts after as many fixes as fit side by side."""
    chosen: dict[str, list[Diagnostic]] = {}
    taken: dict[str, list[tuple[int, int]]] = {}
    for diagnostic in result.diagnostics:
        fix = diagnostic.finding.fix
        if fix is None or not wanted(fix, unsafe):
            continue
        path = diagnostic.source.path
        extents = taken.setdefault(path, [])
        if not any(_touches(edit, extents) for edit in fix.edits):
            chosen.setdefault(path, []).append(diagnostic)
            for edit in fix.edits:
                bisect.insort(extents, (edit.start, edit.end))
    texts = {}
    for path, diagnostics in chosen.items():
        text = result.sources[path].text
        if _breaks(text, diagnostics):
            diagnostics = _without_those_that_break(text, diagnostics)
        if diagnostics:
            texts[path] = apply_edits(text, _edits(diagnostics))
            applied.extend((path, diagnostic) for diagnostic in diagnostics)
    return texts


def _edits(diagnostics: list[Diagnostic]) -> list[Edit]:
    return [edit for diagnostic in diagnostics if diagnostic.finding.fix for edit in diagnostic.finding.fix.edits]


def _breaks(text: str, diagnostics: list[Diagnostic]) -> bool:
    """Whether fixes leave more syntax errors than there were: in a text that is broken enough, a repair can."""
    return len(parse(apply_edits(text, _edits(diagnostics))).problems) > len(parse(text).problems)


def _without_those_that_break(text: str, diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """The fixes that can be made together, each tried after those before it."""
    kept: list[Diagnostic] = []
    for diagnostic in diagnostics[:_MOST_TRIED]:
        if not _breaks(text, [*kept, diagnostic]):
            kept.append(diagnostic)
    return kept


def _touches(edit: Edit, extents: list[tuple[int, int]]) -> bool:
    """Whether an edit meets or borders on one of the extents, which are sorted and apart from each other."""
    following = bisect.bisect_left(extents, (edit.end + 1,))
    return following > 0 and extents[following - 1][1] >= edit.start


def apply_edits(text: str, edits: list[Edit]) -> str:
    """The text with edits made; they must not overlap."""
    pieces = []
    position = 0
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        pieces.append(text[position : edit.start])
        pieces.append(edit.text)
        position = edit.end
    pieces.append(text[position:])
    return "".join(pieces)


def unified_diff(path: str, before: str, after: str) -> str:
    """The change of one file as a unified diff."""
    import difflib

    name = path.replace(os.sep, "/").lstrip("/")
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    out = []
    for line in lines:
        out.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(out)
