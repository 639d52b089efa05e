"""The solver type is not one that Caffe knows.

What happens
    Caffe aborts when it makes the solver, before any net is built, and lists the types it knows. Names are
    case sensitive.

Why it matters
    "adam" or "RMSprop" is easily written.

How to fix
    Use SGD, Nesterov, AdaGrad, RMSProp, AdaDelta or Adam.

When it is fine
    In a fork with solvers of its own, or when a Python script makes the solver by its class
    (caffe.AdamSolver), where type is not read.

Source
    SolverRegistry::CreateSolver, include/caffe/solver_factory.hpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.model import SOLVER_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG114"
NAME = "unknown-solver-type"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
type: "adam"
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
""",
        expect=[2],
        fixed="""\
net: "net.prototxt"
type: "Adam"
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
""",
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "LBFGS"
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[2],
        caffe="aborts",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
type: "Nesterov"
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """A type that is not registered."""
    solver = ctx.solver
    value = solver.message.at("type")
    if value is None or solver.type_name in SOLVER_TYPES:
        return
    near = _nearest(solver.type_name)
    fix = None
    if near is not None:
        fix = Fix(
            f'use type "{near}"',
            [Edit(value.start, value.end, f'"{near}"')],
            safe=near.lower() == solver.type_name.lower(),
        )
    yield Finding(
        f'unknown solver type "{solver.type_name}": Caffe aborts when it makes the solver',
        value.name_start,
        value.end,
        help=f'did you mean "{near}"?' if near is not None else "use one of " + ", ".join(SOLVER_TYPES),
        fix=fix,
        field="type",
        # A fork may have types that are not known here.
        severity=Severity.WARNING if ctx.dialect != "bvlc" and near is None else None,
    )


def _nearest(name: str) -> str | None:
    import difflib

    lower = {known.lower(): known for known in SOLVER_TYPES}
    close = difflib.get_close_matches(name.strip().lower(), lower, 1, 0.75)
    return lower[close[0]] if close else None
