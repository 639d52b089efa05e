"""What the rules' examples say of Caffe, asked of real Caffe."""

from __future__ import annotations

import pytest

from caffe_guard.rules import all_rules
from caffe_guard.rules.examples import example_files, main_file

pytestmark = pytest.mark.caffe
_STEPS = 4


def _examples() -> list:
    return [
        pytest.param(rule, example, id=f"{rule.code}-{which}-{index}")
        for rule in all_rules()
        for which in ("bad", "good")
        for index, example in enumerate(getattr(rule, which))
        if example.caffe is not None and rule.scope != "solver"  # tests/solver asks those
    ]


@pytest.mark.parametrize(("rule", "example"), _examples())
def test_real_caffe_does_what_the_example_says(judge, rule, example):
    files = example_files(rule, example)
    text = files.pop(main_file(rule))
    if "solver.prototxt" in files:
        verdict = judge.solve(path="solver.prototxt", files={**files, main_file(rule): text}, steps=_STEPS)
    else:
        verdict = judge.forward(text, phase=example.phase, files=files, iterations=2, backward=example.phase == "TRAIN")
    assert verdict.result == example.caffe, f"{verdict.message}\n{verdict.log[-500:]}"
