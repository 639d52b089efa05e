"""Public files that nobody of this project wrote: read whole, judged without a crash, taken or refused as protobuf does.

The files lie outside the project, in the folder that CAFFE_GUARD_SHARED names; without it these tests are skipped.
"""

from __future__ import annotations

import os
import re

import pytest

from caffe_guard import files
from caffe_guard.config import Settings
from caffe_guard.dialect import detect
from caffe_guard.engine import lint
from caffe_guard.prototxt import parse
from caffe_guard.schema.bind import bind
from caffe_guard.schema.dialects import DIALECTS, schema_for
from caffe_guard.source import Source

SHARED = os.path.abspath(
    os.environ.get("CAFFE_GUARD_SHARED", os.path.join(os.path.dirname(__file__), "..", "..", "shared"))
)
CORPUS = os.path.join(SHARED, "corpus", "dev")


def _rows() -> list:
    index = os.path.join(CORPUS, "INDEX.tsv")
    if not os.path.isfile(index):
        return []
    with open(index, encoding="utf-8") as stream:
        lines = [line.rstrip("\n").split("\t") for line in stream]
    return [dict(zip(lines[0], line)) for line in lines[1:]]


ROWS = _rows()
TEXTS = [row for row in ROWS if row["path"].endswith(".prototxt") or row["kind"].startswith(("net", "solver"))]
pytestmark = pytest.mark.skipif(not ROWS, reason="the shared corpus is not here (CAFFE_GUARD_SHARED)")


def _bytes(row) -> bytes:
    with open(os.path.join(CORPUS, row["path"]), "rb") as stream:
        return stream.read()


def _by_path(row) -> str:
    return row["path"]


@pytest.mark.parametrize("row", ROWS, ids=_by_path)
def test_every_file_comes_back_byte_for_byte(row):
    data = _bytes(row)
    source = Source.from_bytes(row["path"], data)
    assert parse(source.text).print() == source.text
    assert source.encode() == data


@pytest.mark.parametrize("row", TEXTS, ids=_by_path)
def test_no_rule_crashes(row):
    result = lint([os.path.join(CORPUS, row["path"])], Settings())
    assert [one.finding.message for one in result.diagnostics if one.code == "CG000"] == []


def _judged_by_protobuf() -> list:
    return [row for row in TEXTS if row["bvlc_proto"] not in ("-", "") and row["kind"].startswith(("net", "solver"))]


@pytest.mark.parametrize("row", _judged_by_protobuf(), ids=_by_path)
def test_bvlc_schema_takes_or_refuses_it_as_protobuf_does(row):
    """Refused files are refused at the same line: protobuf stops there, caffe-guard's first problem stands there."""
    source = Source.from_bytes(row["path"], _bytes(row))
    tree = parse(source.text)
    kind = "SolverParameter" if row["kind"].startswith("solver") else "NetParameter"
    problems = sorted([*tree.problems, *bind(tree, kind, schema_for("bvlc")).problems], key=lambda one: one.start)
    if row["bvlc_proto"] == "ok":
        assert [problem.message for problem in problems] == []
        return
    assert problems
    line = int(re.match(r"(\d+):", row["bvlc_proto"]).group(1))
    ours = source.line_column(problems[0].start)[0]
    # A value that is refused, or a field given twice, is noticed behind it, at times on the next line.
    assert ours <= line
    assert any(line - 1 <= source.line_column(problem.start)[0] <= line for problem in problems)


# Fields that no fork has but the repository of the file itself, whose schema the facts do not hold.
ONE_REPOSITORYS_OWN = ("MhLiao__TextBoxes_plusplus/models/deploy.prototxt",)


def test_detected_dialects_take_what_some_fork_takes():
    """Where the index knows a fork that reads the file, a fork is found that reads it too."""
    wrong = []
    for row in _judged_by_protobuf():
        if row["bvlc_proto"] == "ok" or row["accepted_by"] in ("-", "") or row["path"] in ONE_REPOSITORYS_OWN:
            continue
        source = Source.from_bytes(row["path"], _bytes(row))
        tree = parse(source.text)
        kind = "SolverParameter" if row["kind"].startswith("solver") else "NetParameter"
        found = detect([(tree, kind, bind(tree, kind, schema_for("bvlc")))])
        if bind(tree, kind, schema_for(found)).problems:
            wrong.append(f"{row['path']}: found {found}, the index names {row['accepted_by']}")
    assert not wrong, "\n".join(wrong)


def test_kinds_are_recognised():
    wrong = []
    for row in TEXTS:
        kind = row["kind"]
        if not kind.startswith(("net-train", "net-deploy", "solver", "labelmap")):
            continue
        told = files.classify(parse(Source.from_bytes("x", _bytes(row)).text))
        expected = files.SOLVER if kind == "solver" else files.LABEL_MAP if kind == "labelmap" else files.NET
        if told != expected:
            wrong.append(f"{row['path']}: {told}, not {expected}")
    assert not wrong, "\n".join(wrong)


def test_every_dialect_has_a_schema():
    assert all(schema_for(name).message("NetParameter") is not None for name in DIALECTS)
