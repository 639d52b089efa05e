"""A layer has a wrong number of bottoms, tops, loss weights, propagate_down or param entries.

What happens
    Each layer type declares how many blobs it reads and makes; Caffe checks it before it sets the layer up and aborts,
    for example "SoftmaxWithLoss Layer takes 2 bottom blob(s) as input". loss_weight is given not at all or once a top,
    propagate_down once a bottom, and param at most once a learnable blob.

How to fix
    Give what the type takes; the message says how many.

When it is fine
    Forks give some types more blobs (NVIDIA's BatchNorm has five, R-FCN's losses have two tops): in files of a fork it
    is a warning.

Source
    Layer::CheckBlobCounts and Layer::SetLossWeights, include/caffe/layer.hpp; Net::Init, src/caffe/net.cpp.
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

CODE = "CG204"
NAME = "wrong-count"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("bottom-count", "top-count", "propagate-down-count", "loss-weight-count", "param-count")
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 } } }
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "data"
}
""",
        expect=[3],
        caffe="aborts",
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 } } }
layer {
  name: "r"
  type: "ReLU"
  bottom: "data"
  top: "r"
  param { lr_mult: 1 }
}
""",
        expect=[7],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 } } }
layer { name: "r" type: "ReLU" bottom: "data" top: "r" loss_weight: 0 }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS, in_forks=Severity.WARNING)
