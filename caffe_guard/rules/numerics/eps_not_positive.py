"""A normalisation has an eps of 0 or less, so a constant input divides by 0.

What happens
    BatchNorm divides by sqrt(variance + eps), MVN by sqrt(variance) + eps. With eps 0 a channel that is the same everywhere
    (a dead ReLU, black pictures, the zero statistics of a fresh net in TEST) gives 0/0 = NaN. With a negative eps BatchNorm
    takes the root of a negative number for every variance below |eps|, and MVN turns signs around.

How to fix
    Leave eps out: 1e-5 for BatchNorm, 1e-9 for MVN. cuDNN takes no eps below 1e-5.

When it is fine
    When no channel can ever be constant, which nothing guarantees.

Source
    BatchNormLayer::Forward_cpu, src/caffe/layers/batch_norm_layer.cpp; MVNLayer::Forward_cpu, src/caffe/layers/mvn_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Severity
from caffe_guard.prototxt.edit import remove
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG315"
NAME = "eps-not-positive"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_DATA = """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 4 dim: 3 dim: 2 dim: 2 } data_filler { value: 1 } } }
"""
BAD = (
    Example(
        _DATA
        + """\
layer {
  name: "bn"
  type: "BatchNorm"
  bottom: "x"
  top: "bn"
  batch_norm_param {
    eps: 0
  }
}
""",
        expect=[8],
        fixed=_DATA
        + """\
layer {
  name: "bn"
  type: "BatchNorm"
  bottom: "x"
  top: "bn"
  batch_norm_param {
  }
}
""",
        caffe="nan",
    ),
    Example(
        _DATA
        + 'layer {\n  name: "bn"\n  type: "BatchNorm"\n  bottom: "x"\n  top: "bn"\n  batch_norm_param { eps: -1e-5 }\n}\n',
        expect=[7],
        caffe="nan",
    ),
    Example(
        _DATA + 'layer {\n  name: "m"\n  type: "MVN"\n  bottom: "x"\n  top: "m"\n  mvn_param { eps: 0 }\n}\n',
        expect=[7],
        caffe="nan",
    ),
)
GOOD = (
    Example(
        _DATA
        + """\
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" batch_norm_param { eps: 1e-5 } }
layer { name: "m" type: "MVN" bottom: "x" top: "m" mvn_param { eps: 0 normalize_variance: false } }
""",
        caffe="finite",
    ),
)
_PARAMS = {"BatchNorm": "batch_norm_param", "MVN": "mvn_param"}


def check(ctx: NetContext) -> Iterator[Finding]:
    """BatchNorm and MVN layers with an explicit eps of 0 or less."""
    for layer in ctx.by_type("BatchNorm", "MVN"):
        name = _PARAMS[layer.type]
        param = layer.param(name)
        value = param.at("eps")
        if value is None or param.get("eps") > 0 or (layer.type == "MVN" and not param.get("normalize_variance")):
            continue
        eps = param.get("eps")
        if eps == 0:
            what = "a channel whose values are all equal gives 0/0 = NaN"
        elif layer.type == "BatchNorm":
            what = f"every variance below {-eps:g} gives the root of a negative number, NaN"
        else:
            what = f"a deviation of {-eps:g} divides by 0, and a smaller one turns signs around"
        yield Finding(
            f"{layer.name} has eps {eps:g}: {what}",
            value.name_start,
            value.end,
            help=f"leave eps out, for {param.type.fields['eps'].default_value():g}",
            fix=Fix("take the default eps", [remove(ctx.source.text, value.name_start, value.end)]),
            layer=layer.name,
            field=f"{name}.eps",
        )
