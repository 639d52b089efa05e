"""The step or sigmoid schedule has no stepsize above 0.

What happens
    step computes t / stepsize as integers. BVLC Caffe since December 2017 checks the stepsize and aborts
    at the first update; release 1.0, older versions and the forks divide by zero there, and the process
    dies by a signal (SIGFPE) without a message. sigmoid has the same check; versions without it centre the
    curve on iteration 0.

Why it matters
    The nets are built, the data opened and the first batch computed before the run dies, so the fault
    looks like one of the net or of the data.

How to fix
    Give stepsize the number of iterations between two drops (step) or the iteration of the curve's middle
    (sigmoid). With stepvalue lines in the file the policy meant is "multistep".

When it is fine
    Never.

Source
    SGDSolver::GetLearningRate, src/caffe/solvers/sgd_solver.cpp; the checks came with commit c23b3563f.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG102"
NAME = "missing-stepsize"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "step"
gamma: 0.1
max_iter: 5
""",
        expect=[3],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "step"
gamma: 0.1
stepvalue: 2
max_iter: 5
""",
        expect=[3],
        fixed="""\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "multistep"
gamma: 0.1
stepvalue: 2
max_iter: 5
""",
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "sigmoid"
gamma: 0.1
stepsize: -3
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
base_lr: 0.01
lr_policy: "step"
gamma: 0.1
stepsize: 2
max_iter: 5
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """step or sigmoid, and a stepsize that is absent, 0 or negative."""
    solver = ctx.solver
    if solver.policy not in ("step", "sigmoid") or solver.stepsize > 0:
        return
    given = f"with stepsize {solver.stepsize}" if solver.has("stepsize") else "without stepsize"
    if solver.policy == "sigmoid":
        older = "older versions and forks centre the curve there"
    elif solver.stepsize == 0:
        older = "older versions and forks die of a division by zero (SIGFPE) without a message"
    else:
        older = "older versions and forks raise the rate at each step"
    help, fix = "set stepsize to a number of iterations", None
    policy = solver.message.at("lr_policy")
    if solver.policy == "step" and solver.stepvalues and policy is not None:
        help = 'the file has stepvalue, which only "multistep" reads'
        fix = Fix('use lr_policy "multistep"', [Edit(policy.start, policy.end, '"multistep"')])
    start, end = solver.place("stepsize")
    yield Finding(
        f'lr_policy "{solver.policy}" {given}: Caffe aborts at the first update; {older}',
        start,
        end,
        help=help,
        fix=fix,
        field="stepsize",
        severity=Severity.WARNING if solver.policy == "sigmoid" and ctx.dialect != "bvlc" else None,
    )
