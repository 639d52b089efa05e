"""The README says what is so."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from caffe_guard.cli import COMMANDS
from caffe_guard.rules import all_rules

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as _stream:
    README = _stream.read()


def test_generated_parts_are_fresh():
    done = subprocess.run(
        [sys.executable, os.path.join(ROOT, "tools", "update_docs.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_every_code_that_is_named_exists():
    codes = {rule.code for rule in all_rules()}
    named = set(re.findall(r"\bCG\d{3}\b", README))
    assert named - codes <= {"CG399"}


def test_every_command_that_is_shown_exists():
    shown = set(re.findall(r"(?:^|\$ |`|run: )caffe-guard ([a-z]+)\b", README, re.MULTILINE)) - {"reads"}
    assert shown <= set(COMMANDS), shown - set(COMMANDS)


@pytest.mark.parametrize("target", ["demo", "test", "check", "bench", "caffe", "schema", "docs", "fuzz", "clean"])
def test_makefile_has_every_target_that_is_named(target):
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as stream:
        assert f"\n{target}:" in stream.read()


def test_folders_that_are_named_are_there():
    for folder in re.findall(r"^\| `([a-z_/]+)`", README, re.MULTILINE):
        assert os.path.isdir(os.path.join(ROOT, folder)), folder


def _shown(command: str) -> str:
    """What the README shows as the output of a command."""
    begin = README.index(f"$ {command}\n") + len(f"$ {command}\n")
    return README[begin : README.index("```", begin)]


def _demo():
    """The files of `make demo`."""
    sys.path.insert(0, os.path.join(ROOT, "tools"))
    try:
        import demo
    finally:
        sys.path.pop(0)
    return demo


def _output(folder, *words: str) -> str:
    return subprocess.run(
        [sys.executable, "-m", "caffe_guard", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


def test_shown_findings_are_what_lint_prints(tmp_path):
    demo = _demo()
    filler = 'weight_filler { type: "xavier" }'
    (tmp_path / "solver.prototxt").write_text(demo.SOLVER)
    (tmp_path / "train_val.prototxt").write_text(
        demo.READABLE.replace(filler, filler + ' bias_filler { type: "constant" }')
    )
    assert _output(tmp_path, "lint", "solver.prototxt") == _shown("caffe-guard lint solver.prototxt")


def test_shown_shapes_are_what_shapes_prints(tmp_path):
    (tmp_path / "train_val.prototxt").write_text(_demo().READABLE)
    assert _output(tmp_path, "shapes", "train_val.prototxt") == _shown("caffe-guard shapes train_val.prototxt")


def test_shown_rates_are_what_lr_prints(tmp_path):
    (tmp_path / "solver.prototxt").write_text(
        'net: "n" base_lr: 0.01 lr_policy: "multistep" gamma: 0.1 stepvalue: 300000 stepvalue: 400000 max_iter: 450000'
    )
    assert _output(tmp_path, "lr", "solver.prototxt") == _shown("caffe-guard lr solver.prototxt")
