"""base_lr is absent, 0, negative or not a number.

What happens
    An absent base_lr is 0: the run goes on as usual and no weight ever changes. A negative one turns the
    descent into an ascent: the loss grows. NaN or an infinity makes the weights NaN in the first update.
    Caffe prints no warning.

Why it matters
    A flat or rising loss sends people looking at the net and the data.

How to fix
    Set base_lr: 0.01 is a usual start for SGD with momentum, 0.001 for Adam, 1 for AdaDelta.

When it is fine
    base_lr: 0 written out, to run a solver that only tests or only takes snapshots (a warning). The policy
    multifixed of some forks does not read base_lr.

Source
    SGDSolver::GetLearningRate and ComputeUpdateValue, src/caffe/solvers/sgd_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG107"
NAME = "base-lr-absent-or-not-positive"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
lr_policy: "fixed"
max_iter: 10
""",
        expect=[2],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0
lr_policy: "fixed"
""",
        expect=[(2, "warning")],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: -0.01
lr_policy: "fixed"
""",
        expect=[2],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: nan
lr_policy: "fixed"
""",
        expect=[2],
        caffe="nan",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 1e-12
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """base_lr that is not a positive finite number."""
    solver = ctx.solver
    value = solver.base_lr
    if 0 < value < float("inf") or solver.policy == "multifixed":
        return
    start, end = solver.place("base_lr")
    help: str | None = "set base_lr to a positive number"
    severity = None
    if not solver.has("base_lr"):
        message = "base_lr is missing and counts as 0: no weight ever changes"
    elif value == 0:
        message = "base_lr is 0: no weight ever changes"
        if solver.message.get("base_lr") != 0:
            message = f"base_lr {solver.message.get('base_lr'):g} is 0 in float32: no weight ever changes"
        severity = Severity.WARNING
    elif value < 0:
        message = f"base_lr {value:g} is negative: training climbs the loss"
    else:
        message = f"base_lr is {value:g}: the weights are NaN or infinite after the first update"
    yield Finding(message, start, end, help=help, field="base_lr", severity=severity)
