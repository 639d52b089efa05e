"""`lint` starts fast: it imports little, and reads a plain command line without argparse."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

import pytest

from caffe_guard.cli import _only_paths, _PlainArguments, lint

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Each of these costs a good part of what the whole of lint may take (see `make bench`).
_HEAVY = """
argparse click dataclasses difflib google.protobuf inspect jinja2 json logging matplotlib numpy pathlib rich
tempfile textwrap tomllib typing unittest urllib xml
"""
SOLVER = 'net: "net.prototxt"\nbase_lr: 0.1\nlr_policy: "fixed"\nmax_iter: 9\n'
NET = 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 2 } } }\n'


def test_linting_imports_nothing_heavy(tmp_path):
    (tmp_path / "solver.prototxt").write_text(SOLVER)
    (tmp_path / "net.prototxt").write_text(NET)
    script = (
        "import sys; before = set(sys.modules); from caffe_guard.cli import main; main(['lint', 'solver.prototxt']);"
        "print(*sorted(set(sys.modules) - before), sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT},
        capture_output=True,
        text=True,
        check=True,
    )
    assert sorted(set(done.stdout.split()) & set(_HEAVY.split())) == []


def test_a_plain_command_line_gives_what_argparse_gives():
    parser = argparse.ArgumentParser()
    lint.configure(parser)
    plain = _PlainArguments()
    lint.configure(plain)
    plain.paths = ["a.prototxt"]
    assert vars(plain) == vars(parser.parse_args(["a.prototxt"]))


@pytest.mark.parametrize(
    ("words", "plain"),
    [
        (["a"], True),
        (["a", "-"], True),
        ([], False),
        (["--fix", "a"], False),
        (["a", "-q"], False),
        (["--", "a"], False),
    ],
)
def test_only_paths_are_plain(words, plain):
    assert _only_paths(words) is plain
