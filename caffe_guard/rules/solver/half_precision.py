"""NVIDIA Caffe trains in half precision with numbers too small for it.

What happens
    With default_backward_type: FLOAT16 gradients are stored as 16-bit floats, whose smallest value is
    6e-8: small gradients become 0 and the layers behind them stop learning. global_grad_scale (default 1)
    multiplies the loss gradient first and divides before the update; global_grad_scale_adaptive chooses
    the factor. With solver_data_type: FLOAT16 the solver's own numbers are 16-bit too, and a delta below
    6e-8 (the default 1e-8) is 0 there.

Why it matters
    Layers that do not learn, or 0/0 = NaN in the update.

How to fix
    Set global_grad_scale: 1000 or so (or global_grad_scale_adaptive: true) in the net; leave
    solver_data_type FLOAT.

When it is fine
    Shallow nets with large gradients.

Source
    NVIDIA/caffe, branch caffe-0.17: NetParameter and SolverParameter in src/caffe/proto/caffe.proto.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES, NET

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG126"
NAME = "half-precision"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

_HALF = "default_forward_type: FLOAT16\ndefault_backward_type: FLOAT16\n"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[(2, "warning", "net.prototxt")],
        files={"net.prototxt": _HALF + NET},
        dialect="nvcaffe",
    ),
    Example(
        """\
net: "net.prototxt"
type: "Adam"
base_lr: 0.001
lr_policy: "fixed"
momentum: 0.9
solver_data_type: FLOAT16
""",
        expect=[6],
        files=FILES,
        dialect="nvcaffe",
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        files={"net.prototxt": _HALF + "global_grad_scale: 1000\n" + NET},
        dialect="nvcaffe",
    ),
)


#: The smallest number above 0 of a 16-bit float.
_SMALLEST_HALF = 6e-8


def check(ctx: SolverContext) -> Iterator[Finding]:
    """Half-precision fields, which only NVIDIA's dialect has."""
    if ctx.dialect != "nvcaffe":
        return
    solver = ctx.solver
    if solver.message.get("solver_data_type") == "FLOAT16" and solver.type_name not in ("SGD", "Nesterov"):
        delta = solver.real("delta", 1e-8)
        if 0 < delta < _SMALLEST_HALF:
            start, end = solver.place("solver_data_type")
            yield Finding(
                f"delta {delta:g} is 0 in half precision (solver_data_type): {solver.type_name} divides by 0",
                start,
                end,
                help="solver_data_type: FLOAT, or delta: 1e-4",
                field="solver_data_type",
            )
    told = set()
    for linked in ctx.nets:
        if linked.role != "train" or linked.net is None or id(linked.net) in told:
            continue
        told.add(id(linked.net))
        net = linked.net.message
        value = net.at("default_backward_type")
        if value is None or value.value != "FLOAT16":
            continue
        scale = net.get("global_grad_scale")
        if (scale is None or scale == 1) and not net.get("global_grad_scale_adaptive"):
            yield Finding(
                "default_backward_type FLOAT16 without global_grad_scale: gradients below 6e-8 become 0",
                value.name_start,
                value.end,
                help="set global_grad_scale: 1000, or global_grad_scale_adaptive: true",
                field="global_grad_scale",
                source=linked.net.source,
            )
