"""A layer is frozen by one param entry, which leaves its bias learning.

What happens
    Each param entry speaks for one learnable blob: the first for the weights, the second for the bias. What has no entry
    learns with lr_mult 1. With a single `param { lr_mult: 0 }` the weights stay and the bias moves on, so the layer that
    was to be frozen drifts, and with it everything behind it.

How to fix
    Give a second `param { lr_mult: 0 }`.

When it is fine
    Where only the bias is meant to be trained; say so with a second `param { lr_mult: 1 }`.

Source
    Net::AppendParam, src/caffe/net.cpp; ParamSpec.lr_mult, src/caffe/proto/caffe.proto.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Severity
from caffe_guard.prototxt.edit import insert_after
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG226"
NAME = "half-frozen-layer"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_NET = """\
layer {{ name: "data" type: "DummyData" top: "x" top: "t" dummy_data_param {{ shape {{ dim: 4 dim: 2 }} shape {{ dim: 4 dim: 2 }} data_filler {{ type: "gaussian" }} }} }}
layer {{
  name: "ip"
  type: "InnerProduct"
  bottom: "x"
  top: "ip"
{param}  inner_product_param {{ num_output: 2 weight_filler {{ type: "xavier" }} }}
}}
layer {{ name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" }}
"""
_FROZEN = "  param { lr_mult: 0 }\n"
BAD = (
    Example(_NET.format(param=_FROZEN), expect=[7], fixed=_NET.format(param=2 * _FROZEN), caffe="finite"),
    Example(
        _NET.format(param="  param { lr_mult: 0 decay_mult: 0 } # frozen\n"),
        expect=[7],
        fixed=_NET.format(param="  param { lr_mult: 0 decay_mult: 0 } # frozen\n  param { lr_mult: 0 }\n"),
        caffe="finite",
    ),
)
GOOD = (
    Example(_NET.format(param=2 * _FROZEN), caffe="finite"),
    Example(_NET.format(param=_FROZEN + "  param { lr_mult: 1 }\n"), caffe="finite"),
    Example(_NET.format(param=_FROZEN).replace("num_output: 2", "num_output: 2 bias_term: false"), caffe="finite"),
)
_TYPES = {
    "Convolution": "convolution_param",
    "Deconvolution": "convolution_param",
    "InnerProduct": "inner_product_param",
}


def check(ctx: NetContext) -> Iterator[Finding]:
    """Layers of weights and bias with one param entry, whose lr_mult is 0; in nets that are trained."""
    if not ctx.trains:
        return
    for layer in ctx.by_type(*_TYPES):
        specs = layer.message.values("param")
        if (
            len(specs) != 1
            or specs[0].value.get("lr_mult") != 0
            or not layer.param(_TYPES[layer.type]).get("bias_term")
        ):
            continue
        fix = None
        # What the upgrade of an old format made has no text of its own.
        if ctx.source.text.startswith("param", specs[0].name_start):
            edit = insert_after(ctx.source.text, specs[0].name_start, specs[0].end, "param { lr_mult: 0 }")
            fix = Fix("freeze the bias too", [edit])
        yield Finding(
            f"{layer.name} has one param, of lr_mult 0, for its weights: its bias goes on learning with lr_mult 1",
            specs[0].name_start,
            specs[0].end,
            help="give a second param { lr_mult: 0 }, or one that says what the bias is to do",
            fix=fix,
            layer=layer.name,
            field="param",
        )
