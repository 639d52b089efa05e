"""Where a schedule changes: the iterations worth a line in a table.

A schedule of few steps is given step by step; one of many steps, or a smooth one, by the iterations at
which the rate has halved, fallen to a tenth, a hundredth and so on (or doubled, grown tenfold …). Nothing
loops over iterations.
"""

from __future__ import annotations

import math

from caffe_guard.solver.schedule import abort, fault, first_bad, pieces, rate, step_iterations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.solver.model import Solver

#: More steps than these are shown as a smooth curve.
MANY_STEPS = 40

_FALLS = [(0.5, "half"), *((10.0**-k, f"1/{10**k} of") for k in range(1, 7))]
_RISES = [(2.0, "twice"), *((10.0**k, f"{10**k} times") for k in range(1, 7))]


class TurningPoint:
    """An iteration, its rate (None where it cannot be known), and what happens there in a few words."""

    __slots__ = ("event", "iteration", "rate")

    def __init__(self, iteration: int, rate: float | None, event: str) -> None:
        self.iteration = iteration
        self.rate = rate
        self.event = event

    def __iter__(self) -> Iterator[int | float | None]:
        """``iteration, rate = point``."""
        return iter((self.iteration, self.rate))

    def __repr__(self) -> str:
        return f"TurningPoint({self.iteration}: {self.rate}, {self.event})"


def turning_points(solver: Solver, max_iter: int) -> list[TurningPoint]:
    """The turning points of the iterations 0 .. max_iter - 1, in order; the first and the last iteration
    are in it.

    Empty when there is no iteration. When Caffe aborts at its first update, that is the only point.
    """
    if max_iter <= 0:
        return []
    failed = abort(solver)
    if failed is not None:
        return [TurningPoint(0, None, f"Caffe aborts: it needs {failed.demand}")]
    events: dict[int, str] = {0: "start", max_iter - 1: "last iteration"}
    for iteration, event in _changes(solver, max_iter):
        known = events.get(iteration)
        if known is None or (known == "last iteration" and event.startswith(_DEFINITE)):
            events[iteration] = event
    for iteration, reason in _faults(solver, max_iter):
        known = events.get(iteration, "")
        # A level that is passed on the way to NaN or 0 says less than the NaN or 0.
        keep = known.startswith(_DEFINITE)
        events[iteration] = f"{known}; {_FAULTS[reason]}" if keep else _FAULTS[reason]
    return [TurningPoint(iteration, rate(solver, iteration), event) for iteration, event in sorted(events.items())]


#: How the events begin that the file itself asks for.
_DEFINITE = ("step", "stage", "end of", "max_iter")
_FAULTS = {
    "nan": "the rate is NaN",
    "inf": "the rate is infinite",
    "negative": "the rate is negative: training climbs the loss",
    "zero": "the rate is 0: nothing is learnt",
    "huge": "the rate is beyond what any training survives",
}


def _faults(solver: Solver, max_iter: int) -> Iterator[tuple[int, str]]:
    """The first bad iteration, and after it each start of a piece where the rate is bad in another way."""
    found = first_bad(solver, 0, max_iter)
    if found is None:
        return
    yield found.iteration, found.reason
    reason = found.reason
    for first, _ in pieces(solver, found.iteration + 1, max_iter):
        value = rate(solver, first)
        now = None if value is None else fault(value)
        if now is not None and now != reason:
            yield first, now
            reason = now


def _changes(solver: Solver, max_iter: int) -> Iterator[tuple[int, str]]:
    yield from _fork_changes(solver, max_iter)
    if solver.policy == "multistep":
        taken = [iteration for iteration in step_iterations(solver) if iteration < max_iter]
        if len(taken) <= MANY_STEPS:
            for number, iteration in enumerate(taken, 1):
                yield iteration, f"step {number}: times {solver.gamma:g}"
            return
    if solver.policy == "step" and solver.stepsize > 0:
        count = (max_iter - 1) // solver.stepsize
        if count <= MANY_STEPS:
            for number in range(1, count + 1):
                yield number * solver.stepsize, f"step {number}: times {solver.gamma:g}"
            return
    if solver.policy == "poly" and 0 < solver.max_iter < max_iter:
        yield solver.max_iter, "max_iter: past the end of the curve"
    if solver.policy == "sigmoid" and solver.gamma > 0 and solver.stepsize < max_iter:
        yield solver.stepsize, "stepsize: the middle of the curve"
    for first, last in pieces(solver, 0, max_iter):
        yield from _levels(solver, first, last)


def _fork_changes(solver: Solver, max_iter: int) -> Iterator[tuple[int, str]]:
    warm_up = solver.integer("warmup_iter")
    if 0 < warm_up < max_iter:
        yield warm_up, "end of the warm-up"
    ramp = solver.integer("rampup_interval")
    if 0 < ramp < max_iter:
        yield ramp, "end of the ramp-up"
    if solver.policy == "multifixed":
        ends = solver.message.get("stageiter") or []
        for number, end in enumerate(ends[:-1], 1):
            if 0 < end + 1 < max_iter and number <= MANY_STEPS:
                yield end + 1, f"stage {number + 1}"


def _levels(solver: Solver, first: int, last: int) -> Iterator[tuple[int, str]]:
    """Where the rate passes a half, a tenth … (or twice, ten times …) of its value at the start of a
    monotone run."""
    start, end = rate(solver, first), rate(solver, last)
    if start is None or end is None or not math.isfinite(start) or start <= 0 or math.isnan(end):
        return
    falling = end < start
    passed: dict[int, str] = {}
    for factor, words in _FALLS if falling else _RISES:
        # A hair of room: half of a rate is, in float32, sometimes 0.5000001 of it.
        level = start * factor * (1 + 1e-6 if falling else 1 - 1e-6)
        if (end > level) if falling else (end < level):
            break
        before, after = first, last
        while after - before > 1:
            middle = (before + after) // 2
            value = rate(solver, middle)
            if value is not None and ((value > level) if falling else (value < level)):
                before = middle
            else:
                after = middle
        passed[after] = f"{words} the rate at iteration {first}"
    yield from passed.items()
