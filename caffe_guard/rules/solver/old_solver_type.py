"""The old field solver_type is used, alone or together with type.

What happens
    Caffe translates solver_type (an enum) into type (a string) when it reads a solver file. With both
    given it aborts, even if they agree.

Why it matters
    The old field is read by every version since 2014 and by the oldest forks, but newer types have no name
    in it.

How to fix
    Use type: "Adam" instead of solver_type: ADAM.

When it is fine
    For forks from before 2015, which know solver_type only; the rule is silent under their dialects.

Source
    UpgradeSolverType, src/caffe/util/upgrade_proto.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.model import OLD_SOLVER_TYPES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG113"
NAME = "old-solver-type"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
solver_type: ADAM  # as of old
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
""",
        expect=[2],
        fixed="""\
net: "net.prototxt"
type: "Adam"  # as of old
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "Adam"
solver_type: ADAM
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
""",
        expect=[(3, "error")],
        caffe="aborts",
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
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """solver_type in the text."""
    solver = ctx.solver
    old = solver.message.at("solver_type")
    if old is None or not solver.knows("type"):
        return
    if solver.has("type"):
        yield Finding(
            "both solver_type and type are given: Caffe aborts, even if they agree",
            old.name_start,
            old.end,
            help="remove solver_type",
            field="solver_type",
            severity=Severity.ERROR,
        )
        return
    new = OLD_SOLVER_TYPES.get(str(old.value))
    if new is None:
        return
    fix = Fix(
        f'use type: "{new}"',
        [Edit(old.name_start, old.name_end, "type"), Edit(old.start, old.end, f'"{new}"')],
        safe=True,
    )
    yield Finding(
        f'solver_type: {old.value} is the old way to write type: "{new}"',
        old.name_start,
        old.end,
        help=f'write type: "{new}"',
        fix=fix,
        field="solver_type",
    )
