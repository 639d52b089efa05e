"""A BatchNorm has a param whose lr_mult is not 0.

What happens
    The three blobs of a BatchNorm (mean, variance, factor) are statistics, not weights. Caffe since 2016 sets a missing
    lr_mult to 0 and aborts on any other ("Cannot configure batch normalization statistics as layer parameters"). Exactly
    three entries in a file are repaired in silence while it is read; one or two are not, and lr_mult left out counts as 1.
    Caffe before September 2016 trained the statistics: the loss went to nan.

How to fix
    Remove the param entries, or give three with lr_mult: 0 and decay_mult: 0.

When it is fine
    NVIDIA's fork keeps scale and bias in the same layer and trains those two: in files of a fork it is a warning.

Source
    BatchNormLayer::LayerSetUp, src/caffe/layers/batch_norm_layer.cpp; UpgradeNetBatchNorm, src/caffe/util/upgrade_proto.cpp.
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

CODE = "CG311"
NAME = "batchnorm-lr-mult"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("batchnorm-lr-mult",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }
layer {
  name: "bn"
  type: "BatchNorm"
  bottom: "data"
  top: "bn"
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
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } } }
layer { name: "bn" type: "BatchNorm" bottom: "data" top: "bn" param { lr_mult: 1 } param { lr_mult: 1 } param { lr_mult: 1 } }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS, in_forks=Severity.WARNING)
