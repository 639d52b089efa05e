"""Every report format: golden outputs, and what its readers rely on.

CAFFE_GUARD_UPDATE_GOLDENS=1 writes the golden files anew.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import unicodedata
from urllib.parse import unquote_to_bytes
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caffe_guard import __version__, fixing
from caffe_guard.config import Settings
from caffe_guard.diagnostic import Diagnostic, Edit, Finding, Fix, Related, Severity
from caffe_guard.engine import Result, lint
from caffe_guard.report import github, junit, sarif, text
from caffe_guard.report import json as json_report
from caffe_guard.rules import all_rules
from caffe_guard.source import Source

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden")
FILES = {
    "solver.prototxt": """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
power: 0.9
random_seed: 1
solver_mode: GPU
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
    """weight_filler { type: "xavier" } } }
layer { name: "conv\x1b[31m" type: "Convolution" bottom: "data" top: "conv"\tconvolution_param { num_output: 4
\tkernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "\u4e2d\u6587" type: "Silence" bottom: "conv"\tbottom: "\u6587\u4e2d" }
layer { name: "fc2" type: "InnerProduct" bottom: "fc" top: "fc2" inner_product_param { num_outputs: 4 } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc2" bottom: "labels" top: "loss" }  # """ + "long " * 40 + "\n",
    "advice.prototxt": """\
layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }
layer { name: "x" type: "Silence" bottom: "x" }
""",
    "clean.prototxt": 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 2 } } }\n',
}


# Every kind of character that a terminal, XML, a workflow command or an encoding could stumble over.
ODD = "".join(map(chr, range(1, 32))) + "\x7f\x85\x9b31m\u202e\u2028\ufffe\uffff\udce9\U0001f600%,:;<>&]]>"


def made(text: str, start: int, end: int, message: str = "a message", path: str = "a.prototxt", **more) -> Result:
    """A result of one finding."""
    result = Result()
    source = Source(path, text)
    result.sources[path] = source
    finding = Finding(message, start, end, **more)
    result.diagnostics.append(Diagnostic("CG010", "unknown-field", Severity.ERROR, source, finding))
    result.judged = 1
    return result


@pytest.fixture(scope="module")
def odd() -> Result:
    """A finding all of whose words hold every odd character."""
    path = f"folder{ODD}/net.prototxt"
    return made(
        f"name: {ODD!r}\nlayer {{ {ODD}",
        3,
        9,
        f"message {ODD}",
        path,
        help=f"help {ODD}",
        layer=f"layer {ODD}",
        related=[Related(f"related {ODD}", 0, 4)],
    )


@pytest.fixture(scope="module")
def result() -> Result:
    return lint(["solver.prototxt", "advice.prototxt", "clean.prototxt"], Settings(), FILES)


@pytest.fixture(scope="module")
def nothing() -> Result:
    return lint(["clean.prototxt"], Settings(), FILES)


def without_version(said: str) -> str:
    """A SARIF log with a placeholder for the version of caffe-guard, and of nothing else."""
    driver = f'"name": "caffe-guard",\n          "version": "{__version__}"'
    assert said.count(driver) == 1
    return said.replace(driver, driver.replace(__version__, "VERSION"))


