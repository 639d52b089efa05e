"""The learning rate of each iteration, in Caffe's own arithmetic.

Fact: SGDSolver::GetLearningRate in src/caffe/solvers/sgd_solver.cpp. Caffe keeps the rate and every field
in float32 (the command line and pycaffe build the solver for float). ``pow`` of a float and an int is a
double there, of two floats a float; the judge is real Caffe (tests/solver/test_schedule_caffe.py).

The runs may have 10^9 iterations: nothing here loops over iterations. Every policy is monotone on a few
pieces, so what first goes wrong is found by bisection.
"""

from __future__ import annotations

import math

from caffe_guard.solver.float32 import divide, exponential, f32, power

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from caffe_guard.solver.model import Solver

#: The policies of BVLC Caffe.
POLICIES = ("fixed", "step", "exp", "inv", "multistep", "poly", "sigmoid")

#: Policies that only forks have, and which.
FORK_POLICIES = {
    "plateau": ("ssd", "intel", "pvanet", "mobilenet_yolo"),
    "multifixed": ("intel", "mobilenet_yolo"),
    "sgdr": ("deepdetect",),
}

#: A rate no training survives; the largest base_lr seen in public solvers is below 100.
HUGE = 1000.0


class Abort:
    """Why Caffe stops at its first update: the field, and what Caffe demands of it."""

    __slots__ = ("demand", "field")

    def __init__(self, field: str, demand: str) -> None:
        self.field = field
        self.demand = demand

    def __repr__(self) -> str:
        return f"Abort({self.field}: {self.demand})"


def abort(solver: Solver) -> Abort | None:
    """The check in the rate's computation that BVLC Caffe fails on, or None.

    The checks on stepsize and gamma came on 2017-12-12, after release 1.0. Release 1.0 and every fork
    known here divide by the stepsize 0 (the process dies by SIGFPE) or compute on with the negative gamma.
    """
    policy = solver.policy
    if policy not in POLICIES:
        return None if policy in FORK_POLICIES else Abort("lr_policy", "a policy it knows")
    if policy in ("step", "sigmoid") and solver.stepsize <= 0:
        return Abort("stepsize", "stepsize > 0")
    if policy not in ("fixed", "poly") and not solver.gamma >= 0:  # NaN fails the check too
        return Abort("gamma", "gamma >= 0")
    return None


def rate(solver: Solver, iteration: int) -> float | None:
    """The rate of an iteration of a run that starts at 0: any float32, also nan and infinities.

    None when there is no number: an unknown policy, a fork's policy that follows the loss, a step of 0
    iterations. What BVLC Caffe refuses since 2017 (:func:`abort`) is computed as older versions do.
    """
    warm_up = solver.integer("warmup_iter")
    if 0 <= iteration < warm_up:  # Intel: linear, and the policy then goes on from this iteration, not from 0
        start = solver.real("warmup_start_lr")
        rising = f32(f32(iteration) * solver.base_lr)
        falling = f32(f32(warm_up - iteration) * start)
        return f32(divide(f32(rising + falling), f32(warm_up)))
    if iteration < solver.integer("rampup_interval"):  # NVIDIA: its curve is not reproduced here
        return None
    policy = _POLICIES.get(solver.policy)
    return None if policy is None else policy(solver, iteration)


def _fixed(solver: Solver, iteration: int) -> float | None:
    return solver.base_lr


def _stepped(solver: Solver, steps: int) -> float:
    return f32(solver.base_lr * power(solver.gamma, steps))


def _step(solver: Solver, iteration: int) -> float | None:
    stepsize = solver.stepsize
    if stepsize == 0:
        return None
    quotient = abs(iteration) // abs(stepsize)
    return _stepped(solver, quotient if (iteration < 0) == (stepsize < 0) else -quotient)


def _exp(solver: Solver, iteration: int) -> float | None:
    return _stepped(solver, iteration)


def _inv(solver: Solver, iteration: int) -> float | None:
    base = f32(1.0 + f32(solver.gamma * f32(iteration)))
    return f32(solver.base_lr * f32(power(base, -solver.power)))


def _multistep(solver: Solver, iteration: int) -> float | None:
    taken = 0
    for reached in step_iterations(solver):
        if reached > iteration:
            break
        taken += 1
    return _stepped(solver, taken)


def _poly(solver: Solver, iteration: int) -> float | None:
    max_iter = solver.max_iter
    if max_iter == 0 and solver.knows("min_lr"):  # NVIDIA
        max_iter = 1
    base = f32(1.0 - f32(divide(f32(iteration), f32(max_iter))))
    value = f32(solver.base_lr * f32(power(base, solver.power)))
    floor = solver.real("min_lr")
    return floor if value < floor and solver.has("min_lr") else value


