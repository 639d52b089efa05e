"""A BatchNorm that is trained through has use_global_stats: true in the TRAIN phase.

What happens
    The layer divides by stored statistics and never updates them. That is how a net is fine-tuned with frozen normalisation.
    In a net that starts without loaded weights the stored factor is 0, Caffe takes mean and variance as 0, and the layer only
    multiplies by 1 / sqrt(eps): 316 at the default eps of 1e-5. A few such layers and the loss is nan.

How to fix
    To train from scratch, remove the field: TRAIN then uses the batch and TEST the running statistics. To fine-tune, start
    with `caffe train --weights` from a net whose BatchNorm layers have the same names and shapes.

When it is fine
    When the weights that are loaded hold the statistics: batches of one or two pictures (detection, segmentation) are
    commonly trained that way. Nothing is said when the layers before them are frozen as well.

Source
    BatchNormLayer::LayerSetUp and Forward_cpu, src/caffe/layers/batch_norm_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.net._gradient import learns
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext
    from caffe_guard.schema.message import Value

CODE = "CG312"
NAME = "global-stats-in-training"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
_DATA = """\
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 5 dim: 5 } shape { dim: 4 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
"""
_CONV = 'layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "msra" } } }\n'
_BN = """\
layer {
  name: "bn"
  type: "BatchNorm"
  bottom: "c"
  top: "bn"
  batch_norm_param { use_global_stats: true }
}
"""
_END = """\
layer { name: "fc" type: "InnerProduct" bottom: "bn" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }
"""
BAD = (Example(_DATA + _CONV + _BN + _END, expect=[9], caffe="finite"),)
GOOD = (
    Example(_DATA + _CONV + _BN.replace("true", "false") + _END, caffe="finite"),
    # Frozen as a whole: the statistics belong to weights that are loaded.
    Example(
        _DATA
        + _CONV.replace("convolution_param", "param { lr_mult: 0 } param { lr_mult: 0 } convolution_param")
        + _BN
        + _END,
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """BatchNorms of a TRAIN net that say true, behind layers that learn; told once a file."""
    if not ctx.trains or not any(
        layer.param("batch_norm_param").has("use_global_stats") for layer in ctx.by_type("BatchNorm")
    ):
        return
    for net in ctx.phases:
        if net.phase != "TRAIN":
            continue
        found: list[tuple[Layer, Value]] = []
        # Behind a layer that learns, statistics go stale, or there are none yet.
        learners = {id(layer) for index, layer in enumerate(net.layers) if learns(net, index)}
        for index, layer in enumerate(net.layers):
            if layer.type == "BatchNorm":
                value = layer.param("batch_norm_param").at("use_global_stats")
                if value is not None and value.value is True and net.need_backward[index]:
                    version = net.graph.reads[index][0] if net.graph.reads[index] else None
                    if version is not None and id(version.producer) in learners:
                        found.append((layer, value))
        if found:
            yield _finding(found)
            return


def _finding(found: list[tuple[Layer, Value]]) -> Finding:
    layer, value = found[0]
    more = f" (as {len(found) - 1} more do)" if len(found) > 1 else ""
    eps: float = layer.param("batch_norm_param").get("eps")
    scale = f"{eps**-0.5:.3g}" if eps > 0 else "infinity"
    return Finding(
        f"{layer.name} has use_global_stats true in TRAIN{more}: right with loaded statistics; without them they are 0,"
        f" and the layer only multiplies its input by 1/√eps = {scale}",
        value.name_start,
        value.end,
        help="to train from scratch remove the field; to fine-tune start from weights that hold the statistics",
        related=[Related(f'"{other.name}" too', one.name_start, one.end) for other, one in found[1:3]],
        layer=layer.name,
        field="batch_norm_param.use_global_stats",
        others=[(one.name_start, one.end) for _, one in found[1:]],
    )
