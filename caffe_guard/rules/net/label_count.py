"""The number of labels differs from the number of predictions.

What happens
    A loss or an accuracy wants one label for every position of the scores: all axes but the class axis multiplied. Caffe
    aborts: "Number of labels must match number of predictions". Scores that are still a map (N × C × H × W) need a label
    map of N × H × W, or an InnerProduct or global pooling that makes one prediction a record.

How to fix
    Reduce the scores to one a record, or give labels of their size.

Source
    SoftmaxWithLossLayer::Reshape, src/caffe/layers/softmax_loss_layer.cpp; LossLayer::Reshape; accuracy_layer.cpp.
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

CODE = "CG221"
NAME = "label-count"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("label-count",)
BAD = (
    Example(
        """\
layer { name: "in" type: "Input" top: "s" top: "l" input_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } shape { dim: 2 } } }
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "s"
  bottom: "l"
}
""",
        expect=[5],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "in" type: "DummyData" top: "s" top: "l" dummy_data_param { shape { dim: 2 dim: 3 dim: 4 dim: 4 } shape { dim: 2 dim: 4 dim: 4 } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "s" bottom: "l" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
