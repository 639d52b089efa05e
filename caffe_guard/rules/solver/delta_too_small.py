"""delta, which keeps the adaptive solvers from dividing by 0, is 0, negative or too small for float32.

What happens
    Adam, RMSProp and AdaGrad divide by sqrt(h) + delta, where h averages or sums squared gradients. A
    weight whose gradient has been exactly 0 so far (behind a dead ReLU, an unused class, a padded border)
    has h = 0: with delta 0 the update is 0/0 = NaN, and the net is NaN one iteration later. A delta below
    1.4e-45 is 0 in float32. Below about 1e-19 it is smaller than the root of anything float32 can hold, so
    a tiny gradient gets an enormous update. AdaDelta multiplies by sqrt((u + delta) / (h + delta)): with
    delta 0 its first update is 0 or NaN, and stays so; a negative delta gives the root of a negative number.

Why it matters
    NaN after the first update, with data and net in order.

How to fix
    Leave delta out (1e-8), or use 1e-8 to 1e-3; AdaDelta usually takes 1e-6.

When it is fine
    SGD and Nesterov ignore delta.

Source
    ComputeUpdateValue in src/caffe/solvers/adam_solver.cpp, rmsprop_solver.cpp, adagrad_solver.cpp and
    adadelta_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG109"
NAME = "delta-too-small"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

_DEAD = """\
layer {
  name: "data" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 dim: 2 } data_filler { type: "gaussian" } }
}
layer {
  name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } bias_filler { value: -1000 } }
}
layer { name: "dead" type: "ReLU" bottom: "ip" top: "ip" }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "y" top: "loss" }
"""

BAD = (
    Example(
        """\
net: "net.prototxt"
type: "Adam"
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
delta: 0
""",
        expect=[6],
        files={"net.prototxt": _DEAD},
        caffe="nan",
    ),
    Example(
        """\
net: "net.prototxt"
type: "AdaDelta"
base_lr: 1
lr_policy: "fixed"
momentum: 0.95
delta: -1e-3
""",
        expect=[(6, "error")],
        caffe="nan",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
type: "RMSProp"
base_lr: 0.001
lr_policy: "fixed"
delta: 1e-46
""",
        expect=[5],
        files={"net.prototxt": _DEAD},
        caffe="nan",
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
delta: 1e-8
""",
        files={"net.prototxt": _DEAD},
        caffe="finite",
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
delta: 0
""",
        caffe="finite",
        files=FILES,
    ),
)


#: The root of the smallest normal float32: below it delta is less than the root of any full-precision square.
_FELT = 1e-19


def check(ctx: SolverContext) -> Iterator[Finding]:
    """delta below what the solver type's arithmetic needs."""
    solver = ctx.solver
    kind = solver.type_name
    if kind not in ("Adam", "RMSProp", "AdaGrad", "AdaDelta") or not solver.has("delta"):
        return
    delta = solver.real("delta", 1e-8)
    if delta >= _FELT:
        return
    severity = None
    given = f"delta {solver.message.get('delta'):g}"
    if delta != delta:
        message = "delta is nan: so are the weights after the first update"
        severity = Severity.ERROR
    elif delta == 0:
        shown = given if solver.message.get("delta") == 0 else f"{given} (0 in float32)"
        if kind == "AdaDelta":
            message = f"{shown}: every update of AdaDelta is 0, or 0/0 = NaN where the gradient is 0"
            severity = Severity.ERROR
        else:
            message = f"{shown}: {kind} computes 0/0 = NaN for every weight whose gradient is 0"
    elif delta < 0:
        if kind == "AdaDelta":
            message = f"{given}: AdaDelta takes the root of a negative number, NaN"
            severity = Severity.ERROR
        else:
            message = f"{given} is negative: {kind} divides by sqrt(h) + delta, which can be 0 or negative"
    else:
        message = f"{given} is less than float32 squares resolve: {kind} blows tiny gradients up"
    start, end = solver.place("delta")
    yield Finding(message, start, end, help="leave delta out (1e-8)", field="delta", severity=severity)
