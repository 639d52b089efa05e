"""Applies the fixes that findings carry: all edits of a fix or none, round after round until nothing is left to mend.

A round takes the fixes whose edits touch no place that an earlier one touched, changes the texts in memory, and judges
them again. A fix that leads to more syntax errors than there were, or rounds that come to no rest, stop the whole
work: then nothing is written.
"""

from __future__ import annotations

import os

from caffe_guard.prototxt import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from caffe_guard.diagnostic import Diagnostic, Edit, Fix
    from caffe_guard.engine import Result

_MOST_ROUNDS = 10


class FixError(Exception):
    """Fixes that do not come to rest or would break the text. A fault of a rule, told in one line."""


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
        for path, text in round_texts.items():
            before = result.sources[path].text
            if len(parse(text).problems) > len(parse(before).problems):
                raise FixError(f"{path}: a fix would break the text; nothing was changed")
            texts[path] = text
        result = judge(texts)
    raise FixError(f"the fixes of {', '.join(sorted(texts))} do not come to rest; nothing was changed")


def _one_round(result: Result, unsafe: bool, applied: list[tuple[str, Diagnostic]]) -> dict[str, str]:
    """The texts after as many fixes as fit side by side."""
    edits: dict[str, list[Edit]] = {}
    for diagnostic in result.diagnostics:
        fix = diagnostic.finding.fix
        if fix is None or not wanted(fix, unsafe):
            continue
        path = diagnostic.source.path
        taken = edits.setdefault(path, [])
        if any(_touch(edit, other) for edit in fix.edits for other in taken):
            continue
        taken.extend(fix.edits)
        applied.append((path, diagnostic))
    return {path: apply_edits(result.sources[path].text, made) for path, made in edits.items() if made}


def _touch(one: Edit, other: Edit) -> bool:
    return one.start <= other.end and other.start <= one.end


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

    name = path.replace(os.sep, "/")
    lines = difflib.unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{name}", f"b/{name}"
    )
    out = []
    for line in lines:
        out.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(out)
