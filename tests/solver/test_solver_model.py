"""The typed view of a solver."""

from __future__ import annotations

from typing import Any

import pytest


def text_at(solver: Any, text: str, *names: str) -> str:
    start, end = solver.place(*names)
    return text[start:end]


def test_defaults_are_caffes(solver: Any) -> None:
    empty = solver('net: "n"')
    assert (empty.base_lr, empty.gamma, empty.power, empty.momentum, empty.weight_decay) == (0, 0, 0, 0, 0)
    assert (empty.stepsize, empty.max_iter, empty.iter_size, empty.stepvalues) == (0, 0, 1, [])
    assert empty.policy == ""
    assert empty.type_name == "SGD"
    assert empty.real("delta") == pytest.approx(1e-8)
    assert empty.real("rms_decay") == pytest.approx(0.99)
    assert empty.real("clip_gradients") == -1


def test_numbers_are_float32(solver: Any) -> None:
    assert solver("base_lr: 0.1").base_lr == 0.10000000149011612
    assert solver("base_lr: 1e39").base_lr == float("inf")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('type: "Adam"', "Adam"),
        ("solver_type: ADAM", "Adam"),
        ("solver_type: 2", "AdaGrad"),
        ("solver_type: NESTEROV", "Nesterov"),
        ('type: "SGD" solver_type: ADAM', "SGD"),
        ('type: "mine"', "mine"),
    ],
)
def test_solver_type(solver: Any, text: str, name: str) -> None:
    assert solver(text).type_name == name


def test_places(solver: Any) -> None:
    text = 'net: "n"  base_lr: 0.1  lr_policy: "step"  gamma: 0.5'
    made = solver(text)
    assert text_at(made, text, "gamma") == "gamma: 0.5"
    assert text_at(made, text, "stepsize") == 'lr_policy: "step"'
    assert text_at(made, text, "stepsize", "base_lr") == "base_lr: 0.1"


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ('net: "n" lr_policy: "step"', 'lr_policy: "step"'),
        ('net: "n" base_lr: 1', "base_lr: 1"),
        ('display: 1 net: "n"', "display: 1"),
        ("", ""),
    ],
)
def test_anchor(solver: Any, text: str, anchor: str) -> None:
    start, end = solver(text).anchor
    assert text[start:end] == anchor


def described(solver: Any) -> list[tuple[str, str, int, object]]:
    return [(one.field, one.role, one.index, one.path) for one in solver.net_sources()]


def test_net_sources_in_caffes_order(solver: Any) -> None:
    made = solver('net: "n" test_net: "a" test_net_param { name: "b" } test_iter: 1 test_iter: 2 test_iter: 3')
    assert described(made) == [
        ("net", "train", 0, "n"),
        ("test_net_param", "test", 0, None),
        ("test_net", "test", 1, "a"),
        ("net", "test", 2, "n"),
    ]
    assert made.net_sources()[1].inline.get("name") == "b"


def test_net_without_test_iter_is_not_tested(solver: Any) -> None:
    assert described(solver('net: "n" test_interval: 5')) == [("net", "train", 0, "n")]


def test_train_net_has_no_test_net_of_its_own(solver: Any) -> None:
    assert described(solver('train_net: "n" test_iter: 5')) == [("train_net", "train", 0, "n")]


def test_several_train_nets_are_all_given(solver: Any) -> None:
    made = solver('train_net: "a" net: "b" test_iter: 1 test_interval: 1')
    assert [one[:2] for one in described(made)] == [("net", "train"), ("train_net", "train"), ("net", "test")]


def test_states(solver: Any) -> None:
    made = solver('train_state { stage: "x" } test_state { } test_state { level: 2 }')
    assert made.train_state.get("stage") == ["x"]
    assert [state.get("level") for state in made.test_states] == [0, 2]
    assert solver("").train_state is None


def test_old_forks_lack_the_type_field(solver: Any) -> None:
    old = solver("solver_type: ADAGRAD", "segnet")
    assert not old.knows("type")
    assert old.type_name == "AdaGrad"
    assert solver("", "segnet").type_name == "SGD"
