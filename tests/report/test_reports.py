"""Every report format: golden outputs, and what its readers rely on.

CAFFE_GUARD_UPDATE_GOLDENS=1 writes the golden files anew.
"""

from __future__ import annotations

import json
import os
import re
from xml.etree import ElementTree

import pytest

from caffe_guard import __version__, fixing
from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import Result, lint
from caffe_guard.report import github, junit, sarif, text
from caffe_guard.report import json as json_report
from caffe_guard.rules import all_rules

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
FILES = {
    "solver.prototxt": """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
power: 0.9
random_seed: 1
solver_mode: CPU
""",
    "net.prototxt": """\
name: "caf\udce9 \u4e2d\u6587" nonsense: "\u4e2d\u6587\x1b[31m"
layer {
\tname: "data"
\ttype: "DummyData"
\ttop: "data"\ttop: "label"
\tdummy_data_param { shape { dim: 2 dim: 3 dim: 20 dim: 20 } shape { dim: 2 } }
}
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool" pooling_param { pool: AVE kernel_size: 3 stride: 5 } }
layer { name: "a%0Ab,c:d" type: "InnerProduct" bottom: "pool" top: "fc" inner_product_param { num_output: 4 """
    """weight_filler { type: "xavier" } } }  # """
    + "long " * 40
    + """
layer { name: "fc2" type: "InnerProduct" bottom: "fc" top: "fc2" inner_product_param { num_outputs: 4 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc2" bottom: "labels" top: "loss" }
""",
    "clean.prototxt": 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 2 } } }\n',
}


@pytest.fixture(scope="module")
def result() -> Result:
    return lint(["solver.prototxt", "clean.prototxt"], Settings(), FILES)


@pytest.fixture(scope="module")
def nothing() -> Result:
    return lint(["clean.prototxt"], Settings(), FILES)


RENDERED = {
    "text.txt": lambda result: text.render(result, False, 2, 1),
    "colour.txt": lambda result: text.render(result, True),
    "report.json": json_report.render,
    "report.sarif": lambda result: sarif.render(result).replace(f'"{__version__}"', '"VERSION"'),
    "github.txt": github.render,
    "junit.xml": lambda result: junit.render(result, Severity.ERROR),
}


@pytest.mark.parametrize("name", RENDERED)
def test_report_is_the_golden_one(result, name):
    path = os.path.join(GOLDEN, name)
    said = RENDERED[name](result)
    if os.environ.get("CAFFE_GUARD_UPDATE_GOLDENS") == "1":
        with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as stream:
            stream.write(said)
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as stream:
        assert said == stream.read()


class TestText:
    def test_nothing_is_said_when_there_is_nothing_to_say(self, nothing):
        assert text.render(nothing) == ""

    def test_the_marks_stand_under_the_words_that_are_meant(self, result):
        """Also behind tabs, and behind characters that are two columns wide."""
        lines = text.render(result).split("\n")
        for number, line in enumerate(lines):
            if not re.match(r"^ +\| [\t ]*\^~*$", line):
                continue
            source, marks = lines[number - 1].split(" | ", 1)[1], line.split(" | ", 1)[1]
            start = _columns(source, marks.index("^"))
            assert source.expandtabs()[start : start + 1].strip(), (source, marks)

    def test_long_lines_are_cut_around_the_mark(self, result):
        assert max(len(line) for line in text.render(result).split("\n") if " | " in line) < 140

    def test_nothing_of_a_file_can_drive_the_terminal(self, result):
        said = text.render(result)
        assert all(character.isprintable() or character in "\n\t" for character in said)

    def test_the_last_line_counts(self, result):
        last = text.render(result, False, 2, 1).rstrip("\n").split("\n")[-1]
        errors, infos = result.count(Severity.ERROR), result.count(Severity.INFO)
        assert last.startswith(f"{errors} errors") and f"{infos} info" in last
        assert last.endswith("in 3 files; --fix mends 2, with --unsafe-fixes 3")


def _columns(source: str, column: int) -> int:
    """The index, in a line whose tabs are expanded, of the character that stands in a column of the marks line."""
    import unicodedata

    at = 0
    for index, character in enumerate(source):
        if at >= column:
            return len(source[:index].expandtabs())
        at += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return len(source)


CONTRACT = {
    "code": str, "name": str, "severity": str, "path": str, "line": int, "column": int, "end_line": int,
    "end_column": int, "message": str, "layer": (str, type(None)), "field": (str, type(None)),
    "help": (str, type(None)), "fix": (dict, type(None)), "related": list,
}  # fmt: skip


