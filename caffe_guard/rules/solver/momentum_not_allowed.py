"""AdaGrad and RMSProp refuse a momentum other than 0.

What happens
    Caffe aborts when the solver is made, after the nets are built: "Momentum cannot be used with AdaGrad."
    (or RMSProp).

Why it matters
    A solver copied from an SGD one and switched to another type does not start.

How to fix
    Remove momentum, or choose a type that uses it: SGD, Nesterov, Adam.

When it is fine
    Never; momentum: 0 is accepted.

Source
    constructor_sanity_check, include/caffe/sgd_solvers.hpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG110"
NAME = "momentum-not-allowed"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
type: "AdaGrad"
base_lr: 0.01
lr_policy: "fixed"
momentum: 0.9
""",
        expect=[5],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
solver_type: RMSPROP
base_lr: 0.01
lr_policy: "fixed"
momentum: 0.9
""",
        expect=[5],
        caffe="aborts",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
type: "AdaGrad"
base_lr: 0.01
lr_policy: "fixed"
momentum: 0
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """momentum with a type that refuses it."""
    solver = ctx.solver
    kind = solver.type_name
    if kind not in ("AdaGrad", "RMSProp") or solver.momentum == 0:
        return
    start, end = solver.place("momentum")
    yield Finding(
        f"momentum {solver.momentum:g} with solver type {kind}: Caffe aborts, {kind} takes no momentum",
        start,
        end,
        help="remove momentum",
        field="momentum",
    )
