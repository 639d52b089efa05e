"""Blobs that a layer joins do not fit each other, or have axes that the layer cannot use.

What happens
    Caffe aborts while it builds the net, with two numbers and no names ("Check failed: bottom[0]->shape() ==
    bottom[i]->shape()"). caffe-guard follows the extents from the data on and tells which blobs have which shape.

Why it matters
    The commonest case is a skip connection that is off by one: pooling rounds its size up, convolution rounds down, so
    two ways through the net differ for some input sizes only.

How to fix
    Make the shapes equal: crop, pad, or choose an input size for which both ways agree.

When it is fine
    Extents that come from a database are unknown and never lead to this finding.

Source
    Each layer's Reshape, for example src/caffe/layers/eltwise_layer.cpp, concat_layer.cpp, crop_layer.cpp.
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

CODE = "CG205"
NAME = "shape-mismatch"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("shape-mismatch", "axes", "bad-axis")
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 8 dim: 8 } } }
layer { name: "a" type: "Pooling" bottom: "data" top: "a" pooling_param { kernel_size: 3 stride: 2 } }
layer { name: "b" type: "Convolution" bottom: "data" top: "b" convolution_param { num_output: 1 kernel_size: 3 stride: 2 } }
layer {
  name: "sum"
  type: "Eltwise"
  bottom: "a"
  bottom: "b"
  top: "sum"
}
""",
        expect=[8],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 1 dim: 9 dim: 9 } } }
layer { name: "a" type: "Pooling" bottom: "data" top: "a" pooling_param { kernel_size: 3 stride: 2 } }
layer { name: "b" type: "Convolution" bottom: "data" top: "b" convolution_param { num_output: 1 kernel_size: 3 stride: 2 } }
layer { name: "sum" type: "Eltwise" bottom: "a" bottom: "b" top: "sum" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
