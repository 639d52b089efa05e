"""The solver trains a net that has no loss.

What happens
    Caffe builds and runs the net, displays a loss of 0, and changes nothing but by weight decay: without a loss no layer needs
    backward. No message says so.

How to fix
    Add a loss layer on the output. A loss written in Python, and any other blob that is to be minimised, needs
    `loss_weight: 1` in its layer: only Caffe's own loss types have a weight by default.

When it is fine
    When the solver serves only to load or test a net.

Source
    Layer::SetLossWeights, include/caffe/layer.hpp; Net::Init, src/caffe/net.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.prototxt.edit import insert_after
from caffe_guard.rules.net._gradient import has_weight
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG210"
NAME = "missing-loss"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_SOLVER = 'net: "net.prototxt"\nbase_lr: 0.01\nlr_policy: "fixed"\nmax_iter: 10\nsolver_mode: CPU\n'
_LOSS = """\
import caffe


class Loss(caffe.Layer):
    def setup(self, bottom, top):
        top[0].reshape(1)

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        top[0].data[...] = (bottom[0].data ** 2).sum()

    def backward(self, top, propagate_down, bottom):
        bottom[0].diff[...] = 2 * bottom[0].data
"""
BAD = (
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "gaussian" } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "p" type: "Softmax" bottom: "fc" top: "p" }
""",
        expect=[3],
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "gaussian" } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer {
  name: "my_loss"
  type: "Python"
  bottom: "fc"
  top: "loss"
  python_param { module: "my_loss" layer: "Loss" }
}
""",
        expect=[4],
        fixed="""\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "gaussian" } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer {
  name: "my_loss"
  type: "Python"
  bottom: "fc"
  top: "loss"
  loss_weight: 1
  python_param { module: "my_loss" layer: "Loss" }
}
""",
        caffe="finite",
        files={"solver.prototxt": _SOLVER, "my_loss.py": _LOSS},
    ),
)
GOOD = (
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "gaussian" } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "sum" type: "Reduction" bottom: "fc" top: "sum" loss_weight: 0.5 }
""",
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """The train net of a solver, when no top of it carries a weight."""
    if not ctx.solvers or not ctx.trains:
        return
    for net in ctx.phases:
        if net.phase != "TRAIN" or not net.layers:
            continue
        if any(has_weight(net, index) for index in range(len(net.layers))):
            continue
        yield _finding(ctx, net)


def _finding(ctx: NetContext, net: PhaseNet) -> Finding:
    zero = next((layer for layer in net.layers if layer.message.has("loss_weight")), None)
    own = _python_loss(net)
    layer = zero or own or net.layers[-1]
    if zero is not None:
        what = f'every loss_weight of the train net is 0, as in "{zero.name}"'
        advice = "give the loss a weight that is not 0"
    elif own is not None:
        what = (
            f'the train net has no loss: the Python layer "{own.name}" has no loss_weight, so its backward never runs'
        )
        advice = f'write loss_weight: 1 in "{own.name}" if it is the loss'
    else:
        what = "the train net has no loss"
        advice = "add a loss layer, or give the blob to be minimised a loss_weight"
    fix = None
    if zero is None and own is not None and len(own.tops) == 1:
        edits: list[Edit] = [insert_after(ctx.source.text, own.tops[-1].name_start, own.tops[-1].end, "loss_weight: 1")]
        fix = Fix(f'give "{own.name}" the weight of a loss', edits)
    return Finding(
        f"{what}: Caffe runs, and no layer learns anything",
        *layer.anchor,
        help=advice,
        fix=fix,
        layer=layer.name,
        field="loss_weight",
    )


def _python_loss(net: PhaseNet) -> Layer | None:
    """The last Python layer whose top nothing reads: what a loss looks like."""
    dead = {id(version.producer) for version in net.graph.dead()}
    for layer in reversed(net.layers):
        if layer.type == "Python" and layer.bottoms and id(layer) in dead:
            return layer
    return None
