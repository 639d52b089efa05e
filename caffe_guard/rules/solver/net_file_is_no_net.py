"""The file that the solver names as its net is something else: a solver, or a label map.

What happens
    Caffe reads the file as a net, stops at the first field that a net does not have, for example
    'Message type "caffe.NetParameter" has no field named "base_lr"', and aborts.

How to fix
    Name the net's file. Often the paths of the solver and the net were exchanged.

Source
    ReadNetParamsFromTextFileOrDie, src/caffe/util/upgrade_proto.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.files import LABEL_MAP, SOLVER
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG130"
NAME = "net-file-is-no-net"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"
BAD = (
    Example(
        'net: "solver.prototxt"\nbase_lr: 0.001\nlr_policy: "fixed"\nmax_iter: 2\n',
        expect=[1],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        'net: "net.prototxt"\nbase_lr: 0.001\nlr_policy: "fixed"\nmax_iter: 2\n',
        caffe="finite",
        files=FILES,
    ),
)
_WORDS = {SOLVER: "a solver", LABEL_MAP: "a label map"}


def check(ctx: SolverContext) -> Iterator[Finding]:
    """The files that were found and hold the fields of another message."""
    told = set()
    for linked in ctx.nets:
        what = _WORDS.get(linked.kind or "")
        if what is None or linked.value.start in told:
            continue
        told.add(linked.value.start)
        yield Finding(
            f'{linked.field}: "{linked.value.value}" is {what}, not a net: Caffe aborts',
            linked.value.name_start,
            linked.value.end,
            help=f"name the net's file (this one is {linked.path})",
            field=linked.field,
        )
