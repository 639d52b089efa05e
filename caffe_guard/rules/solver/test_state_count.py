"""The number of test_state entries is neither 0 nor that of the test nets.

What happens
    Caffe aborts: "test_state must be unspecified or specified once per test net." Test nets are counted by
    test_iter.

Why it matters
    The run ends in the constructor. Often test_state was meant for net's only test, and test_iter is missing.

How to fix
    Write one test_state for each test_iter, in the same order, or none.

When it is fine
    Never.

Source
    Solver::InitTestNets, src/caffe/solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG117"
NAME = "test-state-count"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
test_iter: 1
test_interval: 10
test_state { stage: "a" }
test_state { stage: "b" }
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[5],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
test_state { stage: "a" }
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
test_iter: 1
test_iter: 1
test_interval: 10
test_state { stage: "a" }
test_state { stage: "b" }
base_lr: 0.001
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """Counts of test_state and of test nets."""
    solver = ctx.solver
    states = solver.message.values("test_state")
    tests = solver.test_net_count
    if not states or len(states) == tests:
        return
    odd = states[min(tests, len(states) - 1)]
    yield Finding(
        f"{_count(len(states), 'test_state')} for {_count(tests, 'test net')}: Caffe aborts",
        odd.name_start,
        odd.name_end,
        help="write one test_state for each test_iter, or none",
        field="test_state",
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
