"""iter_size is 0 or negative; or it meets clip_gradients.

What happens
    Caffe sums the gradients of iter_size batches and divides by iter_size. With 0 no batch is run at all,
    and 0 gradients times 1/0 are NaN: every weight is NaN after the first update, while the train output
    shows 0. With a negative value no batch is run either, and no weight moves but by decay. Nothing is
    checked. clip_gradients is applied to the sum before the division, so the same limit is iter_size times
    stricter than without iter_size.

Why it matters
    NaN in iteration 0 with a loss of 0 in the output points nowhere.

How to fix
    iter_size is how many batches make one update; leave it out for one.

When it is fine
    With clip_gradients (an info), when the limit was chosen with iter_size in mind.

Source
    Solver::Step, src/caffe/solver.cpp; SGDSolver::Normalize and ApplyUpdate,
    src/caffe/solvers/sgd_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG121"
NAME = "iter-size"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
iter_size: 0
""",
        expect=[4],
        caffe="nan",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
iter_size: -1
""",
        expect=[4],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
iter_size: 4
clip_gradients: 10
""",
        expect=[(5, "info")],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
iter_size: 4
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """iter_size below 1, or above 1 with clip_gradients."""
    solver = ctx.solver
    size = solver.iter_size
    start, end = solver.place("iter_size")
    if size == 0:
        message = "iter_size 0: no batch is run, and 0 gradients / 0 make every weight NaN in the first update"
        yield Finding(message, start, end, help="leave iter_size out, or set it to 1", field="iter_size")
    elif size < 0:
        message = f"iter_size {size}: no batch is run and nothing is learnt"
        yield Finding(message, start, end, help="leave iter_size out, or set it to 1", field="iter_size")
    elif size > 1 and solver.real("clip_gradients", -1.0) > 0:
        limit = solver.real("clip_gradients")
        start, end = solver.place("clip_gradients")
        yield Finding(
            f"clip_gradients {limit:g} limits the sum over iter_size {size} batches, before the division:"
            f" a limit of {limit / size:g} for their mean",
            start,
            end,
            help=f"clip_gradients {limit * size:g} would be what {limit:g} is without iter_size",
            field="clip_gradients",
            severity=Severity.INFO,
        )
