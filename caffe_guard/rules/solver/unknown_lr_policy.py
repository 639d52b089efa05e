"""The lr_policy is missing, or is not one that this Caffe knows.

What happens
    The first update aborts with "Unknown learning rate policy" and the name (empty when lr_policy is left
    out). The names are case sensitive: "Step" is unknown. Nothing is checked before: the nets are built,
    the initial test is run and the first batch is computed.

Why it matters
    A long start for nothing.

How to fix
    Use one of fixed, step, exp, inv, multistep, poly, sigmoid. Some forks have more: plateau (SSD, Intel
    and others), multifixed (Intel and others), sgdr (DeepDetect).

When it is fine
    Only where the solver class is used from Python without a single step.

Source
    SGDSolver::GetLearningRate, src/caffe/solvers/sgd_solver.cpp, and the same function in the forks.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.schedule import FORK_POLICIES, POLICIES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG104"
NAME = "unknown-lr-policy"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "Step"
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
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
""",
        expect=[2],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "plateau"
gamma: 0.1
""",
        expect=[3],
        caffe="aborts",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


#: Names people write for a policy that has another one.
_MEANT = {"constant": "fixed", "const": "fixed", "polynomial": "poly", "exponential": "exp", "inverse": "inv"}


def check(ctx: SolverContext) -> Iterator[Finding]:
    """A policy that the dialect lacks, or none."""
    solver = ctx.solver
    policy = solver.policy
    if policy in POLICIES:
        return
    forks = FORK_POLICIES.get(policy, ())
    if ctx.dialect in forks:
        return
    start, end = solver.anchor
    known = "use one of " + ", ".join(POLICIES)
    value = solver.message.at("lr_policy")
    if value is None or not policy:
        missing = "lr_policy is missing" if value is None else "lr_policy is empty"
        yield Finding(f"{missing}: Caffe aborts at the first update", start, end, help=known, field="lr_policy")
        return
    who = f" (known to the forks {', '.join(forks)})" if forks else ""
    near = _nearest(policy)
    fix = None
    if near is not None and not forks:
        known = f'did you mean "{near}"?'
        fix = Fix(
            f'use lr_policy "{near}"',
            [Edit(value.start, value.end, f'"{near}"')],
            safe=policy.lower() == near,
        )
    yield Finding(
        f'unknown lr_policy "{policy}"{who}: Caffe aborts at the first update',
        start,
        end,
        help=known,
        fix=fix,
        field="lr_policy",
        # A fork may have policies that are not known here.
        severity=Severity.WARNING if ctx.dialect != "bvlc" and near is None else None,
    )


def _nearest(policy: str) -> str | None:
    import difflib

    word = policy.strip().lower()
    if word in _MEANT:
        return _MEANT[word]
    close = difflib.get_close_matches(word, POLICIES, 1, 0.7)
    return close[0] if close else None
