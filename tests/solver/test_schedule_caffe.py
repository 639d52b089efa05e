"""Our learning rate against real Caffe's, for every policy.

Caffe is put at an iteration by restoring a snapshot of it, so that late iterations cost nothing. multistep
keeps a count in the snapshot and is therefore run from the start.
"""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from caffe_guard.solver.schedule import abort, rate

pytestmark = pytest.mark.caffe

NET = """
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 1 dim: 1 } shape { dim: 1 dim: 1 } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "z"
  inner_product_param { num_output: 1 bias_term: false } }
layer { name: "loss" type: "EuclideanLoss" bottom: "z" bottom: "y" top: "l" }
"""
SOLVER = 'net: "net.prototxt"\ndisplay: 1\nsnapshot_prefix: "x"\nsolver_mode: CPU\n'
ITERATIONS = (0, 1, 2, 7, 100, 5000, 999999, 16777217, 2000000000)

GAMMAS = ("0", "0.1", "0.9", "0.9999", "1", "1.1", "10")
POWERS = ("0", "0.5", "0.75", "1", "2", "-1", "10")
CASES = [
    'lr_policy: "fixed" base_lr: 0.01',
    'lr_policy: "fixed" base_lr: -0.1',
    'lr_policy: "fixed" base_lr: 1e39',
    'lr_policy: "fixed"',
    *(f'lr_policy: "exp" base_lr: 0.01 gamma: {gamma}' for gamma in GAMMAS),
    *(f'lr_policy: "step" base_lr: 0.3 gamma: {gamma} stepsize: 7' for gamma in GAMMAS),
    *(f'lr_policy: "sigmoid" base_lr: 0.3 gamma: {gamma} stepsize: 100' for gamma in GAMMAS),
    *(f'lr_policy: "sigmoid" base_lr: 1e30 gamma: {gamma} stepsize: 100' for gamma in GAMMAS),
    *(
        f'lr_policy: "inv" base_lr: {base} gamma: {gamma} power: {power}'
        for base in ("0.01", "1e-10")
        for gamma in ("0", "0.0001", "1", "10")
        for power in POWERS
    ),
    *(
        f'lr_policy: "poly" base_lr: {base} power: {power} max_iter: {end}'
        for base in ("0.01", "1e-30")
        for power in POWERS
        for end in (0, 1, 100, 16777217, -5)
    ),
]


def _varint(number: int) -> bytes:
    digits = bytearray()
    while number > 127:
        digits.append(number & 127 | 128)
        number >>= 7
    return bytes([*digits, number])


def snapshot_of(iteration: int) -> bytes:
    """A SolverState (caffe.proto) at an iteration, with the history of one 1 x 1 blob."""
    shape = b"\x0a\x02\x01\x01"
    history = b"\x3a" + _varint(len(shape)) + shape + b"\x2a\x04" + struct.pack("<f", 0.0)
    return b"\x08" + _varint(iteration) + b"\x1a" + _varint(len(history)) + history


def printed(value: float) -> str:
    return "nan" if math.isnan(value) else f"{value:g}"


@pytest.mark.parametrize("text", CASES)
def test_the_rate_is_caffes(judge: Any, solver: Any, text: str) -> None:
    ours, caffes = {}, {}
    for iteration in ITERATIONS:
        seen = judge.solve(
            SOLVER + text,
            files={"net.prototxt": NET, "at.solverstate": snapshot_of(iteration)},
            restore="at.solverstate",
        )
        assert seen.lrs, seen.message
        ours[iteration] = printed(rate(solver(text), iteration))
        caffes.update({at: printed(value) for at, value in seen.lrs})
    assert ours == caffes


@pytest.mark.parametrize(
    "values",
    [(), (3,), (3, 5), (5, 3), (3, 3, 3), (0, 4), (-2, -2, 4), (7, 2, 3, 7, 1)],
)
@pytest.mark.parametrize("gamma", ["0", "0.1", "2"])
def test_multistep(judge: Any, solver: Any, values: tuple[int, ...], gamma: str) -> None:
    text = f'base_lr: 0.3 lr_policy: "multistep" gamma: {gamma} ' + " ".join(f"stepvalue: {value}" for value in values)
    caffes = judge.rates(text, range(14))
    assert {at: rate(solver(text), at) for at in range(14)} == caffes


@pytest.mark.parametrize(
    "text",
    [
        'base_lr: 0.3 lr_policy: "step" gamma: 0.7 stepsize: 3',
        'base_lr: 0.3 lr_policy: "exp" gamma: 0.97',
        'base_lr: 0.3 lr_policy: "inv" gamma: 0.03 power: 0.7',
        'base_lr: 0.3 lr_policy: "poly" power: 0.9 max_iter: 50',
        'base_lr: 0.3 lr_policy: "sigmoid" gamma: 0.3 stepsize: 20',
    ],
)
def test_equal_to_the_last_bit(judge: Any, solver: Any, text: str) -> None:
    assert {at: rate(solver(text), at) for at in range(50)} == judge.rates(text, range(50))


@pytest.mark.parametrize(
    "text",
    [
        "base_lr: 1",
        'base_lr: 1 lr_policy: "Step"',
        'base_lr: 1 lr_policy: "plateau"',
        'base_lr: 1 lr_policy: "step" gamma: 0.1',
        'base_lr: 1 lr_policy: "step" gamma: 0.1 stepsize: -5',
        'base_lr: 1 lr_policy: "step" gamma: -0.1 stepsize: 5',
        'base_lr: 1 lr_policy: "exp" gamma: -1',
        'base_lr: 1 lr_policy: "inv" gamma: -1',
        'base_lr: 1 lr_policy: "multistep" gamma: -1',
        'base_lr: 1 lr_policy: "sigmoid" gamma: 1',
        'base_lr: 1 lr_policy: "sigmoid" gamma: -1 stepsize: 1',
    ],
)
def test_aborts(judge: Any, solver: Any, text: str) -> None:
    verdict = judge.solve(SOLVER + text, files={"net.prototxt": NET})
    assert verdict.result == "aborts"
    assert verdict.file == "sgd_solver.cpp"
    # The schedule does not refuse a policy of forks; the rule for unknown policies knows the dialect.
    assert abort(solver(text)) is not None or '"plateau"' in text


def test_what_the_train_command_prints(judge: Any, solver: Any) -> None:
    text = 'base_lr: 0.01 lr_policy: "inv" gamma: 0.1 power: 0.75 max_iter: 12'
    verdict = judge.solve(SOLVER + text, files={"net.prototxt": NET}, mode="binary")
    assert len(verdict.logged_lrs) == 12
    assert [f"{value:g}" for _, value in verdict.logged_lrs] == [f"{rate(solver(text), at):g}" for at in range(12)]
