"""average_loss is below 1, or nothing is displayed.

What happens
    Caffe aborts in the solver's constructor when average_loss is 0 or negative. With display 0 (the
    default) neither loss nor rate is ever printed.

Why it matters
    Without display there is no log to see a NaN in.

How to fix
    Leave average_loss out (1), and set display: 20 or so.

When it is fine
    display 0, when a Python script reads the blobs itself.

Source
    Solver::Init and Solver::Step, src/caffe/solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG128"
NAME = "loss-display"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
average_loss: 0
display: 10
""",
        expect=[4],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[(3, "info")],
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
average_loss: 20
display: 10
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """average_loss and display."""
    solver = ctx.solver
    average = solver.integer("average_loss", 1)
    if average < 1:
        start, end = solver.place("average_loss")
        yield Finding(
            f"average_loss {average} is below 1: Caffe aborts",
            start,
            end,
            help="leave average_loss out, or set it to 1 or more",
            field="average_loss",
        )
    if solver.integer("display") == 0:
        start, end = solver.place("display")
        yield Finding(
            "display is 0: neither loss nor rate is ever printed",
            start,
            end,
            help="set display, 20 say",
            field="display",
            severity=Severity.INFO,
        )
