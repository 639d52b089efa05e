"""A schedule lacks gamma or power, whose default is 0: the rate turns 0, or never changes.

What happens
    step and multistep: base_lr until the first step, then base_lr * 0 = 0 for good. exp: 0 from iteration
    1 on. inv and poly: with power 0 (or gamma 0, for inv) the rate stays base_lr. sigmoid: half of base_lr
    throughout. Caffe says nothing.

Why it matters
    The loss simply stops falling, or the schedule in the file does not happen.

How to fix
    Write the missing number: gamma is what each step multiplies the rate by (0.1 is common), power the
    exponent of inv (0.75) or poly (0.5 to 2).

When it is fine
    Where the run ends before the first step; the rule is silent then. For a constant rate use "fixed".

Source
    SGDSolver::GetLearningRate, src/caffe/solvers/sgd_solver.cpp; the defaults of SolverParameter in
    caffe.proto.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.schedule import step_iterations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG105"
NAME = "missing-gamma-or-power"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "step"
stepsize: 2
max_iter: 5
""",
        expect=[3],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "exp"
""",
        expect=[(3, "error")],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "inv"
gamma: 0.0001
""",
        expect=[3],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "poly"
power: 0
max_iter: 10
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
base_lr: 0.01
lr_policy: "inv"
gamma: 0.0001
power: 0.75
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "step"
stepsize: 100
max_iter: 50
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """gamma 0 or power 0 where the policy needs them."""
    solver = ctx.solver
    policy = solver.policy
    zero_gamma, zero_power = solver.gamma == 0, solver.power == 0
    severity = None
    if policy in ("step", "multistep", "exp") and zero_gamma:
        at = _first_step(ctx)
        if at is None:
            return
        field, effect = "gamma", f"the rate is 0 from iteration {at} on and nothing more is learnt"
        if at <= 1:
            severity = Severity.ERROR
    elif policy == "inv" and (zero_gamma or zero_power):
        field, effect = "gamma" if zero_gamma else "power", f"the rate stays {solver.base_lr:g}"
    elif policy == "poly" and zero_power and solver.max_iter != 0:
        field, effect = "power", f"the rate stays {solver.base_lr:g} to the end"
    elif policy == "sigmoid" and zero_gamma:
        field, effect = "gamma", f"the rate is half of base_lr ({solver.base_lr / 2:g}) throughout"
    else:
        return
    start, end = solver.place(field)
    given = f"with {field} 0" if solver.has(field) else f"without {field} (default 0)"
    yield Finding(
        f'lr_policy "{policy}" {given}: {effect}',
        start,
        end,
        help=f"set {field}" + ("" if "stays" not in effect else ', or use lr_policy "fixed"'),
        field=field,
        severity=severity,
    )


def _first_step(ctx: SolverContext) -> int | None:
    """The first iteration at which gamma counts, if the run reaches it."""
    solver = ctx.solver
    if solver.policy == "exp":
        at = 1
    elif solver.policy == "step":
        at = solver.stepsize
        if at <= 0:
            return None
    else:
        reached = step_iterations(solver)
        if not reached:
            return None
        at = reached[0]
    return at if solver.max_iter <= 0 or at < solver.max_iter else None
