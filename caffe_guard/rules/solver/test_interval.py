"""There are test nets but test_interval is not above 0, or there is a test_interval but no test net.

What happens
    With any test net Caffe aborts unless test_interval is above 0; its default is 0. A test_interval
    without test_iter is ignored without a message: no test net is made and nothing is tested.

Why it matters
    The run ends in the constructor; or the scores one waits for never come.

How to fix
    Set test_interval to the number of training iterations between two tests, and test_iter to the number
    of test batches.

When it is fine
    test_interval without test_iter, when no test is wanted (an info).

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

CODE = "CG116"
NAME = "test-interval"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
test_iter: 20
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[2],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
test_iter: 20
test_interval: -1
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[3],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
test_interval: 10
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[(2, "info")],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
test_iter: 1
test_interval: 10
base_lr: 0.001
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """test_interval against the number of test nets."""
    solver = ctx.solver
    interval = solver.integer("test_interval")
    tests = max(solver.test_net_count, len(solver.explicit_test_nets))
    if tests and interval <= 0:
        given = f"test_interval {interval}" if solver.has("test_interval") else "test_interval is missing"
        start, end = solver.place("test_interval", "test_iter", "test_net")
        yield Finding(
            f"{given}, and there {'is a test net' if tests == 1 else f'are {tests} test nets'}: Caffe aborts",
            start,
            end,
            help="set test_interval to a number of iterations, or remove test_iter",
            field="test_interval",
        )
    elif not tests and interval > 0:
        start, end = solver.place("test_interval")
        yield Finding(
            "test_interval is ignored: without test_iter there is no test net and nothing is tested",
            start,
            end,
            help="add test_iter to test, or remove test_interval",
            field="test_interval",
            severity=Severity.INFO,
        )
