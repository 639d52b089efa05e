"""A layer works in place on a blob whose values are still needed.

What happens
    In place, a layer overwrites its input. Caffe checks that for a few types only. Three things go wrong without a word:
    some types read their input again in backward (Power, Log, BNLL, Clip, MVN, LRN, Pooling, Convolution, …), so that
    their gradient is wrong, and of a few even the output. Others (MVN, LRN, Sigmoid, TanH, Softmax, Exp, ELU, Swish)
    read their own *output* again, which the next layer in place has changed. And a ReLU in place tells from the sign of
    its output where the gradient passes: BatchNorm, Scale or Bias in place behind it change the sign.
    Flatten and Reshape share their memory with their input: a layer in place behind them changes that too.

Why it matters
    Nothing is said: the forward values look right, and the net learns badly or not at all.

How to fix
    Give the top a name of its own.

When it is fine
    Where no gradient passes. A ReLU in place behind Sigmoid, Softmax, TanH or LRN changes nothing that is still needed;
    BatchNorm, Scale, ReLU and Dropout in place, in this order, are right.

Source
    Backward_cpu of each layer in src/caffe/layers/; each pair was compared with its form out of place in real Caffe
    (tests/caffe/test_in_place.py).
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Related, Severity
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
        fixed=_HEAD
        + """\
layer { name: "m" type: "MVN" bottom: "c" top: "m" }
layer {
  name: "r"
  type: "ReLU"
  bottom: "m"
  top: "r"
}
"""
        + _TAIL.replace('"x"', '"r"'),
        caffe="finite",
    ),
    Example(
        _HEAD
        + """\
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "drop" type: "Dropout" bottom: "c" top: "c" }
layer {
  name: "bn"
  type: "BatchNorm"
  bottom: "c"
  top: "c"
}
"""
        + _TAIL.replace('"x"', '"c"'),
        expect=[9],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + """\
