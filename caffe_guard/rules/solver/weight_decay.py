"""weight_decay is negative, or 1 and more.

What happens
    Caffe adds weight_decay * weight to each gradient (L2). A negative value pushes every weight away from
    0, more so the larger it is: the weights grow without bound. A value of 1 or more pulls harder than
    most losses push; when base_lr * weight_decay is above 2, plain SGD overshoots 0 by more than it came
    from, and the weights grow with alternating sign. NaN or an infinity makes the weights NaN in the first
    update.

Why it matters
    The weights vanish or explode whatever the data say.

How to fix
    0.0005 is usual; 0.00001 to 0.01 is the common range.

When it is fine
    Where almost all layers set decay_mult 0 or a small one.

Source
    SGDSolver::Regularize, src/caffe/solvers/sgd_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG123"
NAME = "weight-decay"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
weight_decay: -0.0005
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
weight_decay: 5
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
weight_decay: inf
""",
        expect=[(4, "error")],
        caffe="nan",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
weight_decay: 0.0005
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """weight_decay outside [0, 1)."""
    solver = ctx.solver
    decay = solver.weight_decay
    if 0 <= decay < 1:
        return
    severity = None
    strength = solver.base_lr * decay
    if not decay < float("inf"):
        message = f"weight_decay is {decay:g}: the weights are NaN after the first update"
        severity = Severity.ERROR
    elif decay < 0:
        message = f"weight_decay {decay:g} is negative: it drives the weights away from 0"
    elif strength > 2 and solver.type_name == "SGD" and solver.message.get("regularization_type") in ("L2", None):
        message = (
            f"weight_decay {decay:g} with base_lr {solver.base_lr:g}: each update multiplies the weights by"
            f" {1 - strength:g}, so they explode"
        )
    else:
        message = f"weight_decay {decay:g} pulls all weights to 0 harder than most losses push"
    start, end = solver.place("weight_decay")
    yield Finding(message, start, end, help="0.0005 is usual", field="weight_decay", severity=severity)
