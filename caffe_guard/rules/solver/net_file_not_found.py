"""A net file that the solver names is not there.

What happens
    Caffe opens the path as it stands, from the working directory of the run (not from the solver's
    folder), and aborts with "File not found" when it is not there. caffe-guard looks there as well, then
    in the solver's folder and its parents.

Why it matters
    Caffe cannot start, and the net could not be judged together with the solver.

How to fix
    Correct the path, or run Caffe from the folder the path starts at.

When it is fine
    When the solver is only looked at here and the net lies elsewhere; `--ignore CG119` then.

Source
    ReadProtoFromTextFile, src/caffe/util/io.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG119"
NAME = "net-file-not-found"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "not_there.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[1],
        caffe="aborts",
    ),
    Example(
        """\
net: "net.prototxt"
test_net: "not_there.prototxt"
test_iter: 1
test_interval: 10
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
base_lr: 0.001
lr_policy: "fixed"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """Each path that leads nowhere, once."""
    told = set()
    for missing in ctx.missing_nets:
        value = missing.value
        if value.start in told:
            continue
        told.add(value.start)
        where = ", ".join(missing.looked) if missing.looked else "nowhere, the path is empty"
        yield Finding(
            f'{missing.field}: no file "{value.value}": Caffe aborts',
            value.name_start,
            value.end,
            help=f"looked at: {where}",
            field=missing.field,
        )
