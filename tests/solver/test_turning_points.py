"""The table of a schedule."""

from __future__ import annotations

from typing import Any

from caffe_guard.solver.turning_points import MANY_STEPS, turning_points


def listed(solver: Any, run: int) -> list[tuple[int, str]]:
    return [(point.iteration, point.event) for point in turning_points(solver, run)]


def test_steps_one_by_one(solver: Any) -> None:
    made = solver('base_lr: 0.01 lr_policy: "step" gamma: 0.1 stepsize: 100')
    assert listed(made, 250) == [
        (0, "start"),
        (100, "step 1: times 0.1"),
        (200, "step 2: times 0.1"),
        (249, "last iteration"),
    ]


def test_many_steps_are_a_curve(solver: Any) -> None:
    made = solver('base_lr: 0.01 lr_policy: "step" gamma: 0.1 stepsize: 1')
    points = turning_points(made, 2**31 - 1)
    assert len(points) < MANY_STEPS
    assert [point.iteration for point in points[:4]] == [0, 1, 2, 3]
    assert "the rate is 0: nothing is learnt" in [point.event for point in points]


def test_poly(solver: Any) -> None:
    made = solver('base_lr: 1 lr_policy: "poly" power: 1 max_iter: 100')
    assert listed(made, 100) == [
        (0, "start"),
        (50, "half the rate at iteration 0"),
        (90, "1/10 of the rate at iteration 0"),
        (99, "last iteration"),
    ]
    assert listed(made, 200)[-3:] == [
        (100, "max_iter: past the end of the curve; the rate is 0: nothing is learnt"),
        (101, "the rate is negative: training climbs the loss"),
        (199, "last iteration"),
    ]


def test_pairs_unpack(solver: Any) -> None:
    made = solver('base_lr: 0.5 lr_policy: "fixed"')
    assert [tuple(point) for point in turning_points(made, 10)] == [(0, 0.5), (9, 0.5)]


def test_one_iteration_and_none(solver: Any) -> None:
    made = solver('base_lr: 0.5 lr_policy: "fixed"')
    assert listed(made, 1) == [(0, "last iteration")]
    assert listed(made, 0) == []


def test_an_abort_is_the_only_point(solver: Any) -> None:
    points = turning_points(solver('base_lr: 1 lr_policy: "step"'), 100)
    assert [(point.iteration, point.rate) for point in points] == [(0, None)]
    assert "stepsize > 0" in points[0].event


def test_stages_and_warm_up(solver: Any) -> None:
    made = solver('lr_policy: "multifixed" stagelr: 1 stagelr: 2 stageiter: 10 stageiter: 20', "intel")
    assert (11, "stage 2") in listed(made, 20)
    made = solver('base_lr: 1 lr_policy: "fixed" warmup_iter: 10', "intel")
    assert (10, "end of the warm-up") in listed(made, 20)
