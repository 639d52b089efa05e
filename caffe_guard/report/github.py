"""Annotations for GitHub Actions: one workflow command a finding."""

from __future__ import annotations

from caffe_guard.diagnostic import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.engine import Result

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def render(result: Result) -> str:
    """Lines that GitHub shows beside the changed code."""
    lines = []
    for diagnostic in result.diagnostics:
        finding = diagnostic.finding
        line, column = diagnostic.source.line_column(finding.start)
        end_line, end_column = diagnostic.source.line_column(finding.end)
        properties = {
            "file": diagnostic.source.path,
            "line": str(line),
            "endLine": str(end_line),
            "title": f"{diagnostic.code} {diagnostic.name}",
        }
        if line == end_line:
            properties["col"] = str(column)
            properties["endColumn"] = str(end_column)
        text = finding.message if not finding.help else f"{finding.message}\nhelp: {finding.help}"
        settings = ",".join(f"{key}={_escape(value, ':,')}" for key, value in properties.items())
        lines.append(f"::{_LEVELS[diagnostic.severity]} {settings}::{_escape(text)}\n")
    return "".join(lines)


def _escape(text: str, more: str = "") -> str:
    """Percent-encode what the command syntax reserves."""
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    for character in more:
        text = text.replace(character, f"%{ord(character):02X}")
    return text.encode("utf-8", "backslashreplace").decode()
