"""debug_info is on.

What happens
    Caffe prints the mean absolute value (not the L2 norm) of each top, each gradient and each weight blob:
    on the iterations that display shows for the train net, on every batch for test nets. With display 0
    the train net prints nothing.

Why it matters
    It is the right tool to find the layer where NaN begins, and it makes the log hundreds of times longer
    and the run slower.

How to fix
    Leave it out for a normal run.

When it is fine
    While looking for a fault: then set display: 1.

Source
    Solver::Step, src/caffe/solver.cpp; Net::ForwardDebugInfo, src/caffe/net.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG125"
NAME = "debug-info-on"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
display: 20
debug_info: true
""",
        expect=[5],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
debug_info: true
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
base_lr: 0.001
lr_policy: "fixed"
debug_info: false
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """debug_info: true."""
    solver = ctx.solver
    if not solver.message.get("debug_info"):
        return
    start, end = solver.place("debug_info")
    shown = solver.integer("display")
    if shown == 0:
        message = "debug_info is on, but without display the train net prints none of it"
    else:
        message = f"debug_info prints every blob of every layer each {shown} iterations: long logs and a slower run"
    yield Finding(message, start, end, help="remove debug_info for a normal run", field="debug_info")
