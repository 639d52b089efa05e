"""Layers before a BatchNorm have a bias, which the BatchNorm takes away again.

What happens
    BatchNorm subtracts the mean of each channel, and with it any constant: the bias gets a gradient of 0 (up to rounding)
    and only costs memory and time.

How to fix
    Set bias_term: false in the layer before, and let the Scale layer behind the BatchNorm have the bias.

When it is fine
    It does no harm. With use_global_stats and loaded weights the bias counts.

Source
    BatchNormLayer::Forward_cpu, src/caffe/layers/batch_norm_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.numerics._fillers import FILLED, learns, named, settings
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG216"
NAME = "bias-before-batch-norm"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
_NET = """\
layer {{ name: "data" type: "DummyData" top: "x" top: "t" dummy_data_param {{ shape {{ dim: 4 dim: 2 }} shape {{ dim: 4 dim: 2 }} data_filler {{ type: "gaussian" }} }} }}
layer {{
  name: "ip"
  type: "InnerProduct"
  bottom: "x"
  top: "ip"
  inner_product_param {{ num_output: 2 {bias} weight_filler {{ type: "xavier" }} }}
}}
layer {{ name: "bn" type: "BatchNorm" bottom: "ip" top: "bn" }}
layer {{ name: "loss" type: "EuclideanLoss" bottom: "bn" bottom: "t" }}
"""
BAD = (Example(_NET.format(bias=""), expect=[3], caffe="finite"),)
GOOD = (Example(_NET.format(bias="bias_term: false"), caffe="finite"),)


def check(ctx: NetContext) -> Iterator[Finding]:
    """All layers with a trained bias whose only reader is a BatchNorm on batch statistics, told once."""
    if not ctx.trains or not ctx.by_type("BatchNorm"):
        return
    useless: list[Layer] = []
    for net in ctx.phases:
        if net.phase != "TRAIN":
            continue
        for index, layer in enumerate(net.layers):
            if layer.type not in FILLED or not net.graph.writes[index] or not settings(layer).get("bias_term"):
                continue
            readers = [reader for reader, _ in net.graph.writes[index][0].readers]
            if learns(layer, 1) and readers and all(_on_batch(reader) for reader in readers):
                useless.append(layer)
    if useless:
        first = useless[0]
        count = len(useless)
        yield Finding(
            f"{count} {'layer has a bias that the BatchNorm behind it' if count == 1 else 'layers have a bias that the BatchNorm behind them'}"
            f" takes away again ({named(useless)})",
            first.anchor[0],
            first.anchor[1],
            help="set bias_term: false there",
            layer=first.name,
        )


def _on_batch(reader: Layer) -> bool:
    return reader.type == "BatchNorm" and not reader.param("batch_norm_param").get("use_global_stats")
