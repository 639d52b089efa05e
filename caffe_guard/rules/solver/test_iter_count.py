"""The number of test_iter values does not fit the test nets, or a value is not above 0.

What happens
    Caffe wants one test_iter for each test net. With net (or net_param) the test_net entries come first
    and each further test_iter makes one more test net from net; fewer values than test_net entries abort.
    With train_net (or train_net_param) there is no such spare net: the number of test_iter values must
    equal that of test_net and test_net_param entries, so a test_iter without a test net aborts as well. A
    value of 0 or less runs no batch and prints no score.

Why it matters
    The run ends in the constructor, after the train net has been built.

How to fix
    Give one test_iter a test net. With train_net, add test_net or remove test_iter.

When it is fine
    Never.

Source
    Solver::InitTestNets and Solver::Test, src/caffe/solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext
    from caffe_guard.schema.message import Value

CODE = "CG115"
NAME = "test-iter-count"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
train_net: "net.prototxt"
test_iter: 20
test_interval: 50
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
test_net: "net.prototxt"
test_net: "net.prototxt"
test_iter: 20
test_interval: 50
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
test_iter: 0
test_interval: 50
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[(2, "warning")],
        caffe="finite",
        files=FILES,
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
test_net: "net.prototxt"
test_iter: 1
test_iter: 1
test_interval: 50
base_lr: 0.001
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
train_net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """Counts of test_iter and of test nets."""
    solver = ctx.solver
    iterations = solver.message.values("test_iter")
    explicit = solver.explicit_test_nets
    if solver.generic_net is not None:
        short = len(iterations) < len(explicit)
    elif solver.has("train_net") or solver.has("train_net_param"):
        short = len(iterations) != len(explicit)
    else:
        return  # no train net at all: CG118
    if short:
        yield _mismatch(len(iterations), explicit, iterations)
    for value in iterations:
        if value.value <= 0:
            yield Finding(
                f"test_iter {value.value}: the test net runs no batch and no score is printed",
                value.name_start,
                value.end,
                help="set test_iter to the number of test batches",
                field="test_iter",
                severity=Severity.WARNING,
            )


def _mismatch(count: int, explicit: list[tuple[str, Value]], iterations: list[Value]) -> Finding:
    if count > len(explicit):
        value = iterations[len(explicit)]
        if not explicit:
            message = "test_iter is given, but train_net leaves no test net: Caffe aborts"
        else:
            message = f"{count} test_iter for the {len(explicit)} test net(s) beside train_net: Caffe aborts"
        help = "add a test_net for each test_iter, or remove test_iter"
    else:
        value = explicit[count][1]
        message = f"{len(explicit)} test nets and {count or 'no'} test_iter: Caffe aborts"
        help = "add one test_iter for each test net, in the order test_net_param, test_net"
    end = value.end if isinstance(value.value, (int, str)) else value.name_end
    return Finding(message, value.name_start, end, help=help, field="test_iter")
