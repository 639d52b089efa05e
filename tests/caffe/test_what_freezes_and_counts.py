"""What the rules say of frozen layers and ignored labels, seen in real Caffe."""

from __future__ import annotations

from typing import Any

import pytest

from caffe_guard.rules import find_rule

pytestmark = pytest.mark.caffe
SOLVER = 'net: "net.prototxt"\nbase_lr: 0.1\nlr_policy: "fixed"\nmax_iter: 3\nrandom_seed: 1\nsnapshot_prefix: "s"\n'
ACCURACY = """\
layer { name: "data" type: "Input" top: "s" top: "l" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
layer { name: "acc" type: "Accuracy" bottom: "s" bottom: "l" top: "acc" %s }
"""


def _moves(judge: Any, text: str) -> bool:
    """Whether three iterations change any weight or bias."""
    hashes = [
        judge.solve(
            files={"solver.prototxt": SOLVER, "net.prototxt": text}, path="solver.prototxt", steps=steps
        ).weights_sha256
        for steps in (0, 3)
    ]
    assert all(hashes)
    return bool(hashes[0] != hashes[1])


def test_one_param_freezes_the_weights_only(judge: Any) -> None:
    rule = find_rule("CG226")
    assert rule is not None
    for example in rule.bad:
        assert _moves(judge, example.text)
        assert example.fixed is not None and not _moves(judge, example.fixed)


def test_an_ignored_label_is_left_out_of_the_accuracy_only_when_it_says_so(judge: Any) -> None:
    """Two of four records have the label in question, and the others are right."""
    inputs = {"s": [1.0, 0.0, 0.0] * 4, "l": [0, 0, 1, 1]}
    told = judge.forward(ACCURACY % "accuracy_param { ignore_label: 1 }", phase="TEST", inputs=inputs, values=["acc"])
    untold = judge.forward(ACCURACY % "", phase="TEST", inputs=inputs, values=["acc"])
    assert told.values["acc"] == [1.0]
    assert untold.values["acc"] == [0.5]
