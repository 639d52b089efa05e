"""momentum (or Adam's momentum2) is missing where the type needs it, negative, or 1 and more.

What happens
    SGD and Nesterov multiply their history by momentum each iteration: at 1 it never fades, above 1 it
    grows without bound. Adam divides by 1 - momentum^(t+1): momentum 1 gives 0/0 = NaN in the first
    update. Adam's momentum2 of 1 makes every update 0, above 1 it takes the root of a negative number,
    NaN. AdaDelta uses momentum as its decay: above 1 NaN. The default of momentum is 0 for every type:
    Adam then has no first moment (not the 0.9 of the paper), AdaDelta no averaging (not 0.95).

Why it matters
    NaN at once, a slow blow-up, or another algorithm than the one named.

How to fix
    momentum 0.9 for SGD, Nesterov and Adam (with momentum2 0.999), 0.95 for AdaDelta.

When it is fine
    momentum: 0 written out with Adam is taken as meant.

Source
    ComputeUpdateValue in src/caffe/solvers/sgd_solver.cpp, nesterov_solver.cpp, adam_solver.cpp and
    adadelta_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG112"
NAME = "momentum-missing-or-too-large"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
type: "Adam"
base_lr: 0.001
lr_policy: "fixed"
momentum: 1
""",
        expect=[(5, "error")],
        caffe="nan",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "Adam"
base_lr: 0.001
lr_policy: "fixed"
momentum2: 1.1
""",
        expect=[2, (5, "error")],
        caffe="nan",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "AdaDelta"
base_lr: 1
lr_policy: "fixed"
momentum: 1.1
""",
        expect=[(5, "error")],
        caffe="nan",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
momentum: 1
""",
        expect=[4],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
type: "Adam"
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
momentum2: 0.999
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.99
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """momentum and momentum2, by solver type."""
    solver = ctx.solver
    kind = solver.type_name
    if kind not in ("SGD", "Nesterov", "Adam", "AdaDelta"):
        return
    momentum = solver.momentum
    severity, message = None, None
    if momentum != momentum:
        message, severity = "momentum is nan: so are the weights after the first update", Severity.ERROR
    elif momentum >= 1:
        message, severity = _too_large(kind, momentum)
    elif momentum < 0:
        message = f"momentum {momentum:g} is negative: each update turns against the one before it"
    elif kind == "Adam" and not solver.has("momentum"):
        message = "Adam without momentum: it counts as 0, so there is no first moment (the usual value is 0.9)"
    elif kind == "AdaDelta" and momentum == 0:
        message = "AdaDelta without momentum, which is its decay: nothing is averaged (the usual value is 0.95)"
    if message is not None:
        start, end = solver.place("momentum", "type", "solver_type")
        usual = "0.95" if kind == "AdaDelta" else "0.9"
        yield Finding(message, start, end, help=f"set momentum, {usual} say", field="momentum", severity=severity)
    second = solver.real("momentum2", 0.999)
    if kind == "Adam" and not second < 1:
        start, end = solver.place("momentum2")
        yield Finding(
            "momentum2 1: every Adam update is 0 and nothing is learnt"
            if second == 1
            else f"momentum2 {second:g}: Adam takes the root of 1 - momentum2 to the t, NaN",
            start,
            end,
            help="the usual value is 0.999",
            field="momentum2",
            severity=Severity.ERROR,
        )


def _too_large(kind: str, momentum: float) -> tuple[str, Severity | None]:
    if kind == "Adam" and momentum == 1:
        return "momentum 1: Adam divides 0 by 1 - 1 in the first update, NaN", Severity.ERROR
    if kind == "AdaDelta":
        if momentum == 1:
            return "momentum 1: AdaDelta averages nothing in, and updates as plain SGD does", None
        return f"momentum {momentum:g}: AdaDelta takes the root of a negative number, NaN", Severity.ERROR
    if momentum == 1:
        return "momentum 1: past updates never fade, and training drifts on without an end", None
    return (
        f"momentum {momentum:g} is above 1: each update is larger than the one before it, up to NaN",
        Severity.ERROR,
    )
