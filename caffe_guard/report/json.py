"""The report for programs: version 1 of the JSON contract."""

from __future__ import annotations

import json

from caffe_guard.diagnostic import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caffe_guard.diagnostic import Diagnostic
    from caffe_guard.engine import Result

VERSION = 1


def render(result: Result) -> str:
    """The JSON text, ending in a newline. Lines and columns count from 1, edit offsets from 0, all in characters."""
    return json.dumps(as_data(result), indent=2) + "\n"


def as_data(result: Result) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "version": VERSION,
        "files": [
            {"path": file.path, "kind": file.kind, "dialect": file.dialect, "syntax": file.syntax}
            for file in result.files
        ],
        "diagnostics": [diagnostic_data(diagnostic) for diagnostic in result.diagnostics],
        "summary": {
            "errors": result.count(Severity.ERROR),
            "warnings": result.count(Severity.WARNING),
            "infos": result.count(Severity.INFO),
            "files": len(result.files),
            "suppressed": result.suppressed,
        },
    }


def diagnostic_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """One diagnostic by the contract."""
    finding = diagnostic.finding
    source = diagnostic.source
    line, column = source.line_column(finding.start)
    end_line, end_column = source.line_column(finding.end)
    fix = finding.fix
    related = []
    for one in finding.related:
        place = one.source or source
        related_line, related_column = place.line_column(one.start)
        related.append({"path": place.path, "line": related_line, "column": related_column, "message": one.message})
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity.label,
        "path": source.path,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
        "message": finding.message,
        "layer": finding.layer,
        "field": finding.field,
        "help": finding.help,
        "fix": None
        if fix is None
        else {
            "safe": fix.safe,
            "description": fix.description,
            "edits": [{"start": edit.start, "end": edit.end, "text": edit.text} for edit in fix.edits],
        },
        "related": related,
    }
