"""A filler that Caffe refuses when it fills the blob.

What happens
    Caffe fills a layer's blobs while it builds the net, also when weights are loaded afterwards, and aborts on a filler it
    does not know or cannot use: a type of another name, a gaussian whose std is not above 0, a uniform whose min is above
    max, a bilinear filler on a blob that is not a stack of square filters, sparse with another type than gaussian or above
    the number of outputs. A constant that is NaN or infinite is filled in without a word.

How to fix
    The types are constant, uniform, gaussian, positive_unitball, xavier, msra and bilinear, in small letters. For "std 0"
    write a constant.

When it is fine
    Never in BVLC's Caffe. Forks have types of their own: in their files an unknown type is a warning.

Source
    GetFiller and the filler classes, include/caffe/filler.hpp; caffe_rng_gaussian, caffe_rng_uniform and
    caffe_rng_bernoulli, src/caffe/util/math_functions.cpp.
"""

from __future__ import annotations

import math

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.net.layers.entry import words
from caffe_guard.rules.rule import Example
from caffe_guard.solver.float32 import f32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.layers.entry import Shape
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext
    from caffe_guard.schema.message import Value

CODE = "CG321"
NAME = "filler-refused"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
_DATA = """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 4 dim: 5 dim: 5 } data_filler { type: "gaussian" } } }
"""
_FC = """\
layer {
  name: "fc"
  type: "InnerProduct"
  bottom: "x"
  top: "fc"
  inner_product_param {
    num_output: 6
    weight_filler { %s }
  }
}
"""
BAD = (
    Example(_DATA + _FC % 'type: "xaiver"', expect=[9], fixed=_DATA + _FC % 'type: "xavier"', caffe="aborts"),
    Example(_DATA + _FC % 'type: "Gaussian"', expect=[9], fixed=_DATA + _FC % 'type: "gaussian"', caffe="aborts"),
    Example(_DATA + _FC % 'type: "gaussian" std: 0', expect=[9], caffe="aborts"),
    Example(_DATA + _FC % 'type: "uniform" min: 1 max: 0', expect=[9], caffe="aborts"),
    Example(_DATA + _FC % 'type: "uniform" min: 2', expect=[9], caffe="aborts"),
    Example(_DATA + _FC % 'type: "xavier" sparse: 3', expect=[9], caffe="aborts"),
    Example(_DATA + _FC % 'type: "gaussian" sparse: 7', expect=[9], caffe="aborts"),
    Example(_DATA + _FC % 'type: "bilinear"', expect=[9], caffe="aborts"),
    Example(_DATA + _FC % "value: nan", expect=[9], caffe="nan"),
    Example(
        _DATA
        + """\
layer {
  name: "up"
  type: "Deconvolution"
  bottom: "x"
  top: "up"
  convolution_param { num_output: 4 kernel_h: 4 kernel_w: 2 weight_filler { type: "bilinear" } }
}
""",
        expect=[7],
        caffe="aborts",
    ),
    Example(
        'layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 } data_filler { type: "normal" } } }\n',
        expect=[1],
        caffe="aborts",
    ),
)
GOOD = (
    Example(_DATA + _FC % 'type: "gaussian"', caffe="finite"),
    Example(_DATA + _FC % 'type: "gaussian" std: 0.1 sparse: 6', caffe="finite"),
    Example(_DATA + _FC % 'type: "uniform" min: 1 max: 1', caffe="finite"),
    # A filler that nothing is filled with is not looked at.
    Example(_DATA + _FC % 'type: "msra" } bias_term: false bias_filler { type: "nothing"', caffe="finite"),
    Example(
        _DATA
        + 'layer { name: "up" type: "Deconvolution" bottom: "x" top: "up" convolution_param { num_output: 4 group: 4 kernel_size: 4 stride: 2 weight_filler { type: "bilinear" } } }\n',
        caffe="finite",
    ),
)
TYPES = ("constant", "uniform", "gaussian", "positive_unitball", "xavier", "msra", "bilinear")
# What other frameworks call them.
_ELSEWHERE = {
    "normal": "gaussian",
    "zeros": "constant",
    "zero": "constant",
    "he": "msra",
    "kaiming": "msra",
    "glorot": "xavier",
}
# layer type -> its settings, and the filler of each learnable blob in order
_FILLERS = {
    "Convolution": ("convolution_param", "weight_filler", "bias_filler"),
    "Deconvolution": ("convolution_param", "weight_filler", "bias_filler"),
    "InnerProduct": ("inner_product_param", "weight_filler", "bias_filler"),
    "Embed": ("embed_param", "weight_filler", "bias_filler"),
    "LSTM": ("recurrent_param", "weight_filler", "bias_filler"),
    "RNN": ("recurrent_param", "weight_filler", "bias_filler"),
    "Scale": ("scale_param", "filler", "bias_filler"),
    "Bias": ("bias_param", "filler"),
    "PReLU": ("prelu_param", "filler"),
}


