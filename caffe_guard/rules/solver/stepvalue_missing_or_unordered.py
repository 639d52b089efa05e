"""The multistep schedule has no stepvalue, or its stepvalues do not rise.

What happens
    Without stepvalue the rate is base_lr for the whole run. Otherwise Caffe looks at one stepvalue an
    iteration, in the order of the file: a value that is not above the one before it takes effect one
    iteration after that one, so two drops fall together. A stepvalue of 0 or less applies gamma in the
    first iteration, so base_lr itself is never used. Nothing is checked and nothing is printed.

Why it matters
    The run looks healthy, with another schedule than the one that was meant.

How to fix
    Write the stepvalues in rising order. With a stepsize line in the file the policy meant is "step".

When it is fine
    Two equal values on purpose: two drops in two consecutive iterations. Write gamma squared instead.

Source
    SGDSolver::GetLearningRate, src/caffe/solvers/sgd_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.schedule import step_iterations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG103"
NAME = "stepvalue-missing-or-unordered"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "multistep"
gamma: 0.1
stepsize: 10
""",
        expect=[3],
        fixed="""\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "step"
gamma: 0.1
stepsize: 10
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "multistep"
gamma: 0.1
stepvalue: 300
stepvalue: 200
stepvalue: 400
""",
        expect=[6],
        fixed="""\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "multistep"
gamma: 0.1
stepvalue: 200
stepvalue: 300
stepvalue: 400
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "multistep"
gamma: 0.1
stepvalue: 0
stepvalue: 2
stepvalue: 2
""",
        expect=[5, 7],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "multistep"
gamma: 0.1
stepvalue: 200
stepvalue: 300
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """multistep with no stepvalue, or with ones that do not rise from above 0."""
    solver = ctx.solver
    if solver.policy != "multistep":
        return
    values = solver.message.values("stepvalue")
    if not values:
        yield from _none(ctx)
        return
    rising = sorted(values, key=lambda value: int(value.value))
    fix = None
    if rising != values and len({value.value for value in values}) == len(values):
        edits = [
            Edit(to.start, to.end, ctx.source.text[by.start : by.end]) for to, by in zip(values, rising) if to is not by
        ]
        fix = Fix("write the stepvalues in rising order", edits)
    before = 0
    for value, reached in zip(values, step_iterations(solver)):
        if value.value <= before:
            number = value.value
            if value is values[0]:
                message = f"stepvalue {number} takes effect in the first iteration: base_lr is never used"
            elif number == before:
                message = f"stepvalue {number} is given twice: the second drop follows at iteration {reached}"
            else:
                message = f"stepvalue {number} after {before} takes effect at iteration {reached} only"
            yield Finding(
                message,
                value.name_start,
                value.end,
                help="stepvalues must rise, from above 0",
                fix=fix,
                field="stepvalue",
            )
        before = max(before, value.value)


def _none(ctx: SolverContext) -> Iterator[Finding]:
    solver = ctx.solver
    help, fix = "add stepvalue lines", None
    policy = solver.message.at("lr_policy")
    if solver.stepsize > 0 and policy is not None:
        help = 'the file has stepsize, which only "step" reads'
        fix = Fix('use lr_policy "step"', [Edit(policy.start, policy.end, '"step"')])
    start, end = solver.anchor
    yield Finding(
        f'lr_policy "multistep" without stepvalue: the rate stays base_lr, {solver.base_lr:g}, for good',
        start,
        end,
        help=help,
        fix=fix,
        field="stepvalue",
    )