class TestJson:
    def test_it_keeps_the_contract(self, result):
        data = json.loads(json_report.render(result))
        assert data["version"] == 1
        assert {tuple(file) for file in data["files"]} == {("path", "kind", "dialect", "syntax")}
        for one in data["diagnostics"]:
            assert list(one) == list(CONTRACT)
            assert all(isinstance(one[key], kind) for key, kind in CONTRACT.items())
            assert one["severity"] in ("error", "warning", "info")
            assert min(one["line"], one["column"], one["end_line"], one["end_column"]) >= 1
            for related in one["related"]:
                assert list(related) == ["path", "line", "column", "message"]
            if one["fix"] is not None:
                assert list(one["fix"]) == ["safe", "description", "edits"]
                assert all(list(edit) == ["start", "end", "text"] for edit in one["fix"]["edits"])
        summary = data["summary"]
        assert summary["errors"] + summary["warnings"] + summary["infos"] == len(data["diagnostics"])
        assert summary["files"] == len(data["files"])

    def test_its_edits_are_those_that_fix_makes(self, result):
        def judge(overlay):
            return lint(["solver.prototxt"], Settings(), {**FILES, **overlay})

        mended = fixing.fix(judge({}), judge, unsafe=True).texts["net.prototxt"]
        text_now = FILES["net.prototxt"]
        for _ in range(3):
            data = json.loads(json_report.render(judge({"net.prototxt": text_now})))
            edits = [
                edit
                for one in data["diagnostics"]
                if one["fix"] is not None and one["path"] == "net.prototxt"
                for edit in one["fix"]["edits"]
            ]
            for edit in sorted(edits, key=lambda edit: -edit["start"]):
                text_now = text_now[: edit["start"]] + edit["text"] + text_now[edit["end"] :]
        assert text_now == mended

    def test_nothing_found_is_an_empty_list(self, nothing):
        assert json.loads(json_report.render(nothing))["diagnostics"] == []


class TestSarif:
    def test_rules_and_results_belong_together(self, result):
        log = json.loads(sarif.render(result))
        assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
        (run,) = log["runs"]
        rules = run["tool"]["driver"]["rules"]
        for one in run["results"]:
            assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
            assert one["level"] in ("error", "warning", "note") and one["message"]["text"]
            for location in (*one["locations"], *one.get("relatedLocations", ())):
                region = location["physicalLocation"]["region"]
                assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])
                assert min(region.values()) >= 1
        assert len(run["results"]) == len(result.diagnostics)

    def test_nothing_found_is_a_run_without_results(self, nothing):
        assert json.loads(sarif.render(nothing))["runs"][0]["results"] == []


class TestGithub:
    def test_a_finding_is_one_command_on_one_line(self, result):
        lines = github.render(result).splitlines()
        assert len(lines) == len(result.diagnostics)
        assert all(
            re.match(r"^::(error|warning|notice) file=[^,]+,line=\d+,endLine=\d+,title=", line) for line in lines
        )

    def test_what_the_commands_reserve_is_escaped(self, result):
        assert "a%250Ab,c:d" in github.render(result)

    def test_nothing_found_is_nothing(self, nothing):
        assert github.render(nothing) == ""


class TestJunit:
    def test_it_is_xml_whose_counts_agree(self, result):
        root = ElementTree.fromstring(junit.render(result, Severity.ERROR).encode())
        cases = root.findall(".//testcase")
        failed = [case for case in cases if case.find("failure") is not None]
        assert root.get("tests") == str(len(cases)) == "3"
        assert root.get("failures") == str(len(failed)) == "2"

    def test_the_failing_severity_is_the_users(self, result):
        root = ElementTree.fromstring(junit.render(result, Severity.INFO).encode())
        assert root.findall(".//system-out") == []

    def test_nothing_found_is_a_case_that_passed(self, nothing):
        root = ElementTree.fromstring(junit.render(nothing, Severity.ERROR).encode())
        assert root.get("failures") == "0" and root.get("tests") == "1"


def test_every_format_can_tell_every_rules_example():
    from caffe_guard.rules.examples import entry_file, example_files

    for rule in all_rules():
        for example in rule.bad:
            settings = Settings()
            settings.dialect = example.dialect
            found = lint([entry_file(rule, example)], settings, example_files(rule, example))
            json.loads(json_report.render(found))
            json.loads(sarif.render(found))
            ElementTree.fromstring(junit.render(found, Severity.ERROR).encode())
            text.render(found, True)
            github.render(found).encode()
