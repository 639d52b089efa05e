"""clip_gradients is 0, or is missing on a net with recurrent layers.

What happens
    When the L2 norm of all gradients together is above clip_gradients, they are scaled down to that norm.
    0 therefore makes every gradient 0: nothing is learnt but weight decay. A negative value (the default
    -1) is off. A recurrent net multiplies its gradient through all time steps, so that a single batch can
    give a norm a thousand times the usual one, and with it the first NaN.

Why it matters
    Missing clipping is the usual reason for NaN in LSTM training; clipping at 0 is the opposite of off.

How to fix
    Set clip_gradients, 1 to 50 being common for recurrent nets (Caffe prints each norm it clips); leave it
    out to turn it off.

When it is fine
    Recurrent nets with short sequences and a small rate train without.

Source
    SGDSolver::ClipGradients, src/caffe/solvers/sgd_solver.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG124"
NAME = "clip-gradients"
SEVERITY = Severity.WARNING
SCOPE = "solver"
SINCE = "0.1.0"

_RECURRENT_NET = """\
layer {
  name: "data" type: "DummyData" top: "x" top: "cont" top: "y"
  dummy_data_param {
    shape { dim: 3 dim: 2 dim: 4 } shape { dim: 3 dim: 2 } shape { dim: 3 dim: 2 dim: 5 }
  }
}
layer {
  name: "lstm" type: "LSTM" bottom: "x" bottom: "cont" top: "h"
  recurrent_param { num_output: 5 weight_filler { type: "xavier" } }
}
layer { name: "loss" type: "EuclideanLoss" bottom: "h" bottom: "y" top: "loss" }
"""

BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
clip_gradients: 0
""",
        expect=[(4, "error")],
        caffe="finite",
        files=FILES,
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
""",
        expect=[3],
        caffe="finite",
        files={"net.prototxt": _RECURRENT_NET},
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
clip_gradients: 10
""",
        caffe="finite",
        files={"net.prototxt": _RECURRENT_NET},
    ),
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


_RECURRENT = ("LSTM", "RNN", "LSTMUnit", "Lstm", "GRU")


def check(ctx: SolverContext) -> Iterator[Finding]:
    """clip_gradients 0; or none although a train net recurs."""
    solver = ctx.solver
    limit = solver.real("clip_gradients", -1.0)
    if limit == 0:
        start, end = solver.place("clip_gradients")
        yield Finding(
            "clip_gradients 0 scales every gradient to 0: nothing is learnt",
            start,
            end,
            help="leave clip_gradients out (off), or set a limit above 0",
            field="clip_gradients",
            severity=Severity.ERROR,
        )
        return
    if limit > 0:
        return
    for linked in ctx.nets:
        if linked.role != "train" or linked.net is None:
            continue
        layers = linked.net.by_type(*_RECURRENT)
        if layers:
            layer = layers[0]
            start, end = solver.place("clip_gradients")
            yield Finding(
                f"the net recurs ({layer.name}: {layer.type}) and the solver does not clip gradients",
                start,
                end,
                help="set clip_gradients, 10 say",
                related=[
                    Related(f"the {layer.type} layer", layer.anchor[0], layer.anchor[1], source=linked.net.source)
                ],
                field="clip_gradients",
            )
            return
