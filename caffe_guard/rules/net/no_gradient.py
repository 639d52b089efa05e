"""Layers with weights that no gradient reaches.

What happens
    Caffe runs backward only on the way from a loss to a blob that may change. A layer whose outputs lead to no loss, or only
    through layers that stop the gradient, is never trained, and keeps what its fillers or the loaded weights gave. The log
    says "does not need backward computation" for it, once, at the start.

How to fix
    Let the branch lead to a loss, give its loss a weight, or say that it is frozen on purpose: `lr_mult: 0` for each of its
    blobs.

When it is fine
    For a branch that is trained in another run, and for layers that only make something to look at.

Source
    Net::Init, src/caffe/net.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.net._gradient import has_weight, learns
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG211"
NAME = "no-gradient"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_SOLVER = 'net: "net.prototxt"\nbase_lr: 0.01\nlr_policy: "fixed"\nmax_iter: 10\nsolver_mode: CPU\n'
_DATA = """\
layer { name: "d" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 2 dim: 3 } data_filler { type: "gaussian" } } }
"""
BAD = (
    Example(
        _DATA
        + """\
layer {
  name: "fc"
  type: "InnerProduct"
  bottom: "x"
  top: "fc"
  param { lr_mult: 0 }
  param { lr_mult: 0 }
  inner_product_param { num_output: 3 }
}
layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }
""",
        expect=[3],
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
    Example(
        _DATA
        + """\
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
layer {
  name: "side"
  type: "InnerProduct"
  bottom: "x"
  top: "side"
  inner_product_param { num_output: 3 }
}
layer { name: "p" type: "Softmax" bottom: "side" top: "p" }
layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }
""",
        expect=[4],
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
)
GOOD = (
    Example(
        _DATA
        + """\
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 3 } }
layer { name: "loss" type: "EuclideanLoss" bottom: "fc" bottom: "y" top: "loss" }
""",
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """In a train net with a loss: nothing learns at all, or some layers are left out; told once a file."""
    if not ctx.solvers or not ctx.trains:
        return
    for net in ctx.phases:
        layers = range(len(net.layers))
        if net.phase != "TRAIN" or net.problems or not any(has_weight(net, index) for index in layers):
            continue
        if any(_is_foreign(net, index) for index in layers):
            continue
        weighty = [index for index in layers if net.blobs[index] and net.layers[index].type != "BatchNorm"]
        learning = [index for index in weighty if learns(net, index)]
        if weighty and not learning:
            yield _nothing_learns(net, weighty)
            continue
        left = [index for index in learning if not net.need_backward[index]]
        if not left or (len(left) == len(learning) and _loss_is_skipped(net)):
            # The second case is told by the rule about what reads the loss.
            continue
        yield _left_out(net, left, len(learning))


def _is_foreign(net: PhaseNet, index: int) -> bool:
    """Whether what a layer passes on is not known: a fork's type, or Python code with blobs of its own."""
    return net.types[index] is None


def _loss_is_skipped(net: PhaseNet) -> bool:
    """Whether a loss runs no backward because of what reads its top."""
    places = {id(layer): index for index, layer in enumerate(net.layers)}
    return any(
        entry is not None
        and entry.is_loss
        and not net.need_backward[index]
        and any(
            not net.need_backward[places[id(reader)]]
            for version in net.graph.writes[index]
            for reader, _ in version.readers
        )
        for index, entry in enumerate(net.types)
    )


def _nothing_learns(net: PhaseNet, weighty: list[int]) -> Finding:
    layer = net.layers[weighty[0]]
    return Finding(
        f"nothing is trained: lr_mult is 0 for every learnable blob of the net's {len(weighty)}"
        f" {'layer' if len(weighty) == 1 else 'layers'} with weights",
        *layer.anchor,
        help="give the layers that are to learn an lr_mult that is not 0",
        layer=layer.name,
        field="param.lr_mult",
    )


def _left_out(net: PhaseNet, left: list[int], learning: int) -> Finding:
    layer = net.layers[left[0]]
    if len(left) == learning:
        what = "no gradient reaches any layer with weights"
    elif len(left) == 1:
        what = f'no gradient reaches "{layer.name}", so it is never trained'
    else:
        what = f'no gradient reaches "{layer.name}" and {len(left) - 1} more of {learning} layers with weights'
    return Finding(
        f"{what}: nothing that {'they make' if len(left) > 1 else 'it makes'} leads to a loss",
        *layer.anchor,
        help="let the branch lead to a loss, or freeze it with lr_mult: 0 to say that this is meant",
        related=[Related(f'"{net.layers[index].name}" too', *net.layers[index].anchor) for index in left[1:4]],
        layer=layer.name,
    )
