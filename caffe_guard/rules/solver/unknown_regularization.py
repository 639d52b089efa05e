"""regularization_type is neither L1 nor L2.

What happens
    With weight_decay above 0 the first update aborts: "Unknown regularization type". The names are case
    sensitive. Without weight decay the field is not read.

Why it matters
    The run dies after the nets are built and the first batch is computed.

How to fix
    Use "L2" (the default) or "L1".

When it is fine
    Never; it is only a warning where weight_decay is 0.

Source
    SGDSolver::Regularize, src/caffe/solvers/sgd_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG122"
NAME = "unknown-regularization"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
weight_decay: 0.0005
regularization_type: "l2"
""",
        expect=[5],
        fixed="""\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
weight_decay: 0.0005
regularization_type: "L2"
""",
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
regularization_type: "none"
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
base_lr: 0.001
lr_policy: "fixed"
weight_decay: 0.0005
regularization_type: "L1"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """A regularization_type that Caffe lacks."""
    solver = ctx.solver
    value = solver.message.at("regularization_type")
    if value is None or value.value in ("L1", "L2"):
        return
    upper = str(value.value).strip().upper()
    fix = None
    if upper in ("L1", "L2"):
        fix = Fix(f'use "{upper}"', [Edit(value.start, value.end, f'"{upper}"')], safe=True)
    read = solver.weight_decay != 0
    effect = "Caffe aborts at the first update" if read else "not read, because weight_decay is 0"
    yield Finding(
        f'unknown regularization_type "{value.value}": {effect}',
        value.name_start,
        value.end,
        help='use "L2" or "L1"',
        fix=fix,
        field="regularization_type",
        severity=None if read else Severity.WARNING,
    )
