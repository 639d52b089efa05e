"""solver_mode is not written, or device_id is ignored because of it.

What happens
    The schema's default of solver_mode is GPU, yet `caffe train` uses the GPU only when a -gpu flag is
    given or solver_mode: GPU is written in the file; a file without it runs on the CPU. device_id counts
    only together with a written solver_mode: GPU. pycaffe reads neither: there caffe.set_mode_gpu() decides.

Why it matters
    A run on the CPU by mistake is a hundred times slower.

How to fix
    Write solver_mode: GPU or solver_mode: CPU.

When it is fine
    When the mode is always given on the command line or in a script.

Source
    train(), tools/caffe.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG129"
NAME = "solver-mode"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[3],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
solver_mode: CPU
device_id: 3
""",
        expect=[5],
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
solver_mode: CPU
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """solver_mode absent; device_id without effect."""
    solver = ctx.solver
    if not solver.has("solver_mode"):
        start, end = solver.place("device_id")
        ignored = " and device_id is ignored" if solver.has("device_id") else ""
        yield Finding(
            f"without solver_mode `caffe train` runs on the CPU unless -gpu is given{ignored}",
            start,
            end,
            help="write solver_mode: GPU or solver_mode: CPU",
            field="solver_mode",
        )
    elif solver.has("device_id") and solver.message.get("solver_mode") == "CPU":
        start, end = solver.place("device_id")
        yield Finding(
            "device_id is ignored with solver_mode: CPU",
            start,
            end,
            help="remove device_id, or set solver_mode: GPU",
            field="device_id",
        )
