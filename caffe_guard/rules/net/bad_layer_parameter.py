"""A setting of a layer that Caffe refuses when it sets the layer up.

What happens
    Each layer checks its settings once and aborts: a pooling without a kernel, kernel_size beside kernel_h, an even
    local_size of LRN, a group that does not divide the channels, coeff with PROD, a batch_size of 0, AbsVal in place, …

How to fix
    The message says what the layer takes.

Source
    Each layer's LayerSetUp and Reshape in src/caffe/layers/.
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

CODE = "CG206"
NAME = "bad-layer-parameter"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("bad-parameter", "group", "in-place")
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer {
  name: "norm"
  type: "LRN"
  bottom: "data"
  top: "norm"
  lrn_param { local_size: 4 }
}
""",
        expect=[7],
        caffe="aborts",
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer {
  name: "c"
  type: "Convolution"
  bottom: "data"
  top: "c"
  convolution_param { num_output: 4 kernel_size: 3 group: 2 }
}
""",
        expect=[7],
        caffe="aborts",
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 dim: 8 dim: 8 } } }
layer {
  name: "p"
  type: "Pooling"
  bottom: "data"
  top: "p"
}
""",
        expect=[3],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 4 dim: 8 dim: 8 } } }
layer { name: "c" type: "Convolution" bottom: "data" top: "c" convolution_param { num_output: 4 kernel_size: 3 group: 2 } }
layer { name: "norm" type: "LRN" bottom: "c" top: "norm" lrn_param { local_size: 5 } }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
