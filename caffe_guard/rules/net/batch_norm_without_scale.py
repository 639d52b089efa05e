"""BatchNorm layers are followed by no Scale layer.

What happens
    Caffe's BatchNorm normalises only; the learnable scale and shift of the paper are a Scale layer with bias_term: true
    behind it. Without it the next layer sees zero mean and unit variance, whatever would suit it.

How to fix
    Add layer { type: "Scale" scale_param { bias_term: true } } behind each BatchNorm, in place if you like.

When it is fine
    Right before a layer with weights of its own and no nonlinearity between, which can learn the scale itself, and where
    it is meant so. NVIDIA's fork can scale inside BatchNorm (scale_bias).

Source
    BatchNormLayer, include/caffe/layers/batch_norm_layer.hpp.
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

CODE = "CG215"
NAME = "batch-norm-without-scale"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
_NET = """\
layer {{ name: "data" type: "DummyData" top: "x" top: "t" dummy_data_param {{ shape {{ dim: 4 dim: 2 }} shape {{ dim: 4 dim: 2 }} data_filler {{ type: "gaussian" }} }} }}
layer {{
  name: "bn"
  type: "BatchNorm"
  bottom: "x"
  top: "bn"
}}
{scale}layer {{ name: "r" type: "ReLU" bottom: "bn" top: "bn" }}
layer {{ name: "ip" type: "InnerProduct" bottom: "bn" top: "ip" inner_product_param {{ num_output: 2 weight_filler {{ type: "xavier" }} }} }}
layer {{ name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" }}
"""
BAD = (Example(_NET.format(scale=""), expect=[3], caffe="finite"),)
GOOD = (
    Example(
        _NET.format(scale='layer { name: "s" type: "Scale" bottom: "bn" top: "bn" scale_param { bias_term: true } }\n'),
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """All BatchNorm layers whose next reader is a nonlinearity, told once."""
    if not ctx.trains or not ctx.by_type("BatchNorm"):
        return
    lacking: list[Layer] = []
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.type != "BatchNorm" or not net.graph.writes[index] or layer in lacking:
                continue
            if layer.message.type.dialect == "nvcaffe" and layer.param("batch_norm_param").get("scale_bias"):
                continue
            readers = [reader.type for reader, _ in net.graph.writes[index][0].readers]
            if readers and all(reader in ("ReLU", "PReLU", "ELU", "Sigmoid", "TanH") for reader in readers):
                lacking.append(layer)
    if lacking:
        first = lacking[0]
        count = len(lacking)
        yield Finding(
            f"{count} BatchNorm {'goes' if count == 1 else 'layers go'} straight into a nonlinearity ({named(lacking)}):"
            " nothing scales and shifts what they normalise",
            first.anchor[0],
            first.anchor[1],
            help='add a layer of type "Scale" with scale_param { bias_term: true } between',
            layer=first.name,
        )
