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
    A rate of 0 in the last hundredth of a run is not reported.

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


_SAYS = {
    "nan": "is NaN, and so are all weights after that update",
    "inf": "is infinite, and the weights are NaN or infinite after that update",
    "negative": "is negative: training climbs the loss",
    "zero": "is 0: nothing is learnt",
    "huge": "is beyond what any training survives",
}


def check(ctx: SolverContext) -> Iterator[Finding]:
    """The schedule of the run, where no other rule has named its fault already."""
    solver = ctx.solver
    policy = solver.policy
    if policy not in POLICIES:
        return
    start, end = solver.place("gamma" if solver.gamma < 0 else "lr_policy")
    refused = abort(solver)
    if refused is not None:
        if refused.field == "gamma":
            yield Finding(
                f"gamma {solver.gamma:g} is negative: Caffe aborts at the first update;"
                " older versions and forks compute a rate that changes its sign or turns NaN",
                start,
                end,
                help="a gamma between 0 and 1 lowers the rate",
                field="gamma",
                severity=Severity.ERROR,
            )
        return
    if _told_elsewhere(ctx) or not 0 < solver.base_lr < float("inf"):
        return
    run = max(solver.max_iter, 1)
    bad = first_bad(solver, 0, run)
    if bad is None or bad.rate is None:
        return
    severity = None
    if bad.reason in ("nan", "inf", "negative"):
        severity = Severity.ERROR
    elif bad.reason == "zero":
        if bad.iteration >= run * 0.99:
            return
        last = rate(solver, run - 1)
        if last == 0 and bad.iteration <= run / 2:
            severity = Severity.ERROR
    yield Finding(
        f'lr_policy "{policy}": the rate at iteration {bad.iteration} of {run} is {bad.rate:g}'
        if bad.reason == "huge"
        else f'lr_policy "{policy}": the rate at iteration {bad.iteration} of {run} {_SAYS[bad.reason]}',
        start,
        end,
        help="see the whole schedule with `caffe-guard lr`",
        field="lr_policy",
        severity=severity,
    )


def _told_elsewhere(ctx: SolverContext) -> bool:
    """CG101 tells of poly without max_iter, CG105 of gamma 0."""
    solver = ctx.solver
    if solver.policy == "poly":
        return solver.max_iter == 0
    return solver.policy in ("step", "multistep", "exp") and solver.gamma == 0
