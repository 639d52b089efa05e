"""Every rule's examples: what it must find, what it must not, and what its fixes make of the text."""

from __future__ import annotations

import os
import re

import pytest

from caffe_guard import fixing
from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint
from caffe_guard.prototxt import parse
from caffe_guard.rules import all_rules
from caffe_guard.rules.examples import entry_file, example_files, main_file
from caffe_guard.rules.retired import RETIRED


def _examples(which: str) -> list:
    return [
        pytest.param(rule, example, id=f"{rule.code}-{rule.name}-{index}")
        for rule in all_rules()
        for index, example in enumerate(getattr(rule, which))
    ]


def _write(folder, rule, example) -> str:
    for name, text in example_files(rule, example).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))
    return entry_file(rule, example)


def _settings(rule, example) -> Settings:
    settings = Settings()
    settings.dialect = example.dialect
    if rule.code != "CG007":  # nothing is said of unused suppressions when only some rules run
        settings.select = (rule.code,)
    return settings


def _own(rule, result) -> list:
    return [diagnostic for diagnostic in result.diagnostics if diagnostic.code == rule.code]


def _as_expected(rule, diagnostic, expected) -> object:
    """The diagnostic in the form of the expectation: a line, (line, severity) or (line, severity, file)."""
    line, _ = diagnostic.source.line_column(diagnostic.finding.start)
    name = os.path.basename(diagnostic.source.path)
    if isinstance(expected, int):
        assert diagnostic.severity == rule.severity, f"{diagnostic.severity.label}: {diagnostic.finding.message}"
        assert name == main_file(rule)
        return line
    if len(expected) == 2:
        assert name == main_file(rule)
        return (line, diagnostic.severity.label)
    return (line, diagnostic.severity.label, name)


@pytest.mark.parametrize(("rule", "example"), _examples("bad"))
def test_bad_example_gives_exactly_the_expected_findings(rule, example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = _own(rule, lint([_write(tmp_path, rule, example)], _settings(rule, example)))
    said = [(one.source.line_column(one.finding.start)[0], one.severity.label, one.finding.message) for one in found]
    assert len(found) == len(example.expect), said
    for diagnostic, expected in zip(found, example.expect):
        got = _as_expected(rule, diagnostic, expected)
        assert got == (expected if isinstance(expected, int) else tuple(expected)), said


@pytest.mark.parametrize(("rule", "example"), _examples("good"))
def test_good_example_gives_no_finding(rule, example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = _own(rule, lint([_write(tmp_path, rule, example)], _settings(rule, example)))
    assert [one.finding.message for one in found] == []


@pytest.mark.parametrize(("rule", "example"), [one for one in _examples("bad") if one.values[1].fixed is not None])
def test_fixes_give_the_expected_text_and_come_to_rest(rule, example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    entry = _write(tmp_path, rule, example)
    settings = _settings(rule, example)

    def judge(texts):
        return lint([entry], settings, texts)

    first = judge({})
    before = first.sources[main_file(rule)].text
    fixed = fixing.fix(first, judge, unsafe=True)
    text = fixed.texts.get(main_file(rule), before)
    assert text == example.fixed
    assert len(parse(text).problems) <= len(parse(before).problems)
    again = fixing.fix(judge(fixed.texts), judge, unsafe=True)
    assert again.texts == {}


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_page_has_its_form(rule):
    page = rule.page.strip()
    assert rule.summary.endswith("."), "the first line is one sentence"
    assert len(rule.summary) <= 120
    assert re.search(r"^What happens$", page, re.MULTILINE)
    assert re.search(r"^How to fix$", page, re.MULTILINE)
    assert re.fullmatch(r"CG\d{3}", rule.code)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", rule.name)
    assert isinstance(rule.severity, Severity)


def test_codes_and_names_are_unique_and_none_is_retired():
    codes = [rule.code for rule in all_rules()]
    names = [rule.name for rule in all_rules()]
    assert len(set(codes)) == len(codes)
    assert len(set(names)) == len(names)
    assert not set(codes) & set(RETIRED)


def test_most_rules_have_examples():
    without = [rule.code for rule in all_rules() if not rule.bad]
    assert set(without) <= {"CG000", "CG006"}


@pytest.mark.parametrize(("rule", "example"), _examples("bad"))
def test_a_suppression_comment_silences_the_finding(rule, example, tmp_path, monkeypatch):
    """Each finding, silenced for its file by its own code, goes and nothing is said of the comment."""
    if rule.code in ("CG003", "CG005", "CG007", "CG008") or not example.expect:
        pytest.skip("about the start of the file or about comments")
    monkeypatch.chdir(tmp_path)
    entry = _write(tmp_path, rule, example)
    for name in example_files(rule, example):
        path = tmp_path / name
        path.write_bytes(path.read_bytes() + f"\n# caffe-guard: ignore-file[{rule.code}] a test\n".encode())
    result = lint([entry], _settings(rule, example))
    assert _own(rule, result) == []
    assert result.suppressed >= len(example.expect)
