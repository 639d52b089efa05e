"""A kernel is larger than its padded input.

What happens
    The output would have no extent left; Caffe aborts with "Check failed: shape[i] >= 0" or the like, and does not say
    which layer shrank the map.

How to fix
    Use a smaller kernel, more pad, a larger input, or fewer strides before the layer.

Source
    ConvolutionLayer::compute_output_shape, src/caffe/layers/conv_layer.cpp; PoolingLayer::Reshape; Blob::Reshape.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Severity
from caffe_guard.rules.net._problems import findings
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.diagnostic import Finding
    from caffe_guard.rules.context import NetContext

CODE = "CG220"
NAME = "kernel-larger-than-input"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("kernel-larger-than-input",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }
layer {
  name: "c"
  type: "Convolution"
  bottom: "data"
  top: "c"
  convolution_param { num_output: 4 kernel_size: 7 }
}
""",
        expect=[7],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } } }
layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 4 kernel_size: 7 pad: 2 } }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