layer { name: "bn" type: "BatchNorm" bottom: "c" top: "c" }
layer { name: "scale" type: "Scale" bottom: "c" top: "c" scale_param { bias_term: true } }
layer { name: "r" type: "ReLU" bottom: "c" top: "c" }
layer { name: "drop" type: "Dropout" bottom: "c" top: "c" }
"""
        + _TAIL.replace('"x"', '"c"'),
        caffe="finite",
    ),
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
# Types whose backward reads their own top, and the types in place behind them that leave what is needed as it is: a
# ReLU where the top is not negative, or where it cuts no gradient comes back and each item stands for itself.
_READS_TOP: dict[str, tuple[str, ...]] = {
    "ELU": ("ReLU",),
    "Exp": ("ReLU", "PReLU", "ELU"),
    "LRN": ("ReLU",),
    "MVN": ("BatchNorm",),
    "Power": ("ReLU",),
    "Sigmoid": ("ReLU", "PReLU", "ELU"),
    "Softmax": ("ReLU", "PReLU", "ELU"),
    "Swish": ("ReLU",),
    "TanH": ("ReLU",),
}
# What may change the sign by which a ReLU in place knows where it let values pass.
_CHANGES_SIGN = ("BatchNorm", "Bias", "Exp", "Scale", "Sigmoid", "Softmax")
# Types in place that are right by themselves, and change the values.
_CHANGES_VALUES = (
    *_CHANGES_SIGN,
    "Dropout",
    "ELU",
    "PReLU",
    "ReLU",
    "Swish",
    "TanH",
)
_SHARES_MEMORY = ("Flatten", "Reshape")
# How far a chain of layers in place is followed back; longer ones are not written by people.
_LONGEST_CHAIN = 32


def check(ctx: NetContext) -> Iterator[Finding]:
    """In-place layers on the way of a gradient; those that make a wrong output in any net."""
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            read = overwritten(net, index)
            if read is None:
                continue
            fault = own_fault(net, index)
            if fault is not None:
                if fault == WRONG or net.need_backward[index]:
                    yield _own(ctx, layer, fault)
            elif ctx.trains and net.phase == "TRAIN" and net.need_backward[index]:
                yield from _spoiled(ctx, net, layer, read)


def overwritten(net: PhaseNet, index: int) -> Version | None:
    """The version of a blob that a layer overwrites in place; None when it works in place on none."""
    layer = net.layers[index]
    for read, top in zip(net.graph.reads[index], layer.tops):
        if read is not None and read.name == top.value:
            return read
    return None


def own_fault(net: PhaseNet, index: int) -> str | None:
    """What a layer in place does wrong by itself: WRONG_GRADIENT, WRONG (its output too), or None."""
    layer, entry = net.layers[index], net.types[index]
    if entry is None:
        return None
    if layer.type == "ReLU":
        return WRONG_GRADIENT if layer.param("relu_param").get("negative_slope") < 0 else None
    if entry.in_place not in (WRONG, WRONG_GRADIENT):
        return None
    if layer.type == "Power":
        param = layer.param("power_param")
        # The output is then a constant, and the gradient 0.
        return None if param.get("power") * param.get("scale") == 0 else WRONG_GRADIENT
    if layer.type == "MVN":
        return WRONG_GRADIENT if layer.param("mvn_param").get("normalize_variance") else None
    if layer.type == "LRN" and layer.param("lrn_param").get("norm_region") == "WITHIN_CHANNEL":
        return WRONG_GRADIENT
    if layer.type == "Eltwise" and layer.param("eltwise_param").get("operation") == "PROD":
        return WRONG_GRADIENT
    return entry.in_place


def spoils(earlier: Layer, earlier_in_place: bool, layer: Layer) -> bool:
    """Whether a layer in place destroys what an earlier one, which made the blob, reads of it in backward."""
    if layer.type not in _CHANGES_VALUES:
        return False
    if layer.type == "Dropout" and layer.param("dropout_param").get("dropout_ratio") == 0:
        return False
    if earlier.type == "ReLU":
        if not earlier_in_place or layer.type not in _CHANGES_SIGN:
            return False
        # A Scale alone keeps the sign as long as its factors stay positive.
        return layer.type != "Scale" or bool(layer.param("scale_param").get("bias_term")) or len(layer.bottoms) > 1
    harmless = _READS_TOP.get(earlier.type)
    if harmless is None or not _reads_top(earlier):
        return False
    if layer.type == "ReLU" and layer.param("relu_param").get("negative_slope") != 0:
        # A leaky one changes what is negative: nothing, behind the types whose tops are not.
        return "PReLU" not in harmless
    return layer.type not in harmless


def _reads_top(layer: Layer) -> bool:
    """Whether these settings of a type make its backward read its top."""
    if layer.type == "MVN":
        return bool(layer.param("mvn_param").get("normalize_variance"))
    if layer.type == "LRN":
        return bool(layer.param("lrn_param").get("norm_region") == "ACROSS_CHANNELS")
    if layer.type == "Power":
        param = layer.param("power_param")
        return param.get("power") not in (0, 1, 2) and param.get("scale") != 0
    return True


def _spoiled(ctx: NetContext, net: PhaseNet, layer: Layer, read: Version) -> Iterator[Finding]:
    """From the overwritten version back through the layers that worked in place before."""
    version: Version | None = read
    for _ in range(_LONGEST_CHAIN):
        if version is None:
            return
        producer = version.producer
        place = version.index
        before = overwritten(net, place)
        # A layer in place that is wrong by itself has been told.
        told = before is not None and own_fault(net, place) is not None
        if net.need_backward[place] and not told and spoils(producer, before is not None, layer):
            yield _finding(
                ctx,
                layer,
                f'{producer.type} "{producer.name}" reads its output again in backward, and "{layer.name}" has'
                f' overwritten it in place: the gradient of "{producer.name}" is wrong',
                producer,
            )
            return
        if producer.type in _SHARES_MEMORY and layer.type in _CHANGES_VALUES:
            origin = net.graph.reads[place][0] if net.graph.reads[place] else None
            if origin is not None and origin.uses > 1:
                yield _finding(
                    ctx,
                    layer,
                    f'"{read.name}" shares its memory with "{origin.name}", which other layers read too: "{layer.name}"'
                    " in place changes both",
                    producer,
                )
                return
        version = before


def _own(ctx: NetContext, layer: Layer, fault: str) -> Finding:
    what = "its output and its gradient are" if fault == WRONG else "the gradient is"
    return _finding(ctx, layer, f"{layer.type} still needs the input that it overwrites in place: {what} wrong")


def _finding(ctx: NetContext, layer: Layer, message: str, producer: Layer | None = None) -> Finding:
    top = layer.tops[0]
    related = [] if producer is None else [Related(f'"{producer.name}" makes the blob', *producer.anchor)]
    return Finding(
        message,
        top.name_start,
        top.end,
        help=f'give the top of "{layer.name}" a name of its own',
        fix=_renaming(ctx, layer),
        layer=layer.name,
        field="top",
        related=related,
    )


def _renaming(ctx: NetContext, layer: Layer) -> Fix | None:
    """A name of its own for the top, here and in all layers that come after: for a layer of all phases only."""
    message = layer.message
    if ctx.net.syntax == "V0" or message.has("include") or message.has("exclude") or len(layer.tops) != 1:
        return None
    old: str = layer.tops[0].value
    taken = {value.value for other in ctx.layers for value in (*other.bottoms, *other.tops)}
    new = layer.name if layer.name and layer.name not in taken else f"{old}_{layer.type.lower()}"
    if new in taken or not new.isprintable() or '"' in new or "\\" in new:
        return None
    places = [layer.tops[0]]
    for other in ctx.layers[layer.index + 1 :]:
        places.extend(value for value in (*other.bottoms, *other.tops) if value.value == old)
    edits = [Edit(value.start, value.end, f'"{new}"') for value in places]
    return Fix(f'name the top of "{layer.name}" "{new}", and read that after it', edits)
