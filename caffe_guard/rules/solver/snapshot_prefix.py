"""The folder of snapshot_prefix does not exist, or snapshots are asked for without a prefix.

What happens
    Caffe does not make folders. With snapshot above 0 it tries to write at the prefix when it starts, and
    aborts if it cannot. With snapshot 0 (the default) it still writes a snapshot at the end of the run,
    without having tried: a missing folder then kills the process after the whole training, and the weights
    are lost. Relative prefixes start at the working directory. Without a prefix BVLC Caffe since January
    2018 uses the solver's path without its ending; release 1.0 and the forks abort when snapshot is above 0.

Why it matters
    Days of training can be lost at the last step.

How to fix
    mkdir the folder, or correct the prefix.

When it is fine
    When a script makes the folder before the run. The rule keeps quiet when the solver's nets are not
    found here either: then this is not the place where Caffe runs.

Source
    Solver::CheckSnapshotWritePermissions and Solver::Solve, src/caffe/solver.cpp;
    UpgradeSnapshotPrefixProperty, src/caffe/util/upgrade_proto.cpp.
"""

from __future__ import annotations

import os

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG120"
NAME = "snapshot-prefix"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
snapshot: 100
snapshot_prefix: "no_such_folder_here/model"
""",
        expect=[5],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
max_iter: 10
snapshot_prefix: "no_such_folder_here/model"
""",
        expect=[5],
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
snapshot: 100
""",
        expect=[(4, "info")],
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
snapshot: 100
snapshot_prefix: "model"
""",
        caffe="finite",
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """The prefix, and whether its folder is there."""
    solver = ctx.solver
    snapshot = solver.integer("snapshot")
    prefix = str(solver.message.get("snapshot_prefix") or "")
    if not prefix:
        if snapshot > 0:
            start, end = solver.place("snapshot")
            yield Finding(
                f"snapshot {snapshot} without snapshot_prefix: release 1.0 and the forks abort,"
                " newer BVLC Caffe takes the solver's own path",
                start,
                end,
                help="set snapshot_prefix",
                field="snapshot_prefix",
                severity=Severity.INFO,
            )
        return
    writes = snapshot > 0 or solver.message.get("snapshot_after_train")
    if not writes or not any(linked.path and linked.net is not None for linked in ctx.nets):
        return
    folder = os.path.dirname(prefix)
    if not folder or "\0" in folder or _is_there(folder, ctx.base_dir):
        return
    start, end = solver.place("snapshot_prefix")
    when = (
        "Caffe aborts when it starts" if snapshot > 0 else "Caffe dies at the end of the run and the weights are lost"
    )
    yield Finding(
        f"the folder {folder} of snapshot_prefix does not exist: {when}",
        start,
        end,
        help=f"mkdir -p {folder}",
        field="snapshot_prefix",
    )


def _is_there(folder: str, base_dir: str) -> bool:
    """From the working directory, as Caffe does, or from the solver's folder or one of its parents."""
    if os.path.isdir(folder):
        return True
    if os.path.isabs(folder):
        return False
    base = os.path.abspath(base_dir)
    while True:
        if os.path.isdir(os.path.join(base, folder)):
            return True
        parent = os.path.dirname(base)
        if parent == base:
            return False
        base = parent
