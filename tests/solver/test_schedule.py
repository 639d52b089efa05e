"""The schedule without Caffe; test_schedule_caffe.py asks Caffe itself."""

from __future__ import annotations

import math
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caffe_guard.solver.schedule import HUGE, abort, fault, first_bad, pieces, rate, step_iterations

STEP = 'base_lr: 0.01 lr_policy: "step" gamma: 0.1 stepsize: 100 max_iter: 400'


def shown(solver: Any, *iterations: int) -> list[str]:
    return [f"{rate(solver, iteration):g}" for iteration in iterations]


def test_each_policy(solver: Any) -> None:
    assert shown(solver('base_lr: 0.01 lr_policy: "fixed"'), 0, 10**9) == ["0.01", "0.01"]
    assert shown(solver(STEP), 0, 99, 100, 399) == ["0.01", "0.01", "0.001", "1e-05"]
    assert shown(solver('base_lr: 1 lr_policy: "exp" gamma: 0.5'), 0, 1, 10) == ["1", "0.5", "0.000976562"]
    assert shown(solver('base_lr: 1 lr_policy: "inv" gamma: 1 power: 0.5'), 0, 3) == ["1", "0.5"]
    assert shown(solver('base_lr: 1 lr_policy: "poly" power: 2 max_iter: 4'), 0, 2, 4) == ["1", "0.25", "0"]
    assert shown(solver('base_lr: 1 lr_policy: "sigmoid" gamma: 1 stepsize: 5'), 5) == ["0.5"]


def test_multistep_takes_one_step_an_iteration(solver: Any) -> None:
    made = solver('base_lr: 1 lr_policy: "multistep" gamma: 0.1 stepvalue: 5 stepvalue: 3 stepvalue: 5 stepvalue: 9')
    assert step_iterations(made) == [5, 6, 7, 9]
    assert shown(made, 4, 5, 6, 7, 8, 9) == ["1", "0.1", "0.01", "0.001", "0.001", "0.0001"]


def test_multistep_without_stepvalue_is_constant(solver: Any) -> None:
    assert shown(solver('base_lr: 1 lr_policy: "multistep"'), 0, 10**6) == ["1", "1"]


def test_poly_without_max_iter(solver: Any) -> None:
    made = solver('base_lr: 1 lr_policy: "poly" power: 1')
    assert math.isnan(rate(made, 0))
    assert rate(made, 1) == -math.inf
    assert shown(solver('base_lr: 1 lr_policy: "poly"'), 0, 1) == ["1", "1"]


def test_poly_beyond_its_end(solver: Any) -> None:
    assert math.isnan(rate(solver('base_lr: 1 lr_policy: "poly" power: 0.5 max_iter: 10'), 11))
    assert rate(solver('base_lr: 1 lr_policy: "poly" power: 1 max_iter: 10'), 20) == -1


def test_unknown_rates(solver: Any) -> None:
    assert rate(solver('base_lr: 1 lr_policy: "Step"'), 0) is None
    assert rate(solver('base_lr: 1 lr_policy: "step"'), 0) is None
    assert rate(solver('base_lr: 1 lr_policy: "plateau"'), 0) is None


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('lr_policy: "step" gamma: 0.1', "stepsize"),
        ('lr_policy: "step" gamma: 0.1 stepsize: -1', "stepsize"),
        ('lr_policy: "sigmoid" gamma: 0.1', "stepsize"),
        ('lr_policy: "exp" gamma: -0.1', "gamma"),
        ('lr_policy: "inv" gamma: -0.1', "gamma"),
        ('lr_policy: "multistep" gamma: -0.1', "gamma"),
        ('lr_policy: "poly"', None),
        ('lr_policy: "fixed" gamma: -1', None),
        ('lr_policy: "nope"', "lr_policy"),
        ("", "lr_policy"),
        ('lr_policy: "plateau"', None),
    ],
)
def test_aborts(solver: Any, text: str, field: str | None) -> None:
    made = solver(text)
    found = abort(made)
    assert (found and found.field) == field
    bad = first_bad(made, 0, 10)
    assert (bad is not None and bad.reason == "aborts") == (field is not None)


def test_what_is_wrong_with_a_rate() -> None:
    assert fault(0.1) is None
    assert [fault(value) for value in (math.nan, math.inf, -math.inf, -1.0, 0.0, -0.0, HUGE)] == [
        "nan",
        "inf",
        "inf",
        "negative",
        "zero",
        "zero",
        "huge",
    ]


@pytest.mark.parametrize(
    ("text", "iteration", "reason"),
    [
        ('base_lr: 0.01 lr_policy: "step" gamma: 0.1 stepsize: 10 max_iter: 1000000000', 440, "zero"),
        ('base_lr: 0.01 lr_policy: "step" stepsize: 10 max_iter: 1000000000', 10, "zero"),
        ('base_lr: 0.01 lr_policy: "exp" max_iter: 100', 1, "zero"),
        ('base_lr: 0.01 lr_policy: "exp" gamma: 1.05 max_iter: 1000000000', 236, "huge"),
        ('base_lr: 0.01 lr_policy: "exp" gamma: 1e30 max_iter: 10', 1, "huge"),
        ('base_lr: 0.01 lr_policy: "inv" gamma: 1 power: -3 max_iter: 1000000000', 46, "huge"),
        ('base_lr: 0.01 lr_policy: "poly" power: 1 max_iter: 0', 0, "nan"),
        (
            'base_lr: 1 lr_policy: "multistep" gamma: 1e-20 max_iter: 30 stepvalue: [7, 9, 20]',
            20,
            "zero",
        ),
        ('base_lr: 0.01 lr_policy: "sigmoid" gamma: 5 stepsize: 500 max_iter: 1000', 0, "zero"),
        ('base_lr: -1 lr_policy: "fixed" max_iter: 10', 0, "negative"),
        ('base_lr: 0 lr_policy: "fixed" max_iter: 10', 0, "zero"),
        ('base_lr: nan lr_policy: "fixed" max_iter: 10', 0, "nan"),
    ],
)
def test_the_first_bad_iteration(solver: Any, text: str, iteration: int, reason: str) -> None:
    bad = first_bad(solver(text))
    assert bad is not None
    assert (bad.iteration, bad.reason) == (iteration, reason)


