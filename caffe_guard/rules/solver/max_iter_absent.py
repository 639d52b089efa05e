"""max_iter is absent or not above 0: `caffe train` runs no iteration.

What happens
    `caffe train` trains for max_iter iterations, so with 0 it builds the nets, saves a snapshot of the
    initial weights, runs the test nets once and ends. A solver that is stepped from Python
    (`solver.step(n)`) trains as told there and needs no max_iter, as long as the policy is not poly (that
    is CG101).

Why it matters
    One public solver in ten is stepped from Python; for the others the run is over at once, without an error.

How to fix
    Set max_iter, unless the solver is only stepped from Python.

When it is fine
    When a Python script steps the solver.

Source
    Solver::Solve, src/caffe/solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG108"
NAME = "max-iter-absent"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
""",
        expect=[3],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
max_iter: 0
""",
        expect=[(4, "warning")],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
max_iter: 10
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """max_iter absent (advice), or written and not above 0 (a warning)."""
    solver = ctx.solver
    if solver.max_iter > 0 or (solver.policy == "poly" and solver.max_iter == 0):
        return
    start, end = solver.place("max_iter")
    written = solver.has("max_iter")
    yield Finding(
        f"max_iter is {solver.max_iter}: `caffe train` runs no iteration"
        if written
        else "max_iter is missing: `caffe train` runs no iteration, only a script that steps the solver does",
        start,
        end,
        help="set max_iter, unless the solver is stepped from Python",
        field="max_iter",
        # Written out beside test nets it is how a solver is made to test only: Solve() ends with the tests.
        severity=Severity.WARNING if written and not solver.test_net_count else None,
    )