def check(ctx: NetContext) -> Iterator[Finding]:
    """Every filler that Caffe would use in some phase, held against the blob it fills."""
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            for field, value, shape in _used(net, index):
                fault = _fault(value, shape)
                if fault is None:
                    continue
                place, message, help, fix = fault
                known = value.value.get("type") in TYPES
                yield Finding(
                    f"the {field.rsplit('.', 1)[1]} of {layer.name} {message}",
                    place.name_start,
                    place.end,
                    help=help,
                    fix=fix,
                    layer=layer.name,
                    field=field,
                    severity=None if known or ctx.dialect == "bvlc" else Severity.WARNING,
                )


def _used(net: PhaseNet, index: int) -> Iterator[tuple[str, Value, Shape]]:
    """The fillers a layer uses: (field, value, shape of the blob)."""
    layer = net.layers[index]
    if net.types[index] is None:
        return
    if layer.type == "DummyData":
        fillers = layer.param("dummy_data_param").values("data_filler")
        for place, shape in enumerate(net.top_shapes[index]):
            if fillers and (place < len(fillers) or len(fillers) == 1):
                yield "dummy_data_param.data_filler", fillers[min(place, len(fillers) - 1)], shape
        return
    names = _FILLERS.get(layer.type)
    if names is None:
        return
    blobs = net.blobs[index]
    param = layer.param(names[0])
    for place, name in enumerate(names[1:]):
        value = param.at(name)
        if value is None:
            continue
        if name == "bias_filler" and "bias_term" in param.type.fields and not param.get("bias_term"):
            continue
        if name == "filler" and len(layer.bottoms) > 1:
            continue  # the second bottom is the scale or bias
        yield f"{names[0]}.{name}", value, blobs[place] if place < len(blobs) else None


def _fault(value: Value, shape: Shape) -> tuple[Value, str, str | None, Fix | None] | None:
    """What is wrong with a filler: (place, the rest of the sentence, help, fix)."""
    filler = value.value
    kind: str = filler.get("type")
    place = filler.at("type") or value
    if kind not in TYPES:
        return _unknown(kind, place)
    sparse: int = filler.get("sparse")
    if kind == "constant" and not math.isfinite(f32(filler.get("value"))):
        return filler.at("value"), f"fills in {filler.get('value'):g}", "write a number", None
    if kind == "gaussian":
        std = f32(filler.get("std"))
        if not std > 0:
            help = 'for a constant write type: "constant"' if std == 0 else "write a std above 0"
            return filler.at("std"), f"is gaussian with std {std:g}, which must be above 0: Caffe aborts", help, None
        outputs = shape[0] if shape else None
        if sparse < -1:
            return filler.at("sparse"), f"has sparse {sparse}, which must be -1 (off) or more: Caffe aborts", None, None
        if outputs is not None and sparse > outputs:
            why = f"keeps {sparse} of {outputs} on average, a probability above 1: Caffe aborts"
            return filler.at("sparse"), why, f"write a sparse of {outputs} or less", None
    elif sparse != -1:
        return (
            filler.at("sparse"),
            f"is {kind} with sparse, which only gaussian has: Caffe aborts",
            "remove sparse",
            None,
        )
    if kind == "uniform":
        least, most = f32(filler.get("min")), f32(filler.get("max"))
        if not least <= most:
            place = filler.at("min") or filler.at("max") or value
            return (
                place,
                f"is uniform from {least:g} to {most:g} (the defaults are 0 and 1): Caffe aborts",
                "let min be below max",
                None,
            )
    if shape == () and kind in ("xavier", "msra", "positive_unitball"):
        return place, f"is {kind} on a blob without axes, which has no fan: Caffe aborts", "use constant", None
    if kind == "bilinear" and shape is not None:
        if len(shape) != 4:
            return (
                place,
                f"is bilinear on a blob of {len(shape)} axes; it needs 4: Caffe aborts",
                "use xavier or constant",
                None,
            )
        if shape[2] is not None and shape[3] is not None and shape[2] != shape[3]:
            return (
                place,
                f"is bilinear on {words(shape)}; filters must be square: Caffe aborts",
                "use one kernel_size",
                None,
            )
    return None


def _unknown(kind: str, place: Value) -> tuple[Value, str, str | None, Fix | None]:
    import difflib

    close = difflib.get_close_matches(kind.lower(), TYPES, 1, 0.7)
    fix = None
    help = f"the types are {', '.join(TYPES)}"
    if close:
        help = f'did you mean "{close[0]}"?'
        fix = Fix(f'write "{close[0]}"', [Edit(place.start, place.end, f'"{close[0]}"')], safe=True)
    elif kind.lower() in _ELSEWHERE:
        help = f'Caffe calls it "{_ELSEWHERE[kind.lower()]}"'
    return place, f'has the type "{kind}", which Caffe does not know: it aborts', help, fix
