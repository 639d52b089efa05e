"""The solver has no random_seed, so no two runs start alike.

What happens
    Caffe seeds its generator from the system: fillers, dropout, mirroring, cropping and the shuffling of ImageData differ
    from run to run. A failure such as a NaN at iteration 1200 may not come again.

How to fix
    Write `random_seed: 1` (any number from 0) while you look for a fault or compare two settings. On a GPU it is not enough
    for equal runs: see CG602.

When it is fine
    Nearly always: most public solvers have none. It is told so that you know why two runs differ.

Source
    Solver::Init, src/caffe/solver.cpp; Caffe::set_random_seed, src/caffe/common.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Severity
from caffe_guard.prototxt.edit import insert_after
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG601"
NAME = "no-random-seed"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
max_iter: 10
""",
        expect=[3],
        fixed="""\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
random_seed: 1
max_iter: 10
""",
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.01
lr_policy: "fixed"
random_seed: -1
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
lr_policy: "fixed"
random_seed: 0
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """random_seed absent, or negative, which means the same."""
    solver = ctx.solver
    seed = solver.message.at("random_seed")
    if seed is not None and seed.value >= 0:
        return
    if seed is not None:
        text, start, end = f"random_seed {seed.value} is none", seed.name_start, seed.end
        fix = None
    else:
        text = "no random_seed"
        start, end = solver.anchor
        edit = insert_after(ctx.source.text, start, end, "random_seed: 1")
        fix = Fix("write random_seed: 1", [edit]) if end > start else None
    yield Finding(
        f"{text}: fillers, dropout and augmentation differ from run to run",
        start,
        end,
        help="write random_seed: 1 while you compare runs or look for a fault",
        fix=fix,
        field="random_seed",
    )