RENDERED = {
    "text.txt": lambda result: text.render(result, False, 2, 1),
    "colour.txt": lambda result: text.render(result, True),
    "report.json": json_report.render,
    "report.sarif": lambda result: without_version(sarif.render(result)),
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


def test_the_inputs_hold_every_kind_of_finding(result):
    """So that the golden files, and the tests below, say something of each."""
    findings = [(one.severity, one.finding, one.source.path) for one in result.diagnostics]
    assert {severity for severity, _, _ in findings} == set(Severity)
    assert {finding.fix and finding.fix.safe for _, finding, _ in findings} == {None, False, True}
    assert {severity for severity, _, path in findings if path == "advice.prototxt"} == {Severity.INFO}
    assert not [path for _, _, path in findings if path == "clean.prototxt"]
    elsewhere = [place.source for _, finding, _ in findings for place in finding.related]
    assert None in elsewhere and any(elsewhere), "related places in the same file and in another"
    marked = {one.source.line_text(one.source.line_column(one.finding.start)[0]) for one in result.diagnostics}
    for kind in ("\t", "\u4e2d", "\x1b", "\udce9"):
        assert any(kind in line for line in marked), repr(kind)
    assert any(len(line) > 200 for line in marked)


class TestText:
    def test_nothing_is_said_when_there_is_nothing_to_say(self, nothing):
        assert text.render(nothing) == text.render(nothing, True) == text.render(Result()) == ""

    def test_the_marks_stand_under_the_words_that_are_meant(self, result):
        """Also behind tabs, and behind characters that are two columns wide."""
        seen = 0
        for one, (source, marks) in zip(result.diagnostics, excerpts(text.render(result))):
            finding = one.finding
            line, column = one.source.line_column(finding.start)
            word = one.source.line_text(line)[column - 1 :][: finding.end - finding.start]
            assert marked(source, marks) == word
            seen += 1
        assert seen == len(result.diagnostics)

    @given(
        st.text("ab \t\u4e2d\uff21\u30ab\U0001f600\u00e9\x1b\udce9", max_size=12),
        st.text("xy\u4e2d\U0001f600\x1b", min_size=1, max_size=5),
        st.text("ab \t\u4e2d", max_size=8),
    )
    def test_the_marks_stand_under_any_word(self, before, word, after):
        said = text.render(made(f"{before}{word}{after}\nnext", len(before), len(before) + len(word)))
        ((source, marks),) = excerpts(said)
        assert marked(source, marks) == word.replace("\x1b", "\ufffd")

    @pytest.mark.parametrize("before", ["", "\t\u4e2d" * 20, "x " * 500])
    @pytest.mark.parametrize("after", ["", " y" * 500])
    def test_long_lines_are_cut_around_the_mark(self, before, after):
        said = text.render(made(before + "word" + after, len(before), len(before) + 4))
        ((source, marks),) = excerpts(said)
        assert len(source) <= 120
        assert marked(source, marks) == "word"

    def test_a_place_longer_than_the_line_is_marked_to_its_end(self):
        ((source, marks),) = excerpts(text.render(made("layer {\n}\n", 0, 9)))
        assert marked(source, marks) == "layer {"

    def test_a_place_at_the_end_of_a_line_has_one_mark_behind_it(self):
        ((source, marks),) = excerpts(text.render(made("layer\nnext", 5, 5)))
        assert (source, marks) == ("layer", "     ^")

    def test_of_a_blank_line_no_excerpt_is_shown(self):
        assert excerpts(text.render(made("\n\nlayer", 0, 0))) == []

    def test_the_marks_stand_right_behind_combining_characters(self):
        said = text.render(made("e\u0301e\u0301 word", 5, 9))
        ((_, marks),) = excerpts(said)
        assert marks == "   ^~~~"

    @pytest.mark.parametrize("colour", [False, True])
    def test_nothing_of_a_file_can_drive_the_terminal(self, result, odd, colour):
        for one in (result, odd):
            said = (
                re.sub(r"\x1b\[(0|1|2|32|1;31|1;33|1;36)m", "", text.render(one, colour))
                if colour
                else text.render(one)
            )
            assert all(character.isprintable() or character in "\n\t" for character in said)
            said.encode()

    def test_a_line_end_in_a_name_does_not_begin_a_line_of_the_report(self, odd):
        lines = text.render(odd).rstrip("\n").split("\n")
        assert len(lines) == 7, "the sentence, two of the excerpt, help, see, an empty one, the counts"

    def test_colour_adds_nothing_but_colour(self, result):
        assert re.sub(r"\x1b\[[0-9;]*m", "", text.render(result, True)) == text.render(result)
        assert "\x1b" not in text.render(result)

    def test_every_colour_is_taken_back(self, result):
        for line in text.render(result, True).split("\n"):
            codes = re.findall(r"\x1b\[([0-9;]*)m", line)
            assert codes[1::2] == ["0"] * (len(codes) // 2) and "0" not in codes[::2]

    def test_a_sentence_says_file_line_column_severity_and_code(self, result):
        said = text.render(result)
        for one in result.diagnostics:
            line, column = one.source.line_column(one.finding.start)
            assert f"\n{one.source.path}:{line}:{column}: {one.severity.label} {one.code} " in f"\n{said}"

    def test_a_related_place_names_its_own_file(self, result):
        assert "    see: net.prototxt:10:9: the first of them\n" in text.render(result)

    def test_a_layer_is_named_once(self):
        assert "CG010 fc: a message" in text.render(made("x", 0, 1, layer="fc"))
        assert "CG010 fc has it" in text.render(made("x", 0, 1, "fc has it", layer="fc"))

    def test_the_last_line_counts(self, result):
        last = text.render(result).rstrip("\n").split("\n")[-1]
        errors, warnings, infos = (result.count(one) for one in (Severity.ERROR, Severity.WARNING, Severity.INFO))
        assert last == f"{errors} errors, {warnings} warning, {infos} infos in 4 files"

    @pytest.mark.parametrize(
        ("safe", "unsafe", "end"),
        [
            (0, 0, "in 1 file"),
            (2, 0, "in 1 file; --fix mends 2"),
            (2, 1, "in 1 file; --fix mends 2, with --unsafe-fixes 3"),
            (0, 1, "in 1 file; --fix --unsafe-fixes mends 1"),
        ],
    )
    def test_the_last_line_tells_what_fixes_would_do(self, safe, unsafe, end):
        said = text.render(made("x", 0, 1), False, safe, unsafe)
        assert said.endswith(f"\n\n1 error {end}\n")

    def test_the_last_line_counts_what_comments_silence(self):
        result = made("x", 0, 1)
        result.suppressed = 3
        assert text.render(result).endswith("1 error in 1 file (3 suppressed)\n")


def excerpts(said: str) -> list:
    """The (source, marks) lines of a report without colour."""
    found = re.findall(r"^    ( *)(\d+) \| (.*)\n    \1 +\| ([\t ]*\^~*)$", said, re.MULTILINE)
    return [(source, marks) for _, _, source, marks in found]


def marked(source: str, marks: str) -> str:
    """The characters of a line that stand above the marks, as a terminal with stops every 8 columns shows both."""
    start = columns(marks[: marks.index("^")])
    end = start + len(marks.strip())
    return "".join(character for index, character in enumerate(source) if start <= columns(source[:index]) < end)


def columns(shown: str) -> int:
    at = 0
    for character in shown:
        if character == "\t":
            at += 8 - at % 8
        else:
            at += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return at


TEXT_OR_NONE = (str, type(None))
CONTRACT = {
    "code": str, "name": str, "severity": str, "path": str, "line": int, "column": int, "end_line": int,
    "end_column": int, "message": str, "layer": TEXT_OR_NONE, "field": TEXT_OR_NONE, "help": TEXT_OR_NONE,
    "fix": (dict, type(None)), "related": list,
}  # fmt: skip


def keeps(data: dict, contract: dict) -> bool:
    """Whether an object has exactly the keys of a contract, in its order, with values of its types."""
    if list(data) != list(contract):
        return False
    return all(
        isinstance(data[key], kind) and (kind is bool or not isinstance(data[key], bool))
        for key, kind in contract.items()
    )


class TestJson:
    def test_it_keeps_the_contract(self, result):
        data = json.loads(json_report.render(result))
        assert keeps(data, {"version": int, "files": list, "diagnostics": list, "summary": dict})
        assert data["version"] == 1
        kinds = {"path": str, "kind": str, "dialect": TEXT_OR_NONE, "syntax": TEXT_OR_NONE}
        assert data["files"] and all(keeps(file, kinds) for file in data["files"])
        for one in data["diagnostics"]:
            assert keeps(one, CONTRACT)
            assert one["severity"] in ("error", "warning", "info")
            for related in one["related"]:
                assert keeps(related, {"path": str, "line": int, "column": int, "message": str})
            if one["fix"] is not None:
                assert keeps(one["fix"], {"safe": bool, "description": str, "edits": list})
                assert one["fix"]["edits"]
                assert all(keeps(edit, {"start": int, "end": int, "text": str}) for edit in one["fix"]["edits"])
        assert any(one["related"] for one in data["diagnostics"]) and any(one["fix"] for one in data["diagnostics"])

    def test_the_summary_counts(self, result):
        data = json.loads(json_report.render(result))
        severities = [one["severity"] for one in data["diagnostics"]]
        assert data["summary"] == {
            "errors": severities.count("error"),
            "warnings": severities.count("warning"),
            "infos": severities.count("info"),
            "files": len(data["files"]),
            "suppressed": 0,
        }

    def test_lines_and_columns_count_from_1_in_characters(self, result):
        for one in json.loads(json_report.render(result))["diagnostics"]:
            lines = FILES[one["path"]].split("\n")
            ends = ((one["line"], one["column"]), (one["end_line"], one["end_column"]))
            places = [
                *ends,
                *((place["line"], place["column"]) for place in one["related"] if place["path"] == one["path"]),
            ]
            for line, column in places:
                assert 1 <= line <= len(lines) and 1 <= column <= len(lines[line - 1]) + 1
            assert ends[0] <= ends[1]
        assert json_report.as_data(made("x", 0, 0))["diagnostics"][0]["line"] == 1

    def test_the_place_of_a_word_behind_wide_and_odd_characters_is_counted_in_characters(self, result):
        (one,) = [one for one in json_report.as_data(result)["diagnostics"] if "nonsense" in one["message"]]
        word = FILES["net.prototxt"].split("\n")[one["line"] - 1][one["column"] - 1 : one["end_column"] - 1]
        assert word == "nonsense"

    @pytest.mark.parametrize("unsafe", [False, True])
    def test_its_edits_are_those_that_fix_makes(self, result, unsafe):
        def judge(overlay):
            return lint(["solver.prototxt"], Settings(), {**FILES, **overlay})

        mended = fixing.fix(judge({}), judge, unsafe).texts["net.prototxt"]
        text_now = FILES["net.prototxt"]
        for _ in range(3):
            data = json.loads(json_report.render(judge({"net.prototxt": text_now})))
            edits = [
                edit
                for one in data["diagnostics"]
                if one["fix"] is not None and (unsafe or one["fix"]["safe"]) and one["path"] == "net.prototxt"
                for edit in one["fix"]["edits"]
            ]
            for edit in sorted(edits, key=lambda edit: -edit["start"]):
                text_now = text_now[: edit["start"]] + edit["text"] + text_now[edit["end"] :]
        assert text_now == mended != FILES["net.prototxt"]

    def test_it_is_ascii_whatever_the_text_holds(self, odd):
        said = json_report.render(odd)
        assert said.isascii() and said.endswith("}\n")
        assert json.loads(said)["diagnostics"][0]["message"] == f"message {ODD}"

    def test_nothing_found_is_an_empty_list(self, nothing):
        data = json.loads(json_report.render(nothing))
        assert data["diagnostics"] == [] and [file["path"] for file in data["files"]] == ["clean.prototxt"]
        assert set(data["summary"].values()) == {0, 1}

    def test_no_files_are_empty_lists_and_zeros(self):
        data = json.loads(json_report.render(Result()))
        assert data["files"] == data["diagnostics"] == [] and set(data["summary"].values()) == {0}


def check_region(region: dict) -> None:
    assert set(region) <= {"startLine", "startColumn", "endLine", "endColumn"}
    assert all(type(number) is int and number >= 1 for number in region.values())
    assert (region["startLine"], region["startColumn"]) <= (region["endLine"], region["endColumn"])


def check_uri(artifact: dict) -> None:
    assert re.fullmatch(r"(%[0-9A-F]{2}|[A-Za-z0-9._~/-])+", artifact["uri"]), "a relative reference by RFC 3986"


def check_message(message: dict) -> None:
    assert isinstance(message["text"], str) and message["text"]
    message["text"].encode()


def check_sarif(log: dict) -> dict:
    """What SARIF 2.1.0 requires of the objects that are used; returns the run."""
    assert log["version"] == "2.1.0" and log["$schema"].endswith("sarif-2.1.0.json")
    (run,) = log["runs"]
    assert run["columnKind"] == "unicodeCodePoints"
    driver = run["tool"]["driver"]
    assert driver["name"] == "caffe-guard" and isinstance(driver["version"], str)
    rules = driver["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for rule in rules:
        check_message(rule["shortDescription"])
        check_message(rule["fullDescription"])
        assert rule["defaultConfiguration"]["level"] in ("none", "note", "warning", "error")
    for one in run["results"]:
        assert rules[one["ruleIndex"]]["id"] == one["ruleId"]
        assert one["level"] in ("none", "note", "warning", "error")
        check_message(one["message"])
        assert len(one["locations"]) == 1
        for location in (*one["locations"], *one.get("relatedLocations", ())):
            check_uri(location["physicalLocation"]["artifactLocation"])
            check_region(location["physicalLocation"]["region"])
        ids = [location["id"] for location in one.get("relatedLocations", ())]
        assert len(set(ids)) == len(ids) and all(number >= 0 for number in ids)
        for location in one.get("relatedLocations", ()):
            check_message(location["message"])
        for fix in one.get("fixes", ()):
            check_message(fix["description"])
            assert fix["artifactChanges"]
            for change in fix["artifactChanges"]:
                check_uri(change["artifactLocation"])
                assert change["replacements"]
                for replacement in change["replacements"]:
                    check_region(replacement["deletedRegion"])
                    replacement["insertedContent"]["text"].encode()
    return run


class TestSarif:
    def test_it_has_what_the_standard_requires(self, result):
        run = check_sarif(json.loads(sarif.render(result)))
        assert [one["ruleId"] for one in run["results"]] == [one.code for one in result.diagnostics]

    def test_only_the_rules_that_found_something_are_described(self, result):
        run = check_sarif(json.loads(sarif.render(result)))
        assert {rule["id"] for rule in run["tool"]["driver"]["rules"]} == {one.code for one in result.diagnostics}

    def test_levels_are_those_of_the_findings(self, result):
        levels = {"error": "error", "warning": "warning", "info": "note"}
        run = check_sarif(json.loads(sarif.render(result)))
        assert [one["level"] for one in run["results"]] == [levels[one.severity.label] for one in result.diagnostics]

    def test_places_are_those_of_the_json_report(self, result):
        run = check_sarif(json.loads(sarif.render(result)))
        for one, told in zip(run["results"], json_report.as_data(result)["diagnostics"]):
            place = one["locations"][0]["physicalLocation"]
            assert place["artifactLocation"]["uri"] == told["path"]
            assert list(place["region"].values()) == [
                told["line"], told["column"], told["end_line"], told["end_column"]
            ]  # fmt: skip

    def test_a_related_place_names_its_own_file(self, result):
        run = check_sarif(json.loads(sarif.render(result)))
        (one,) = [one for one in run["results"] if one["ruleId"] == "CG602"]
        (place,) = one["relatedLocations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "net.prototxt"

    def test_its_replacements_are_the_edits(self, result):
        run = check_sarif(json.loads(sarif.render(result)))
        fixed = [(one, told) for one, told in zip(result.diagnostics, run["results"]) if "fixes" in told]
        assert fixed and len(fixed) == sum(one.finding.fix is not None for one in result.diagnostics)
        for one, told in fixed:
            lines = one.source.text.split("\n")
            starts = [sum(len(line) + 1 for line in lines[:number]) for number in range(len(lines))]
            edits = []
            for replacement in told["fixes"][0]["artifactChanges"][0]["replacements"]:
                region = replacement["deletedRegion"]
                start = starts[region["startLine"] - 1] + region["startColumn"] - 1
                end = starts[region["endLine"] - 1] + region["endColumn"] - 1
                edits.append(Edit(start, end, replacement["insertedContent"]["text"]))
            assert edits == list(one.finding.fix.edits)

    @pytest.mark.parametrize("path", ["a b/c#1?.prototxt", "caf\udce9.prototxt", "\u4e2d.prototxt", "100%.prototxt"])
    def test_the_uri_leads_back_to_the_path(self, path):
        run = check_sarif(json.loads(sarif.render(made("x", 0, 1, path=path))))
        uri = run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        assert unquote_to_bytes(uri) == path.encode("utf-8", "surrogateescape")

    def test_any_characters_make_a_valid_log(self, odd):
        said = sarif.render(odd)
        assert said.isascii()
        check_sarif(json.loads(said))

    def test_a_fix_that_moves_bytes_that_are_not_utf_8_makes_a_valid_log(self):
        fix = Fix("read the scores", [Edit(0, 1, '"caf\udce9"')])
        check_sarif(json.loads(sarif.render(made("x", 0, 1, fix=fix))))

    def test_nothing_found_is_a_run_without_results(self, nothing):
        for one in (nothing, Result()):
            run = check_sarif(json.loads(sarif.render(one)))
            assert run["results"] == run["tool"]["driver"]["rules"] == []


def read_commands(said: str) -> list:
    """Workflow commands as the runner reads them: (command, properties, message)."""
    found = []
    assert said == "" or said.endswith("\n")
    for line in said.split("\n")[:-1]:
        command, settings, message = re.fullmatch(r"::(\w+) ([^\n\r]*?)::([^\n\r]*)", line).groups()
        properties = dict(setting.split("=", 1) for setting in settings.split(","))
        found.append((command, {key: unescaped(value) for key, value in properties.items()}, unescaped(message)))
    return found


def unescaped(value: str) -> str:
    assert not re.search("%(?!25|0D|0A|3A|2C)", value)
    for code, character in (("%0D", "\r"), ("%0A", "\n"), ("%3A", ":"), ("%2C", ","), ("%25", "%")):
        value = value.replace(code, character)
    return value


class TestGithub:
    def test_a_finding_is_one_command_on_one_line(self, result):
        commands = read_commands(github.render(result))
        levels = {"error": "error", "warning": "warning", "info": "notice"}
        assert len(commands) == len(result.diagnostics)
        for one, (command, properties, message) in zip(result.diagnostics, commands):
            line, column = one.source.line_column(one.finding.start)
            assert command == levels[one.severity.label]
            assert (properties["file"], properties["line"]) == (one.source.path, str(line))
            assert properties["col"] == str(column)
            assert properties["title"] == f"{one.code} {one.name}"
            assert message.startswith(one.finding.message)

    def test_a_command_begins_with_its_severity_and_place(self, result):
        (line, *_) = github.render(made("x", 0, 1, path="net.prototxt")).splitlines()
        assert line.startswith("::error file=net.prototxt,line=1,")

    def test_columns_are_left_out_where_the_place_spans_lines(self):
        ((_, properties, _),) = read_commands(github.render(made("layer {\n}", 0, 9)))
        assert (properties["line"], properties["endLine"]) == ("1", "2") and "col" not in properties

    def test_help_is_a_line_of_the_message(self):
        ((_, _, message),) = read_commands(github.render(made("x", 0, 1, help="mend it")))
        assert message == "a message\nhelp: mend it"

    @pytest.mark.parametrize("message", ["100% bad", "a\nb", "a\r\nb", "::error::x", "%0A", "a%3Ab"])
    def test_what_the_commands_reserve_is_escaped_in_a_message(self, message):
        ((_, _, read),) = read_commands(github.render(made("x", 0, 1, message)))
        assert read == message

    @pytest.mark.parametrize("path", ["100%.prototxt", "a\nb", "a\rb", "a:b,c=d", "::x", "%2C"])
    def test_what_the_commands_reserve_is_escaped_in_a_path(self, path):
        ((_, properties, _),) = read_commands(github.render(made("x", 0, 1, path=path)))
        assert properties["file"] == path and properties["line"] == "1"

    def test_any_characters_make_one_line_that_can_be_encoded(self, odd):
        said = github.render(odd)
        said.encode()
        assert len(read_commands(said)) == 1

    def test_nothing_found_is_nothing(self, nothing):
        assert github.render(nothing) == github.render(Result()) == ""


NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_junit(said: str) -> ElementTree.Element:
    """The root of a report whose counts agree with what it lists."""
    assert not NOT_XML.search(said)
    root = ElementTree.fromstring(said.encode())
    (suite,) = root
    cases = suite.findall("testcase")
    failed = [case for case in cases if case.find("failure") is not None]
    assert root.tag == "testsuites" and suite.tag == "testsuite" and len(list(suite)) == len(cases)
    for counted in (root, suite):
        assert (counted.get("tests"), counted.get("failures")) == (str(len(cases)), str(len(failed)))
    assert suite.get("errors") == "0"
    for case in cases:
        assert case.get("name") and case.get("classname")
        assert len(case.findall("failure")) <= 1 and len(case.findall("system-out")) <= 1
    return root


class TestJunit:
    def test_it_is_xml_whose_counts_agree(self, result):
        root = check_junit(junit.render(result, Severity.ERROR))
        assert (root.get("tests"), root.get("failures")) == ("4", "2")

    @pytest.mark.parametrize("fail_on", list(Severity))
    def test_a_file_fails_by_findings_at_or_above_the_failing_severity(self, result, fail_on):
        root = check_junit(junit.render(result, fail_on))
        for case in root.iter("testcase"):
            mine = [one for one in result.diagnostics if one.source.path == case.get("name")]
            failures = [one for one in mine if one.severity >= fail_on]
            told = (case.findtext("failure") or "").split("\n") if failures else []
            others = (case.findtext("system-out") or "").split("\n") if len(mine) > len(failures) else []
            assert (len(told), len(others)) == (len(failures), len(mine) - len(failures))
            if failures:
                failure = case.find("failure")
                assert failure.get("type") == failures[0].code
                assert failure.get("message").startswith(f"{len(failures)} found, the first: {case.get('name')}:")
            else:
                assert case.find("failure") is None

    def test_a_file_without_findings_is_a_case_that_passed(self, result):
        root = check_junit(junit.render(result, Severity.INFO))
        (clean,) = [case for case in root.iter("testcase") if case.get("name") == "clean.prototxt"]
        assert list(clean) == []

    def test_what_xml_forbids_does_not_appear(self, odd):
        root = check_junit(junit.render(odd, Severity.ERROR))
        assert "\ufffd" in root.find(".//failure").text

    @pytest.mark.parametrize("character", [*map(chr, range(32)), "\x7f", "\ufffe", "\uffff", "\ud800", "\udce9"])
    def test_a_name_may_hold_any_character(self, character):
        odd_net = f'layer {{ name: "a{character}b" type: "Silence" bottom: "gone{character}" }}\n'
        result = lint(["net.prototxt"], Settings(), {"net.prototxt": odd_net})
        assert result.diagnostics
        check_junit(junit.render(result, Severity.ERROR))

    def test_what_xml_can_hold_is_kept(self):
        kept = "<a href='x'>&\"\u4e2d\u6587 \U0001f600"
        root = check_junit(junit.render(made("x", 0, 1, kept), Severity.ERROR))
        assert kept in root.find(".//failure").text and kept in root.find(".//failure").get("message")

    def test_the_command_writes_the_encoding_that_the_xml_declares(self, tmp_path):
        net = tmp_path / "net.prototxt"
        net.write_bytes('layer { name: "\u00e9" type: "Silence" bottom: "gone" }\n'.encode())
        said = subprocess.run(
            [sys.executable, "-m", "caffe_guard", "lint", "--no-config", "--format", "junit", str(net)],
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONIOENCODING": "latin-1"},
            cwd=os.path.dirname(os.path.dirname(os.path.dirname(GOLDEN))),
        ).stdout
        assert b"<testsuites" in said
        ElementTree.fromstring(said)

    def test_nothing_found_is_a_case_that_passed(self, nothing):
        root = check_junit(junit.render(nothing, Severity.ERROR))
        assert root.get("failures") == "0" and root.get("tests") == "1"

    def test_no_files_are_no_cases(self):
        assert check_junit(junit.render(Result(), Severity.ERROR)).get("tests") == "0"


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
