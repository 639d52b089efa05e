"""A Scale layer behind a BatchNorm has no bias, which is what stands for the shift of batch normalisation.

What happens
    Batch normalisation, as published, scales and shifts what it has normalised. Caffe's BatchNorm does neither; a Scale
    layer behind it does, but its bias_term is false unless it is written. Then every channel keeps the mean 0, and a
    ReLU behind it always cuts half of each.

How to fix
    scale_param { bias_term: true }

When it is fine
    Where the shift is left out on purpose, or a Bias layer follows.

Source
    ScaleParameter.bias_term, src/caffe/proto/caffe.proto.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.numerics._fillers import named
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG228"
NAME = "scale-without-bias"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
_NET = """\
layer {{ name: "data" type: "DummyData" top: "x" top: "t" dummy_data_param {{ shape {{ dim: 4 dim: 2 }} shape {{ dim: 4 dim: 2 }} data_filler {{ type: "gaussian" }} }} }}
layer {{ name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }}
layer {{
  name: "scale"
  type: "Scale"
  bottom: "bn"
  top: "bn"
{param}}}
layer {{ name: "relu" type: "ReLU" bottom: "bn" top: "bn" }}
layer {{ name: "ip" type: "InnerProduct" bottom: "bn" top: "ip" inner_product_param {{ num_output: 2 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" }}
"""
BAD = (Example(_NET.format(param=""), expect=[4], caffe="finite"),)
GOOD = (Example(_NET.format(param="  scale_param { bias_term: true }\n"), caffe="finite"),)
_CUTTING = ("ReLU", "PReLU", "ELU")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Scale layers that read a BatchNorm, have no bias, and go into a rectifier; told once."""
    if not ctx.trains or not ctx.by_type("BatchNorm"):
        return
    found: dict[int, Layer] = {}
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.type != "Scale" or len(layer.bottoms) != 1 or layer.param("scale_param").get("bias_term"):
                continue
            version = net.graph.reads[index][0]
            if version is None or version.producer.type != "BatchNorm" or not net.graph.writes[index]:
                continue
            readers = [reader.type for reader, _ in net.graph.writes[index][0].readers]
            if readers and all(reader in _CUTTING for reader in readers):
                found[layer.index] = layer
    if found:
        layers = [found[index] for index in sorted(found)]
        count = len(layers)
        yield Finding(
            f"{count} Scale {'layer' if count == 1 else 'layers'} behind a BatchNorm {'has' if count == 1 else 'have'} no"
            f" bias ({named(layers)}): the mean of every channel stays 0",
            *layers[0].anchor,
            help="write scale_param { bias_term: true }",
            layer=layers[0].name,
            field="scale_param.bias_term",
            others=[layer.anchor for layer in layers[1:]],
        )