def _sigmoid(solver: Solver, iteration: int) -> float | None:
    distance = f32(f32(iteration) - f32(solver.stepsize))
    denominator = f32(1.0 + f32(exponential(f32(-solver.gamma * distance))))
    return f32(solver.base_lr * f32(divide(1.0, denominator)))


def _multifixed(solver: Solver, iteration: int) -> float | None:
    """Intel: rate i up to and with iteration stageiter[i]; the last one for good."""
    rates = solver.message.get("stagelr") or []
    ends = solver.message.get("stageiter") or []
    if not rates or len(rates) != len(ends):
        return None
    for value, end in zip(rates, ends):
        if iteration <= end:
            return f32(value)
    return f32(rates[-1])


_POLICIES: dict[str, Callable[[Solver, int], float | None]] = {
    "fixed": _fixed,
    "step": _step,
    "exp": _exp,
    "inv": _inv,
    "multistep": _multistep,
    "poly": _poly,
    "sigmoid": _sigmoid,
    "multifixed": _multifixed,
}


def step_iterations(solver: Solver) -> list[int]:
    """The iteration at which each stepvalue of ``multistep`` takes effect.

    Caffe looks at one stepvalue an iteration, in the text's order: a value that is smaller than the one
    before it, or equal, takes effect one iteration after it.
    """
    reached: list[int] = []
    earliest = 0
    for value in solver.stepvalues:
        earliest = max(earliest, value)
        reached.append(earliest)
        earliest += 1
    return reached


def fault(value: float) -> str | None:
    """What is wrong with a rate: ``nan``, ``inf``, ``negative``, ``zero``, ``huge``, or None."""
    if math.isnan(value):
        return "nan"
    if math.isinf(value):
        return "inf"
    if value < 0:
        return "negative"
    if value == 0:
        return "zero"
    return "huge" if value >= HUGE else None


class Bad:
    """The first iteration whose rate is no use: ``reason`` is what :func:`fault` says, or ``aborts``."""

    __slots__ = ("iteration", "rate", "reason")

    def __init__(self, iteration: int, rate: float | None, reason: str) -> None:
        self.iteration = iteration
        self.rate = rate
        self.reason = reason

    def __repr__(self) -> str:
        return f"Bad(iteration {self.iteration}: {self.rate}, {self.reason})"


def first_bad(solver: Solver, start: int = 0, stop: int | None = None) -> Bad | None:
    """The first iteration of start .. stop - 1 (stop: max_iter, at least one iteration) whose rate is bad.

    None when all are good, or when the policy's rate cannot be known.
    """
    if stop is None:
        stop = max(solver.max_iter, start + 1)
    if abort(solver) is not None:
        return Bad(start, None, "aborts") if stop > start else None
    for first, last in pieces(solver, start, stop):
        found = _first_bad_of_piece(solver, first, last)
        if found is not None:
            return found
    return None


def pieces(solver: Solver, start: int, stop: int) -> list[tuple[int, int]]:
    """The iterations start .. stop - 1 as (first, last) runs in which the rate is known and monotone."""
    cuts = set()
    warm_up = max(solver.integer("warmup_iter"), 0)
    cuts.add(warm_up)
    start = max(start, solver.integer("rampup_interval"))
    if solver.policy == "poly":
        end = solver.max_iter
        cuts.update((end, end + 1))
    elif solver.policy == "multifixed":
        cuts.update(end + 1 for end in solver.message.get("stageiter") or [])
    firsts = [start, *sorted(cut for cut in cuts if start < cut < stop)]
    lasts = [first - 1 for first in firsts[1:]] + [stop - 1]
    return [(first, last) for first, last in zip(firsts, lasts) if first <= last]


def _first_bad_of_piece(solver: Solver, first: int, last: int) -> Bad | None:
    def bad(iteration: int) -> Bad | None:
        value = rate(solver, iteration)
        reason = None if value is None else fault(value)
        return None if reason is None else Bad(iteration, value, reason)

    # Good rates are one interval, 0 < rate < HUGE, and the rate is monotone: once it has left it, it stays
    # out.
    at_first = bad(first)
    if at_first is not None:
        return at_first
    found = bad(last)
    if found is None:
        return None
    good = first
    while found.iteration - good > 1:
        middle = (good + found.iteration) // 2
        at_middle = bad(middle)
        if at_middle is None:
            good = middle
        else:
            found = at_middle
    return found
