"""The small inputs re-made from public bug reports: what must be found is found, what must not be is not."""

from __future__ import annotations

import glob
import json
import os

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint

SHARED = os.path.abspath(
    os.environ.get("CAFFE_GUARD_SHARED", os.path.join(os.path.dirname(__file__), "..", "..", "shared"))
)
FOLDERS = sorted(glob.glob(os.path.join(SHARED, "cases", "*", "")))


def _cases() -> list:
    found = []
    for folder in FOLDERS:
        with open(os.path.join(folder, "expect.json"), encoding="utf-8") as stream:
            expect = json.load(stream)
        if expect["command"] == "lint":
            found.append(pytest.param(folder, expect, id=os.path.basename(os.path.normpath(folder))))
    return found or [
        pytest.param(None, None, marks=pytest.mark.skip(reason="the shared cases are not here (CAFFE_GUARD_SHARED)"))
    ]


def _matches(diagnostic, expect, severity) -> bool:
    finding = diagnostic.finding
    line, _ = diagnostic.source.line_column(finding.start)
    first, last = expect["lines_ok"]
    if os.path.basename(diagnostic.source.path) != expect["file"] or not first <= line <= last:
        return False
    if diagnostic.severity < severity:
        return False
    if expect.get("layer") and finding.layer and finding.layer != expect["layer"]:
        return False
    return not (expect.get("field") and finding.field and finding.field != expect["field"])


def _lint(folder, expect, monkeypatch, dialect="auto"):
    monkeypatch.chdir(folder)
    settings = Settings()
    settings.dialect = dialect
    return lint([argument for argument in expect["args"][1:] if not argument.startswith("-")], settings).diagnostics


@pytest.mark.parametrize(("folder", "expect"), _cases())
def test_public_bug_report_is_judged_rightly(folder, expect, monkeypatch):
    severity = Severity.parse(expect["severity"])
    diagnostics = _lint(folder, expect, monkeypatch)
    found = [diagnostic for diagnostic in diagnostics if _matches(diagnostic, expect, severity)]
    said = [(one.code, one.severity.label, one.finding.message) for one in diagnostics]
    if expect["must_find"]:
        assert found, f"nothing about {expect['about']!r} in lines {expect['lines_ok']}; said: {said}"
    else:
        assert not found, f"should be silent about {expect['about']!r}: {said}"
    assert not [one for one in said if one[0] == "CG000"]


@pytest.mark.parametrize(("folder", "expect"), _cases())
def test_named_dialect_changes_the_severity_as_told(folder, expect, monkeypatch):
    for dialect, label in (expect or {}).get("severity_with_dialect", {}).items():
        severity = Severity.parse(label)
        diagnostics = _lint(folder, expect, monkeypatch, dialect)
        assert [one for one in diagnostics if _matches(one, expect, severity)], dialect