@pytest.mark.parametrize(
    "text",
    [
        STEP,
        'base_lr: 0.01 lr_policy: "poly" power: 0.9 max_iter: 1000000',
        'base_lr: 0.01 lr_policy: "inv" gamma: 0.0001 power: 0.75 max_iter: 1000000000',
        'base_lr: 0.01 lr_policy: "fixed"',
        'base_lr: 1 lr_policy: "plateau" max_iter: 100',
    ],
)
def test_sound_schedules(solver: Any, text: str) -> None:
    assert first_bad(solver(text)) is None


def test_poly_past_its_end(solver: Any) -> None:
    made = solver('base_lr: 0.01 lr_policy: "poly" power: 0.9 max_iter: 1000')
    bad = first_bad(made, 0, 2000)
    assert bad is not None
    assert (bad.iteration, bad.reason) == (1000, "zero")
    bad = first_bad(made, 1001, 2000)
    assert bad is not None
    assert (bad.iteration, bad.reason) == (1001, "nan")


def test_no_iteration_no_fault(solver: Any) -> None:
    assert first_bad(solver('lr_policy: "nope"'), 5, 5) is None


def test_a_long_run_takes_no_time(solver: Any) -> None:
    made = solver('base_lr: 0.01 lr_policy: "exp" gamma: 0.99999999 max_iter: 2147483647')
    start = time.perf_counter()
    first_bad(made)
    assert time.perf_counter() - start < 0.5


POLICY = st.sampled_from(["fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid"])
NUMBER = st.sampled_from(["0", "1e-30", "0.1", "0.9", "1", "1.1", "2", "1e10", "1e38"])


@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    POLICY,
    NUMBER,
    NUMBER,
    st.sampled_from(["-2", "-0.5", "0", "0.5", "1", "2", "30"]),
    st.integers(-3, 12),
    st.integers(-3, 60),
    st.lists(st.integers(-2, 60), max_size=4),
)
def test_bisection_finds_what_a_loop_finds(
    solver: Any,
    policy: str,
    base: str,
    gamma: str,
    power: str,
    stepsize: int,
    max_iter: int,
    values: list[int],
) -> None:
    made = solver(
        f'base_lr: {base} gamma: {gamma} power: {power} lr_policy: "{policy}" '
        f"stepsize: {stepsize} max_iter: {max_iter} stepvalue: {values}"
    )
    found = first_bad(made, 0, 80)
    if abort(made) is not None:
        assert found is not None
        assert found.reason == "aborts"
        return
    rates = [rate(made, iteration) for iteration in range(80)]
    expected = next((index for index, value in enumerate(rates) if value is not None and fault(value)), None)
    assert (found.iteration if found else None) == expected


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 50), st.integers(0, 60), st.integers(0, 60))
def test_pieces_cover_the_run(solver: Any, max_iter: int, start: int, stop: int) -> None:
    made = solver(f'lr_policy: "poly" max_iter: {max_iter}')
    covered = [iteration for first, last in pieces(made, start, stop) for iteration in range(first, last + 1)]
    assert covered == list(range(start, stop))


# --- forks ----------------------------------------------------------------------------------------


def test_intels_warm_up(solver: Any) -> None:
    made = solver('base_lr: 1 lr_policy: "fixed" warmup_iter: 10 warmup_start_lr: 0.5 max_iter: 20', "intel")
    assert shown(made, 0, 5, 10, 19) == ["0.5", "0.75", "1", "1"]
    assert first_bad(made) is None


def test_multifixed(solver: Any) -> None:
    made = solver(
        'lr_policy: "multifixed" stagelr: 0.1 stagelr: 0.01 stageiter: 10 stageiter: 20 max_iter: 30', "intel"
    )
    assert shown(made, 0, 10, 11, 25) == ["0.1", "0.1", "0.01", "0.01"]
    assert first_bad(made) is None


def test_nvidias_poly(solver: Any) -> None:
    made = solver('base_lr: 1 lr_policy: "poly" power: 1 max_iter: 10 min_lr: 0.3', "nvcaffe")
    assert shown(made, 0, 5, 9) == ["1", "0.5", "0.3"]
    assert rate(solver('base_lr: 1 lr_policy: "poly" power: 1', "nvcaffe"), 1) == 0


def test_nvidias_ramp_is_unknown(solver: Any) -> None:
    made = solver('base_lr: 1 lr_policy: "fixed" rampup_interval: 5 max_iter: 10', "nvcaffe")
    assert rate(made, 4) is None
    assert rate(made, 5) == 1
    assert first_bad(made) is None
