"""A blob that nothing reads: Caffe prints all its values, again and again.

What happens
    A top without a reader is an output of the net. `caffe train` prints every output at every display, and every output of a
    test net after each test, one line a value: a label map of 1600 pixels is 1600 lines an iteration.

Why it matters
    The log drowns, and the training waits for it. Often the blob was meant to be read: the bottom of the loss or of an
    Accuracy names another one.

How to fix
    Read the blob where it was meant to be, remove the top where the layer allows it, or end it with
    layer { type: "Silence" bottom: "…" }.

When it is fine
    For blobs you want to see in the log. Losses, accuracies and single numbers are not told.

Source
    Net::Init, src/caffe/net.cpp (net outputs); Solver::Step and Solver::Test, src/caffe/solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.net.layers.entry import count, words
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.graph import Version
    from caffe_guard.net.layers.entry import Shape
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG208"
NAME = "unused-top"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
_SOLVER = 'net: "net.prototxt"\nbase_lr: 0.01\nlr_policy: "fixed"\nmax_iter: 10\ndisplay: 1\nsolver_mode: CPU\n'
BAD = (
    Example(
        """\
layer {
  name: "d"
  type: "DummyData"
  top: "x"
  top: "y"
  top: "weight"
  dummy_data_param { shape { dim: 2 dim: 9 } }
}
layer { name: "loss" type: "EuclideanLoss" bottom: "x" bottom: "y" top: "loss" }
""",
        expect=[6],
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
)
GOOD = (
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" top: "y" top: "weight" dummy_data_param { shape { dim: 2 dim: 9 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "x" bottom: "y" top: "loss" }
layer { name: "quiet" type: "Silence" bottom: "weight" }
""",
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 9 } } }
""",
        caffe="finite",
    ),
)

# What is made to be looked at.
_MEANT = ("Accuracy", "Python", "HDF5Output")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Outputs of more than one value in a net that is trained."""
    if not ctx.solvers and not ctx.trains:
        return
    found: dict[int, tuple[Version, Shape, list[str]]] = {}
    for net in ctx.phases:
        if net.phase == "TRAIN" and not _displays(ctx):
            continue
        for version, shape in _outputs(net):
            top = version.producer.tops[version.top]
            found.setdefault(top.start, (version, shape, []))[2].append(net.phase)
    for version, shape, phases in found.values():
        top = version.producer.tops[version.top]
        when = "at every display" if "TRAIN" in phases else "after every test"
        values = count(shape) if shape is not None else None
        many = f"its {values} values ({words(shape)})" if values is not None else "each of its values"
        yield Finding(
            f'nothing reads "{version.name}": Caffe prints {many}, a line each, {when}',
            top.name_start,
            top.end,
            help='let the layer that needs it read it, or end it with layer { type: "Silence" bottom: "'
            + version.name
            + '" }',
            layer=version.producer.name,
            field="top",
        )


def _displays(ctx: NetContext) -> bool:
    """Whether some solver that trains the net prints the outputs: display is 0, never, by default.

    Without a solver in sight one that displays is taken for granted.
    """
    return not ctx.solvers or any(
        solver.message.get("display")
        for solver in ctx.solvers
        if any(linked.net is ctx and linked.role == "train" for linked in solver.nets)
    )


def _outputs(net: PhaseNet) -> Iterator[tuple[Version, Shape]]:
    for version in net.graph.dead():
        entry = net.types[version.index]
        # A fork's layer may be an evaluation that is made to be read.
        if entry is None or entry.is_loss or version.loss_weight or version.producer.type in _MEANT:
            continue
        shape = net.top_shapes[version.index][version.top]
        if shape is None or count(shape) == 1:
            continue
        yield version, shape
