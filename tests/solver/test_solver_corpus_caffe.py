"""Public solvers with a small net in place of theirs: we speak of an abort just where real Caffe aborts."""

from __future__ import annotations

import csv
import os
import re
from pathlib import Path
from typing import Any

import pytest

from caffe_guard.config import Settings
from caffe_guard.engine import lint
from caffe_guard.rules.solver._example_net import NET

pytestmark = pytest.mark.caffe

CORPUS = Path(os.environ.get("CAFFE_GUARD_SHARED", Path(__file__).parents[3] / "shared")) / "corpus" / "dev"


def solvers() -> list[str]:
    """The solvers that BVLC's parser takes and that name their nets by file."""
    if not (CORPUS / "INDEX.tsv").is_file():
        return []
    with open(CORPUS / "INDEX.tsv", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        row["path"]
        for row in rows
        if row["kind"] == "solver"
        and row["bvlc_proto"] == "ok"
        and "_param {" not in (CORPUS / row["path"]).read_text()
    ]


def test_there_is_a_corpus() -> None:
    if not solvers():
        pytest.skip(f"no corpus in {CORPUS}; set CAFFE_GUARD_SHARED")
    assert len(solvers()) > 20


@pytest.mark.parametrize("name", solvers())
def test_public_solver(judge: Any, tmp_path: Path, name: str) -> None:
    text = (CORPUS / name).read_text(errors="surrogateescape")
    text = re.sub(r'(?m)^(\s*(?:net|train_net|test_net)\s*:\s*)(["\']).*?\2', r'\1"net.prototxt"', text)
    text = re.sub(r'(?m)^(\s*snapshot_prefix\s*:\s*)(["\']).*?\2', r'\1"x"', text)
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(text, errors="surrogateescape")
    settings = Settings()
    settings.select = ("CG1",)
    settings.dialect = "bvlc"
    found = lint([str(tmp_path / "solver.prototxt")], settings).diagnostics
    errors = [one.finding.message for one in found if one.code.startswith("CG1") and one.severity.label == "error"]
    verdict = judge.solve(text, files={"net.prototxt": NET}, steps=2)
    assert any("Caffe aborts" in message for message in errors) == (verdict.result == "aborts"), verdict.message
    if verdict.result == "finite":
        assert errors == []
