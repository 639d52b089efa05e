"""The solver names no train net, or more than one.

What happens
    Exactly one of net, net_param, train_net and train_net_param must be given; anything else aborts before
    a net is built.

Why it matters
    net and train_net together is a common leftover of an edit.

How to fix
    net for one file with both phases; train_net with test_net for two files.

When it is fine
    A template whose net a script fills in.

Source
    Solver::InitTrainNet, src/caffe/solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES
from caffe_guard.solver.model import TRAIN_NET_FIELDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG118"
NAME = "several-train-nets"
SEVERITY = Severity.ERROR
SCOPE = "solver"
SINCE = "0.1.0"

BAD = (
    Example(
        """\
net: "net.prototxt"
train_net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[2],
        caffe="aborts",
        files=FILES,
    ),
    Example(
        """\
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[2],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
train_net: "net.prototxt"
test_net: "net.prototxt"
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
    """How many of the four fields are given."""
    solver = ctx.solver
    given = [value for value in map(solver.message.at, TRAIN_NET_FIELDS) if value is not None]
    if len(given) == 1:
        return
    if not given:
        start, end = solver.anchor
        yield Finding(
            "the solver names no train net: Caffe aborts",
            start,
            end,
            help="add net (or train_net, net_param, train_net_param)",
            field="net",
        )
        return
    given.sort(key=lambda value: value.name_start)
    names = [ctx.source.text[value.name_start : value.name_end] for value in given]
    for value, name in zip(given[1:], names[1:]):
        yield Finding(
            f"{names[0]} and {name} both name the train net: Caffe aborts",
            value.name_start,
            value.name_end,
            help="keep one of " + ", ".join(names),
            related=[Related(f"{names[0]} is here", given[0].name_start, given[0].name_end)],
            field=name,
        )
