"""The report for people: a sentence, the line of the file, a caret; grouped by file, quiet when clean."""

from __future__ import annotations

from caffe_guard.diagnostic import Severity
from caffe_guard.report.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.diagnostic import Diagnostic
    from caffe_guard.engine import Result
    from caffe_guard.source import Source

_COLOURS = {
    "error": "\033[1;31m",
    "warning": "\033[1;33m",
    "info": "\033[1;36m",
    "bold": "\033[1m",
    "dim": "\033[2m",
    "green": "\033[32m",
    "reset": "\033[0m",
}
# A source line longer than this is cut around its caret.
_WIDEST = 120


def _shown(text: str) -> str:
    return printable(text, "\t")


class _Paint:
    """Adds colour, or nothing."""

    __slots__ = ("on",)

    def __init__(self, on: bool) -> None:
        self.on = on

    def __call__(self, colour: str, text: str) -> str:
        return f"{_COLOURS[colour]}{text}{_COLOURS['reset']}" if self.on else text


def render(result: Result, colour: bool = False, fixable: int = 0, unsafe_fixable: int = 0, notes: bool = True) -> str:
    """The whole report, ending in a newline; empty when there is nothing to say.

    ``fixable`` is how many findings ``--fix`` would mend, ``unsafe_fixable`` how many more ``--unsafe-fixes`` would.
    """
    paint = _Paint(colour)
    blocks = []
    path: str | None = None
    for diagnostic in result.diagnostics:
        if path is not None and diagnostic.source.path != path:
            blocks.append("")
        path = diagnostic.source.path
        blocks.extend(_lines(diagnostic, paint))
    if not result.diagnostics:
        return ""
    blocks.append("")
    blocks.append(summary(result, paint, fixable, unsafe_fixable))
    return "\n".join(blocks) + "\n"


def summary(result: Result, paint: _Paint, fixable: int = 0, unsafe_fixable: int = 0) -> str:
    """The last line: counts, and what fixes would do."""
    parts = []
    for severity, one, many in (
        (Severity.ERROR, "error", "errors"),
        (Severity.WARNING, "warning", "warnings"),
        (Severity.INFO, "info", "infos"),
    ):
        count = result.count(severity)
        if count:
            parts.append(paint(severity.label, f"{count} {one if count == 1 else many}"))
    count = result.judged
    line = ", ".join(parts) + f" in {count} {'file' if count == 1 else 'files'}"
    if result.suppressed:
        line += f" ({result.suppressed} suppressed)"
    if fixable:
        line += f"; --fix mends {fixable}"
        if unsafe_fixable:
            line += f", with --unsafe-fixes {fixable + unsafe_fixable}"
    elif unsafe_fixable:
        line += f"; --fix --unsafe-fixes mends {unsafe_fixable}"
    return line


def _lines(diagnostic: Diagnostic, paint: _Paint) -> list[str]:
    finding = diagnostic.finding
    source = diagnostic.source
    line, column = source.line_column(finding.start)
    label = diagnostic.severity.label
    layer = f"{finding.layer}: " if finding.layer and not _names_layer(finding.message, finding.layer) else ""
    lines = [
        f"{paint('bold', f'{_shown(source.path)}:{line}:{column}:')} {paint(label, label)} "
        f"{paint('bold', diagnostic.code)} {_shown(layer + finding.message)}"
    ]
    lines.extend(_excerpt(source, finding.start, finding.end, paint, label))
    if finding.help:
        lines.append(f"    {paint('dim', 'help:')} {_shown(finding.help)}")
    for related in finding.related:
        place = related.source or source
        where = place.line_column(related.start)
        lines.append(
            f"    {paint('dim', 'see:')} {_shown(place.path)}:{where[0]}:{where[1]}: {_shown(related.message)}"
        )
    return lines


def _names_layer(message: str, layer: str) -> bool:
    return layer in message


def _excerpt(source: Source, start: int, end: int, paint: _Paint, label: str) -> list[str]:
    """The source line and a caret under the place, tabs kept so that the caret stands right."""
    line, column = source.line_column(start)
    text = _shown(source.line_text(line))
    if not text.strip():
        return []
    column -= 1
    width = max(1, min(end - start, len(text) - column))
    shift = 0
    if len(text) > _WIDEST:
        shift = max(0, min(column - _WIDEST // 3, len(text) - _WIDEST))
        text = text[shift : shift + _WIDEST]
        column -= shift
        width = max(1, min(width, len(text) - column))
    # Below a wide (CJK) character stand two columns.
    pad = "".join("\t" if character == "\t" else " " * _columns(character) for character in text[:column])
    marks = "^" + "~" * (sum(_columns(character) for character in text[column : column + width]) - 1)
    number = str(line)
    margin = " " * len(number)
    return [
        f"    {paint('dim', number + ' |')} {text}",
        f"    {paint('dim', margin + ' |')} {pad}{paint(label, marks)}",
    ]


def _columns(character: str) -> int:
    if character.isascii():
        return 1
    import unicodedata

    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
