"""A layer works in place on a blob whose values are still needed for the gradient.

What happens
    In place, a layer overwrites its input. Caffe checks that for a few types only. Some types read their input again in
    backward (Power, Log, BNLL, Clip, MVN, LRN, Eltwise, Convolution, Pooling, …): in place they compute a wrong gradient,
    some even a wrong output. Others (MVN, Sigmoid, TanH, Softmax, Exp) read their own *output* again, so that the next
    layer may not overwrite it. And Flatten and Reshape share their memory with their input: a layer in place behind them
    changes that too.

Why it matters
    Nothing is said: the forward values look right, and the net learns badly or not at all.

How to fix
    Give the top a name of its own.

When it is fine
    In a net that is not trained, and where no gradient passes. A ReLU in place behind Sigmoid, Softmax or LRN changes
    nothing that is still needed.

Source
    Backward_cpu of each layer in src/caffe/layers/; each pair was compared with its form out of place in real Caffe.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.net.layers.entry import WRONG, WRONG_GRADIENT
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.graph import Version
    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG209"
NAME = "in-place-breaks-gradient"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "data" type: "DummyData" top: "data" top: "t" dummy_data_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } shape { dim: 2 dim: 2 } data_filler { type: "gaussian" } } }
layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 3 kernel_size: 1 weight_filler { type: "xavier" } } }
"""
_TAIL = """\
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" }
"""
BAD = (
    Example(
        _HEAD
        + """\
layer {
  name: "p"
  type: "Power"
  bottom: "c"
  top: "c"
  power_param { power: 2 }
}
"""
        + _TAIL.replace('"x"', '"c"'),
        expect=[7],
        caffe="finite",
    ),
    Example(
        _HEAD
        + """\
layer { name: "m" type: "MVN" bottom: "c" top: "m" }
layer {
  name: "r"
  type: "ReLU"
  bottom: "m"
  top: "m"
}
"""
        + _TAIL.replace('"x"', '"m"'),
        expect=[8],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + """\
layer { name: "m" type: "MVN" bottom: "c" top: "m" }
layer { name: "r" type: "ReLU" bottom: "m" top: "x" }
"""
        + _TAIL,
        caffe="finite",
    ),
)
# Types whose backward reads their own top, and how a later layer in place spoils it.
_READS_TOP = {
    "MVN": "MVN reads its output again in backward",
    "Sigmoid": "Sigmoid computes its gradient from its output",
    "TanH": "TanH computes its gradient from its output",
    "Softmax": "Softmax computes its gradient from its output",
    "Exp": "Exp computes its gradient from its output",
    "ELU": "ELU computes its gradient from its output",
    "Swish": "Swish reads its output again in backward",
}
# A ReLU keeps what is positive, and where it cuts, no gradient comes back: harmless behind these.
_RELU_SAFE = ("Sigmoid", "Softmax", "Exp", "TanH", "ELU", "Swish")
_SHARES_MEMORY = ("Flatten", "Reshape")


def check(ctx: NetContext) -> Iterator[Finding]:
    """In-place layers on the way of a gradient, in the phases in which the net is trained."""
    if not ctx.trains:
        return
    for net in ctx.phases:
        if net.phase == "TRAIN":
            yield from _check_phase(net)


def _check_phase(net: PhaseNet) -> Iterator[Finding]:
    shared: dict[int, Version] = {}
    place_of = {id(layer): index for index, layer in enumerate(net.layers)}
    for index, layer in enumerate(net.layers):
        reads, writes = net.graph.reads[index], net.graph.writes[index]
        if layer.type in _SHARES_MEMORY and reads and reads[0] is not None and writes:
            shared[id(writes[0])] = reads[0]
        if not layer.bottoms or not layer.tops or reads[0] is None:
            continue
        in_place = next(
            (read for read, top in zip(reads, layer.tops) if read is not None and read.name == top.value), None
        )
        if in_place is None or not net.need_backward[index]:
            continue
        entry = net.types[index]
        maker = place_of.get(id(in_place.producer))
        gradient = maker is not None and net.need_backward[maker]
        if entry is not None and entry.in_place in (WRONG, WRONG_GRADIENT) and not _is_linear(layer) and gradient:
            what = "output and gradient are" if entry.in_place is WRONG else "gradient is"
            yield _finding(layer, f"{layer.type} reads its input again in backward: in place its {what} wrong")
            continue
        if not gradient or layer.type == "Python":
            continue
        producer = in_place.producer
        reason = _READS_TOP.get(producer.type)
        if reason is not None and not (layer.type == "ReLU" and producer.type in _RELU_SAFE):
            yield _finding(layer, f'{reason}, and {layer.name} overwrites it in place: the gradient of "{producer.name}" is wrong', producer)
            continue
        origin = shared.get(id(in_place))
        if origin is not None and origin.uses > 1:
            yield _finding(
                layer,
                f'"{in_place.name}" shares its memory with "{origin.name}", which other layers read too; {layer.name} in'
                " place changes both",
                producer,
            )


def _is_linear(layer: Layer) -> bool:
    """A Power that only scales by 1, whatever it adds: its gradient is what comes in, times 1."""
    if layer.type != "Power":
        return False
    param = layer.param("power_param")
    return bool(param.get("power") * param.get("scale") == 0)


def _finding(layer: Layer, message: str, producer: Layer | None = None) -> Finding:
    top = layer.tops[0]
    related = [] if producer is None else [Related(f'"{producer.name}" makes the blob', producer.anchor[0], producer.anchor[1])]
    return Finding(
        message,
        top.name_start,
        top.end,
        help=f'give the top of "{layer.name}" a name of its own',
        layer=layer.name,
        field="top",
        related=related,
    )
