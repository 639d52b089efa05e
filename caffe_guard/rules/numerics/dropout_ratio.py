"""A dropout_ratio that is 1 or more, or negative.

What happens
    In TRAIN, Dropout keeps each item with probability 1 - ratio and multiplies what it keeps by 1 / (1 - ratio). With a
    ratio of 1 everything is dropped and the factor is infinite: 0 * inf = NaN in every item. A ratio above 1 or below 0 is no
    probability: on the CPU Caffe aborts when it draws the mask; on a GPU nothing checks it, and the numbers are wrong. (The
    check at set-up is compiled into debug builds only.) TEST ignores the ratio.

How to fix
    Write the share that is to be dropped, between 0 and 1: 0.5 drops half. To drop nothing, write 0 or remove the layer.

When it is fine
    In a net that is only run in the TEST phase.

Source
    DropoutLayer::LayerSetUp and Forward_cpu, src/caffe/layers/dropout_layer.cpp; caffe_rng_bernoulli,
    src/caffe/util/math_functions.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.solver.float32 import f32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG316"
NAME = "dropout-ratio"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
_DATA = """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 4 dim: 3 } data_filler { type: "gaussian" } } }
layer { name: "t" type: "DummyData" top: "y" dummy_data_param { shape { dim: 4 dim: 3 } } }
"""
_DROP = """\
layer {
  name: "drop"
  type: "Dropout"
  bottom: "x"
  top: "drop"
  dropout_param { dropout_ratio: %s }
}
layer { name: "loss" type: "EuclideanLoss" bottom: "drop" bottom: "y" top: "loss" }
"""
BAD = (
    Example(_DATA + _DROP % "1", expect=[8], caffe="nan"),
    Example(_DATA + _DROP % "0.99999999", expect=[8], caffe="nan"),
    Example(_DATA + _DROP % "1.5", expect=[8], caffe="aborts"),
    Example(_DATA + _DROP % "-0.5", expect=[8], caffe="aborts"),
)
GOOD = (
    Example(_DATA + _DROP % "0", caffe="finite"),
    Example(_DATA + _DROP % "0.9", caffe="finite"),
    # A deploy net drops nothing.
    Example(
        'layer { name: "d" type: "Input" top: "x" input_param { shape { dim: 4 dim: 3 } } }\n'
        'layer { name: "drop" type: "Dropout" bottom: "x" top: "drop" dropout_param { dropout_ratio: 1 } }\n',
        caffe="finite",
        phase="TEST",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Dropout layers of a TRAIN net."""
    if not ctx.by_type("Dropout"):
        return
    for net in ctx.phases:
        if net.phase != "TRAIN":
            continue
        for layer in net.layers:
            if layer.type != "Dropout":
                continue
            param = layer.param("dropout_param")
            value = param.at("dropout_ratio")
            ratio = f32(param.get("dropout_ratio"))  # 0.99999999 is 1 for Caffe
            if value is None or 0 <= ratio < 1:
                continue
            if ratio == 1:
                what = "everything is dropped, and what is left is 0 × 1/(1 - 1) = NaN"
            else:
                what = (
                    "that is no probability: Caffe aborts at the first forward on a CPU, and computes nonsense on a GPU"
                )
            help = None
            if 2 <= ratio <= 100:
                help = f"write the share that is to be dropped: {ratio / 100:g} for {ratio:g} %"
            yield Finding(
                f"{layer.name} has a dropout_ratio of {ratio:g}: {what}",
                value.name_start,
                value.end,
                help=help or "write a share between 0 and 1, 1 excluded",
                layer=layer.name,
                field="dropout_param.dropout_ratio",
            )
