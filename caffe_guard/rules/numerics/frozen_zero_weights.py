"""A deconvolution is frozen and has no filler: it gives 0 for ever.

What happens
    lr_mult 0 keeps the weights as they start, and without a weight_filler they start at 0. Upsampling layers are
    written like this when a script puts bilinear weights into the net before training; without that script the layer's
    output is 0, and no gradient passes it.

How to fix
    Let Caffe fill it: weight_filler { type: "bilinear" }, with group and num_output equal to the number of channels.

When it is fine
    When a script sets the weights (net surgery), or a .caffemodel with this layer is loaded.

Source
    DeconvolutionLayer, src/caffe/layers/deconv_layer.cpp; BilinearFiller, include/caffe/filler.hpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.numerics._fillers import learns, settings
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG305"
NAME = "frozen-zero-weights"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "data" type: "DummyData" top: "s" top: "t" dummy_data_param { shape { dim: 1 dim: 2 dim: 4 dim: 4 } shape { dim: 1 dim: 2 dim: 8 dim: 8 } } }
"""
_TAIL = """\
layer { name: "loss" type: "EuclideanLoss" bottom: "up" bottom: "t" }
"""
BAD = (
    Example(
        _HEAD
        + """\
layer {
  name: "up"
  type: "Deconvolution"
  bottom: "s"
  top: "up"
  param { lr_mult: 0 }
  convolution_param { num_output: 2 kernel_size: 4 stride: 2 pad: 1 bias_term: false }
}
"""
        + _TAIL,
        expect=[8],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _HEAD
        + """\
layer {
  name: "up"
  type: "Deconvolution"
  bottom: "s"
  top: "up"
  param { lr_mult: 0 }
  convolution_param { num_output: 2 group: 2 kernel_size: 4 stride: 2 pad: 1 bias_term: false weight_filler { type: "bilinear" } }
}
"""
        + _TAIL,
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Frozen deconvolutions without a weight_filler in a net that is trained."""
    if not ctx.trains:
        return
    for layer in ctx.by_type("Deconvolution"):
        param = settings(layer)
        if learns(layer, 0) or param.has("weight_filler"):
            continue
        start, end = (param.name_start, param.name_end) if param.start < param.end else layer.anchor
        yield Finding(
            f"{layer.name} is frozen (lr_mult 0) and has no weight_filler: unless its weights are loaded or set by a script,"
            " it gives 0 and passes no gradient",
            start,
            end,
            help='use weight_filler { type: "bilinear" } with group and num_output equal to the channels',
            layer=layer.name,
            field="convolution_param.weight_filler",
        )
