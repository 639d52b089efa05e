"""The learning rate, computed as Caffe computes it, turns NaN, infinite, 0, negative or huge during the run.

What happens
    The schedule is computed in Caffe's own float32 arithmetic for the iterations 0 to max_iter - 1 and the
    first one whose rate is no use is reported. A rate that is NaN or infinite makes every weight NaN in
    that update. A negative rate climbs the loss. A rate of 0 (float32 underflows below 1.4e-45) trains
    nothing. A rate of 1000 and more survives nowhere. A negative gamma aborts since December 2017; older
    versions and forks compute on with it.

Why it matters
    The fault comes at iteration N, perhaps days into the run.

How to fix
    `caffe-guard lr solver.prototxt` shows the whole schedule. Check gamma (above 1 it grows), stepsize (a
    step that comes too often) and power.

When it is fine
    A rate of 0 in the last hundredth of a run, or in a run of unknown length, is not reported.

Source
    SGDSolver::GetLearningRate, src/caffe/solvers/sgd_solver.cpp; checked against the rates that Caffe prints.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.schedule import POLICIES, abort, first_bad, rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG106"
NAME = "bad-rate"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "exp"
gamma: 1e30
max_iter: 4
""",
        expect=[3],
        caffe="nan",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
power: -10
max_iter: 100000
""",
        expect=[3],
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "step"
gamma: 0.1
stepsize: 1
max_iter: 1000
""",
        expect=[(3, "error")],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "exp"
gamma: -0.9
max_iter: 10
""",
        expect=[(4, "error")],
        caffe="aborts",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "step"
gamma: 0.1
stepsize: 100000
max_iter: 450000
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
power: 0.9
max_iter: 1000000000
""",
        caffe="finite",
        files=FILES,
    ),
)


#: How far a run without max_iter is looked at: a script steps it, who knows how often.
_UNKNOWN_LENGTH = 10_000
_SAYS = {
    "nan": "NaN, and so are all weights after that update",
    "inf": "infinite, and the weights are NaN or infinite after that update",
    "negative": "negative: training climbs the loss",
    "zero": "0: nothing is learnt",
    "huge": "more than any training survives",
}


def check(ctx: SolverContext) -> Iterator[Finding]:
    """The schedule of the run, where no other rule has named its fault already."""
    solver = ctx.solver
    policy = solver.policy
    if policy not in POLICIES:
        return
    refused = abort(solver)
    if refused is not None:
        if refused.field == "gamma":
            yield _negative_gamma(ctx)
        return
    if _told_elsewhere(ctx) or not 0 < solver.base_lr < float("inf"):
        return
    known = solver.max_iter > 0
    run = solver.max_iter if known else _UNKNOWN_LENGTH
    bad = first_bad(solver, 0, run)
    if bad is None or bad.rate is None:
        return
    severity = None
    if bad.reason in ("nan", "inf", "negative"):
        severity = Severity.ERROR
    elif bad.reason == "zero":
        if not known or bad.iteration >= run * 0.99:
            return
        if rate(solver, run - 1) == 0 and bad.iteration <= run / 2:
            severity = Severity.ERROR
    says = f"is {bad.rate:g}, {_SAYS['huge']}" if bad.reason == "huge" else f"is {_SAYS[bad.reason]}"
    of = f" of {run}" if known else ""
    start, end = solver.place("lr_policy")
    yield Finding(
        f'lr_policy "{policy}": the rate at iteration {bad.iteration}{of} {says}',
        start,
        end,
        help="see the whole schedule with `caffe-guard lr`",
        field="lr_policy",
        severity=severity,
    )


def _negative_gamma(ctx: SolverContext) -> Finding:
    solver = ctx.solver
    start, end = solver.place("gamma")
    severity = Severity.ERROR
    older = "compute a rate that changes its sign or turns NaN"
    if solver.policy == "sigmoid":
        older = "compute a falling curve"
        if ctx.dialect != "bvlc":
            severity = Severity.INFO
    return Finding(
        f"gamma {solver.gamma:g} is not 0 or more: Caffe aborts at the first update; versions before 2018 and"
        f" forks {older}",
        start,
        end,
        help="a gamma between 0 and 1 lowers the rate" if solver.policy != "sigmoid" else "set gamma above 0",
        field="gamma",
        severity=severity,
    )


def _told_elsewhere(ctx: SolverContext) -> bool:
    """CG101 tells of poly without max_iter, CG105 of gamma 0."""
    solver = ctx.solver
    if solver.policy == "poly":
        return solver.max_iter == 0
    return solver.policy in ("step", "multistep", "exp") and solver.gamma == 0
