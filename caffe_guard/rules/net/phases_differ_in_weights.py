"""A layer has weights of other shapes in the test net than in the train net.

What happens
    At each test Caffe lets the test net use the trained weights, layer by layer of the same name, and aborts where the
    shapes differ: "Cannot share param 0 weights from layer 'fc6'; shape mismatch". Mostly the data differ: another crop
    or size in TEST, which changes what an InnerProduct reads.

How to fix
    Give both phases pictures of one size, or let a global pooling come before the first InnerProduct.

When it is fine
    Never in training; a net that is only trained, with its TEST layers for another use, is better split in two files.

Source
    Net::ShareTrainedLayersWith, src/caffe/net.cpp; Solver::Test, src/caffe/solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.net.layers.entry import differ, words
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.layers.entry import Shape
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext
    from caffe_guard.source import Source

CODE = "CG227"
NAME = "phases-differ-in-weights"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
_NET = """\
layer { name: "data" type: "DummyData" top: "x" top: "t" include { phase: TRAIN } dummy_data_param { shape { dim: 4 dim: 6 } shape { dim: 4 dim: 2 } } }
layer { name: "data" type: "DummyData" top: "x" top: "t" include { phase: TEST } dummy_data_param { shape { dim: 4 dim: 7 } shape { dim: 4 dim: 2 } } }
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "x"
  top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } }
}
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" }
"""
_SOLVER = {
    "solver.prototxt": 'net: "net.prototxt"\nbase_lr: 0.01\nlr_policy: "fixed"\nmax_iter: 4\n'
    "test_iter: 1\ntest_interval: 2\n"
}
BAD = (
    Example(_NET, expect=[4], files=_SOLVER, caffe="aborts"),
    # Without a solver nobody knows whether the net is ever tested while it trains.
    Example(_NET, expect=[(4, "warning")]),
)
GOOD = (
    Example(_NET.replace("dim: 7", "dim: 6"), files=_SOLVER, caffe="finite"),
    Example(_NET, files={"solver.prototxt": 'net: "net.prototxt"\nbase_lr: 0.01\nlr_policy: "fixed"\nmax_iter: 4\n'}),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """The train net's learnable blobs held against those of every net that is tested with its weights."""
    trained = next((net for net in ctx.phases if net.phase == "TRAIN"), None)
    if trained is None:
        return
    for source, tested in _tested(ctx):
        blobs = {layer.name: (layer, shapes) for layer, shapes in zip(tested.layers, tested.blobs)}
        for index, layer in enumerate(trained.layers):
            other = blobs.get(layer.name)
            if other is None or trained.types[index] is None:
                continue
            for ours, theirs in zip(trained.blobs[index], other[1]):
                if not _unequal(ours, theirs):
                    continue
                yield Finding(
                    f"{layer.name} has weights {words(ours)} in training and {words(theirs)} in the test net: Caffe"
                    " cannot share them, and aborts at the first test",
                    *layer.anchor,
                    help=f"it reads {_bottom(trained, index)} in TRAIN and {_bottom_of(tested, layer.name)} in TEST:"
                    " give both phases data of one size",
                    related=[] if source is ctx.source else [Related("the test net's layer", *other[0].anchor, source)],
                    layer=layer.name,
                    severity=None if ctx.solvers else Severity.WARNING,
                )
                return


def _tested(ctx: NetContext) -> list[tuple[Source, PhaseNet]]:
    """The nets that get this one's weights when they are tested: its own TEST phase, and test nets of its solvers."""
    found = [(ctx.source, net) for net in ctx.phases if net.phase == "TEST"]
    for solver in ctx.solvers:
        if not any(linked.net is ctx and linked.role == "train" for linked in solver.nets):
            continue
        for linked in solver.nets:
            if linked.role == "test" and linked.net is not None and linked.net is not ctx:
                found.extend((linked.net.source, net) for net in linked.net.phases if net.phase == "TEST")
    return found


def _unequal(one: Shape, other: Shape) -> bool:
    if one is None or other is None:
        return False
    return len(one) != len(other) or any(differ(a, b) for a, b in zip(one, other))


def _bottom(net: PhaseNet, index: int) -> str:
    return words(net.bottom_shapes[index][0]) if net.bottom_shapes[index] else "nothing"


def _bottom_of(net: PhaseNet, name: str) -> str:
    index = next(index for index, layer in enumerate(net.layers) if layer.name == name)
    return _bottom(net, index)
