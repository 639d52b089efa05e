"""SARIF 2.1.0, for code-scanning services and editors."""

from __future__ import annotations

import json
from urllib.parse import quote

from caffe_guard import __version__
from caffe_guard.diagnostic import Severity
from caffe_guard.rules import all_rules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caffe_guard.diagnostic import Diagnostic
    from caffe_guard.engine import Result
    from caffe_guard.source import Source

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def render(result: Result) -> str:
    """The SARIF text. Columns count Unicode code points, as the log says of itself."""
    codes = {diagnostic.code for diagnostic in result.diagnostics}
    rules = [rule for rule in all_rules() if rule.code in codes]
    index = {rule.code: number for number, rule in enumerate(rules)}
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "caffe-guard",
                        "version": __version__,
                        "rules": [
                            {
                                "id": rule.code,
                                "name": rule.name,
                                "shortDescription": {"text": rule.summary},
                                "fullDescription": {"text": rule.page.strip()},
                                "defaultConfiguration": {"level": _LEVELS[rule.severity]},
                            }
                            for rule in rules
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, index) for diagnostic in result.diagnostics],
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _result(diagnostic: Diagnostic, index: dict[str, int]) -> dict[str, Any]:
    finding = diagnostic.finding
    text = finding.message if not finding.help else f"{finding.message}. {finding.help}"
    data: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": _LEVELS[diagnostic.severity],
        "message": {"text": _plain(text)},
        "locations": [_location(diagnostic.source, finding.start, finding.end)],
    }
    if diagnostic.code in index:
        data["ruleIndex"] = index[diagnostic.code]
    if finding.related:
        data["relatedLocations"] = [
            {
                "id": number,
                "message": {"text": _plain(related.message)},
                **_location(related.source or diagnostic.source, related.start, related.end),
            }
            for number, related in enumerate(finding.related)
        ]
    # JSON holds characters: an edit that moves odd bytes cannot be told, and is left out rather than told wrongly.
    if finding.fix is not None and all(_plain(edit.text) == edit.text for edit in finding.fix.edits):
        data["fixes"] = [
            {
                "description": {"text": _plain(finding.fix.description)},
                "artifactChanges": [
                    {
                        "artifactLocation": {"uri": _uri(diagnostic.source.path)},
                        "replacements": [
                            {
                                "deletedRegion": _region(diagnostic.source, edit.start, edit.end),
                                "insertedContent": {"text": edit.text},
                            }
                            for edit in finding.fix.edits
                        ],
                    }
                ],
            }
        ]
    return data


def _location(source: Source, start: int, end: int) -> dict[str, Any]:
    return {"physicalLocation": {"artifactLocation": {"uri": _uri(source.path)}, "region": _region(source, start, end)}}


def _region(source: Source, start: int, end: int) -> dict[str, int]:
    line, column = source.line_column(start)
    end_line, end_column = source.line_column(end)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(path: str) -> str:
    return quote(path.replace("\\", "/"), safe="/", errors="surrogateescape")


def _plain(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
