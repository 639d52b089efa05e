"""A stepsize or stepvalue lies at or beyond max_iter, so that step never happens.

What happens
    The last iteration of a run is max_iter - 1. A step whose first drop, or a stepvalue, that lies at
    max_iter or later is never reached, and the rate stays what it was.

Why it matters
    Often max_iter was shortened, or the batch size changed, and the schedule forgotten.

How to fix
    Scale stepsize and stepvalue with max_iter, or use "fixed".

When it is fine
    When the run is meant to be resumed with a larger max_iter.

Source
    SGDSolver::GetLearningRate, src/caffe/solvers/sgd_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG127"
NAME = "step-never-reached"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "step"
gamma: 0.1
stepsize: 1000
max_iter: 1000
""",
        expect=[5],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "multistep"
gamma: 0.1
stepvalue: 500
stepvalue: 2000
max_iter: 1000
""",
        expect=[6],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "step"
gamma: 0.1
stepsize: 999
max_iter: 1000
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """Steps that the run does not reach."""
    solver = ctx.solver
    run = solver.max_iter
    if run <= 0:
        return
    if solver.policy == "step" and solver.stepsize >= run:
        start, end = solver.place("stepsize")
        yield Finding(
            f"stepsize {solver.stepsize} is not reached in a run of {run} iterations:"
            f" the rate stays {solver.base_lr:g}",
            start,
            end,
            help="a smaller stepsize, or a larger max_iter",
            field="stepsize",
        )
    elif solver.policy == "multistep":
        for value in solver.message.values("stepvalue"):
            if value.value >= run:
                yield Finding(
                    f"stepvalue {value.value} is not reached in a run of {run} iterations",
                    value.name_start,
                    value.end,
                    help="remove it, or raise max_iter",
                    field="stepvalue",
                )
