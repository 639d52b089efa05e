"""A BatchNorm in training has a single value per channel to take its statistics of.

What happens
    With one record of 1×1 extent the mean of a channel is the value itself and the variance is 0. The output is
    (x - x) / sqrt(0 + eps) = 0 whatever the input, and no gradient passes: everything before the layer is cut off.

How to fix
    Use a larger batch_size (iter_size does not help: each pass is normalised by itself), put the BatchNorm before the global
    pooling or the InnerProduct, or use stored statistics with use_global_stats: true.

When it is fine
    Never. In the TEST phase the stored statistics are used, and a batch of one is normal there.

Source
    BatchNormLayer::Forward_cpu, src/caffe/layers/batch_norm_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.net.layers.entry import count, words
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG314"
NAME = "batchnorm-batch-of-one"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_DATA = """\
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: %d dim: 3 dim: 5 dim: 5 } shape { dim: %d } data_filler { type: "gaussian" } data_filler { value: 1 } } }
"""
_POOL = (
    'layer { name: "gap" type: "Pooling" bottom: "x" top: "gap" pooling_param { pool: AVE global_pooling: true } }\n'
)
_END = """\
layer { name: "fc" type: "InnerProduct" bottom: "bn" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }
"""
BAD = (
    Example(
        _DATA % (1, 1) + _POOL + 'layer {\n  name: "bn"\n  type: "BatchNorm"\n  bottom: "gap"\n  top: "bn"\n}\n' + _END,
        expect=[5],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _DATA % (2, 2) + _POOL + 'layer { name: "bn" type: "BatchNorm" bottom: "gap" top: "bn" }\n' + _END,
        caffe="finite",
    ),
    Example(_DATA % (1, 1) + 'layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }\n' + _END, caffe="finite"),
    Example(
        _DATA % (1, 1)
        + _POOL
        + 'layer { name: "bn" type: "BatchNorm" bottom: "gap" top: "bn" batch_norm_param { use_global_stats: true } }\n'
        + _END,
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """BatchNorms that normalise by the batch, in a TRAIN net, with one item a channel."""
    if not ctx.trains or not ctx.by_type("BatchNorm"):
        return
    for net in ctx.phases:
        if net.phase != "TRAIN":
            continue
        for index, layer in enumerate(net.layers):
            shape = net.bottom_shapes[index][0] if net.bottom_shapes[index] else None
            if layer.type != "BatchNorm" or shape is None or len(shape) < 2:
                continue
            if layer.param("batch_norm_param").get("use_global_stats") or count((shape[0], *shape[2:])) != 1:
                continue
            yield Finding(
                f'{layer.name} normalises "{layer.bottoms[0].value}", {words(shape)}, by its own batch: one value a channel'
                " has variance 0, so the output is always 0 and no gradient passes",
                *layer.anchor,
                help="use a larger batch_size, or use_global_stats: true with loaded statistics",
                layer=layer.name,
            )
