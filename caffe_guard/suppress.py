"""Comments that silence findings: on a line, above a layer, or for a whole file.

``# caffe-guard: ignore[CG301, no-random-seed] the reason`` silences the named rules (codes, prefixes of codes, or
names) on its own line; on a line of its own it speaks for the statement that follows, a whole layer included.
``ignore-file`` speaks for the file. Without brackets, every rule is meant.
"""

from __future__ import annotations

import bisect
import re

from caffe_guard.prototxt import lexer, tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.prototxt.tree import Field, File
    from caffe_guard.source import Source

_MARK = "caffe-guard:"
_COMMENT = r"#+\s*caffe-guard:\s*(?P<verb>[\w-]*)\s*(?:\[(?P<rules>[^\]\n]*)\])?(?P<reason>[^\n]*)"


class Suppression:
    """One comment: its place, the extent it silences, the rules it names (empty: all), and whether it was needed."""

    __slots__ = ("comment_end", "comment_start", "end", "reason", "rules", "start", "used", "verb")

    def __init__(
        self, verb: str, rules: tuple[str, ...], reason: str, comment: tuple[int, int], extent: tuple[int, int]
    ) -> None:
        self.verb = verb
        self.rules = rules
        self.reason = reason
        self.comment_start, self.comment_end = comment
        self.start, self.end = extent
        self.used: set[str] = set()

    def covers(self, offset: int, code: str, name: str) -> bool:
        """Whether a finding of that rule at that offset is silenced; remembers that it was."""
        if not self.start <= offset < self.end or self.verb not in ("ignore", "ignore-file"):
            return False
        if not self.rules:
            self.used.add("")
            return True
        for rule in self.rules:
            if code.startswith(rule.upper()) or name == rule.lower():
                self.used.add(rule)
                return True
        return False

    def unused(self) -> list[str]:
        """The rules that the comment names in vain; ``""`` for a comment that names none and silenced nothing."""
        if not self.rules:
            return [] if self.used else [""]
        return [rule for rule in self.rules if rule not in self.used]


class Suppressions:
    """The comments of one file, ``all`` in order, and which of them cover a place."""

    __slots__ = ("_farthest", "_local", "_starts", "_whole", "all")

    def __init__(self, comments: list[Suppression]) -> None:
        self.all = comments
        self._whole = [one for one in comments if one.verb == "ignore-file"]
        self._local = sorted((one for one in comments if one.verb != "ignore-file"), key=lambda one: one.start)
        self._starts = [one.start for one in self._local]
        # How far the comments up to each one reach: where that is not far enough, no earlier one can cover a place.
        self._farthest: list[int] = []
        for one in self._local:
            self._farthest.append(max(one.end, self._farthest[-1]) if self._farthest else one.end)

    def cover(self, offset: int, code: str, name: str) -> bool:
        """Whether some comment silences a finding of that rule at that offset; remembers the first that does."""
        for one in self._whole:
            if one.covers(offset, code, name):
                return True
        index = bisect.bisect_right(self._starts, offset) - 1
        while index >= 0 and self._farthest[index] > offset:
            if self._local[index].covers(offset, code, name):
                return True
            index -= 1
        return False


def read_suppressions(source: Source, file: File) -> Suppressions:
    """The suppression comments of a file."""
    text = source.text
    found: list[Suppression] = []
    if _MARK not in text:
        return Suppressions(found)
    pattern = re.compile(_COMMENT)
    for token in lexer.comments(text):
        match = pattern.match(text, token.start, token.end)
        if match is None:
            continue
        rules = tuple(word.strip() for word in (match["rules"] or "").split(",") if word.strip())
        verb = match["verb"]
        if verb == "ignore-file":
            extent = (0, len(text) + 1)
        else:
            extent = _extent(source, file, token.start)
        end = token.start + len(text[token.start : token.end].rstrip())
        found.append(Suppression(verb, rules, match["reason"].strip(), (token.start, end), extent))
    return Suppressions(found)


def _extent(source: Source, file: File, comment_start: int) -> tuple[int, int]:
    """What a comment speaks for: its line, or the statement after it when it has the line to itself."""
    text = source.text
    line, _ = source.line_column(comment_start)
    line_start = source.line_start(line)
    line_end = text.find("\n", comment_start)
    line_end = len(text) + 1 if line_end < 0 else line_end
    if text[line_start:comment_start].strip():
        return line_start, line_end
    statement = _statement_after(file, comment_start)
    if statement is None:
        return line_start, line_end
    start_line, _ = source.line_column(statement.name_start)
    end = statement.end
    if statement.kind is not tree.MESSAGE:
        newline = text.find("\n", end)
        end = len(text) + 1 if newline < 0 else newline
    return source.line_start(start_line), end + 1


def _statement_after(file: File, offset: int) -> Field | None:
    """The first field that begins after an offset and inside the message that holds the offset."""
    siblings = file.fields
    while True:
        later = _first_after(siblings, offset)
        before = siblings[later - 1] if later else None
        if before is not None and before.kind is tree.MESSAGE and before.start < offset < before.end:
            siblings = before.children or []
            continue
        return siblings[later] if later < len(siblings) else None


def _first_after(siblings: list[Field], offset: int) -> int:
    """Index of the first sibling that begins after an offset, by halving: a file may hold thousands of comments."""
    low, high = 0, len(siblings)
    while low < high:
        middle = (low + high) // 2
        if siblings[middle].name_start > offset:
            high = middle
        else:
            low = middle + 1
    return low
