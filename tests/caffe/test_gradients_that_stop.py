"""What the rules say about layers that learn nothing, seen in real Caffe's gradients."""

from __future__ import annotations

from typing import Any, Dict

import pytest

from caffe_guard.rules import find_rule
from caffe_guard.rules.rule import Example

pytestmark = pytest.mark.caffe


def gradients(judge: Any, example: Example, text: str) -> Dict[str, bool]:
    """By layer with weights, whether any gradient of its weights is not 0 after one backward pass."""
    files = {name: content for name, content in example.files.items() if not name.endswith(".prototxt")}
    verdict = judge.forward(text, backward=True, files=files)
    assert verdict.result == "finite", verdict.message
    return {
        name: any(blob["min"] != 0 or blob["max"] != 0 for blob in blobs) for name, blobs in verdict.param_diffs.items()
    }


@pytest.mark.parametrize(
    ("code", "dead"),
    [
        ("CG210", ({"fc"}, {"fc"})),
        ("CG211", ({"fc"}, {"side"})),
        ("CG225", ({"fc"},)),
        ("CG406", ({"ip"}, {"ip"}, {"ip"})),
    ],
)
def test_bad_examples_leave_the_layers_without_gradient(judge: Any, code: str, dead: Any) -> None:
    rule = find_rule(code)
    assert rule is not None and len(rule.bad) == len(dead)
    for example, names in zip(rule.bad, dead):
        assert {name for name, moves in gradients(judge, example, example.text).items() if not moves} == names


@pytest.mark.parametrize("code", ["CG210", "CG211", "CG225", "CG406"])
def test_good_and_mended_examples_learn(judge: Any, code: str) -> None:
    rule = find_rule(code)
    assert rule is not None
    texts = [(example, example.text) for example in rule.good]
    texts += [(example, example.fixed) for example in rule.bad if example.fixed is not None]
    for example, text in texts:
        moves = gradients(judge, example, text)
        assert moves and all(moves.values()), text
