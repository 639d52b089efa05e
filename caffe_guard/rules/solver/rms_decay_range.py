"""rms_decay lies outside [0, 1), or far below the usual range.

What happens
    RMSProp keeps h = rms_decay * h + (1 - rms_decay) * g^2. Caffe aborts when rms_decay is negative or 1
    and more. A small value is legal and does the opposite of what was meant: 0.02 keeps 2 % of the past,
    so each update is about the rate times the sign of the gradient. Old documentation and early versions
    used the value the other way round, which is where such numbers come from. Older trees have no default
    (0); BVLC Caffe's is 0.99.

Why it matters
    The updates do not shrink as the gradient does, and the loss jitters or blows up.

How to fix
    0.9 to 0.99 is usual: 0.98 for what was written 0.02.

When it is fine
    A deliberate experiment.

Source
    constructor_sanity_check, include/caffe/sgd_solvers.hpp; RMSPropSolver::ComputeUpdateValue,
    src/caffe/solvers/rmsprop_solver.cpp; BVLC/caffe issue 3930.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG111"
NAME = "rms-decay-range"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
type: "RMSProp"
base_lr: 0.01
lr_policy: "fixed"
rms_decay: 1
""",
        expect=[5],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "RMSProp"
base_lr: 0.01
lr_policy: "fixed"
rms_decay: -0.1
""",
        expect=[5],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "RMSProp"
base_lr: 0.01
lr_policy: "fixed"
rms_decay: 0.02
""",
        expect=[(5, "warning")],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
type: "RMSProp"
base_lr: 0.01
lr_policy: "fixed"
rms_decay: 0.98
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "RMSProp"
base_lr: 0.01
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


#: Less of the past than this is not an average any more.
_USUAL = 0.5


def check(ctx: SolverContext) -> Iterator[Finding]:
    """rms_decay of an RMSProp solver."""
    solver = ctx.solver
    if solver.type_name != "RMSProp":
        return
    decay = solver.real("rms_decay", 0.99)
    start, end = solver.place("rms_decay", "type", "solver_type")
    if not 0 <= decay < 1:
        yield Finding(
            f"rms_decay {decay:g} lies outside [0, 1): Caffe aborts",
            start,
            end,
            help="0.9 to 0.99 is usual",
            field="rms_decay",
        )
    elif decay < _USUAL:
        given = f"rms_decay {decay:g}" if solver.has("rms_decay") else f"rms_decay is missing ({decay:g} in this fork)"
        yield Finding(
            f"{given}: {1 - decay:.0%} of the running mean is the newest gradient, so each update is about as"
            " large as the rate, whatever the gradient",
            start,
            end,
            help=f"0.9 to 0.99 is usual; {1 - decay:g} if the value was meant the other way round"
            if decay > 0
            else "0.9 to 0.99 is usual",
            field="rms_decay",
            severity=Severity.WARNING,
        )
