"""The poly schedule has no max_iter, so it has no end to fall to.

What happens
    Caffe computes base_lr * (1 - t / max_iter) ^ power with max_iter 0. `caffe train` runs 0 iterations,
    saves a snapshot and ends without a complaint. Stepped from Python (`solver.step(n)`), the rate of
    iteration 0 is 0/0 = NaN and later ones are infinite, so the weights are NaN after the first update.
    With power left out as well the rate stays base_lr, because anything to the power 0 is 1.

Why it matters
    Nothing is trained, or everything is NaN, and no message says so.

How to fix
    Set max_iter to the length of the run; poly reaches 0 exactly there.

When it is fine
    Never with poly. Other policies do not read max_iter for the rate.

Source
    SGDSolver::GetLearningRate, src/caffe/solvers/sgd_solver.cpp; Solver::Solve, src/caffe/solver.cpp.
    NVIDIA's fork takes a max_iter of 0 as 1.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.schedule import rate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG101"
NAME = "poly-without-max-iter"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
power: 0.9
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
max_iter: 0
power: 1
""",
        expect=[4],
        caffe="nan",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
""",
        expect=[(3, "warning")],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
power: 0.9
max_iter: 100
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """poly and a max_iter that is absent or 0."""
    solver = ctx.solver
    if solver.policy != "poly" or solver.max_iter != 0:
        return
    # max_iter: 0 written beside test nets makes `caffe train` test and do nothing else.
    severity = Severity.WARNING if solver.has("max_iter") and solver.test_net_count else None
    if solver.power == 0:
        stepped = f"stepped from Python it stays {solver.base_lr:g}, because power is 0 as well"
        severity = Severity.WARNING
    elif solver.knows("rampup_interval"):
        stepped = "stepped from Python NVIDIA's Caffe takes it as 1, so the rate is over after one iteration"
    else:
        first, later = rate(solver, 0), rate(solver, 1)
        stepped = f"stepped from Python the rate is {first:g} at iteration 0 and {later:g} after it"
    start, end = solver.place("max_iter")
    yield Finding(
        f'lr_policy "poly" without max_iter: `caffe train` runs no iteration, and {stepped}',
        start,
        end,
        help="set max_iter to the number of iterations of the run",
        field="max_iter",
        severity=severity,
    )
