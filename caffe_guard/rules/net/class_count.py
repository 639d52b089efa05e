"""A number of classes does not fit the blob that scores them.

What happens
    Caffe aborts: top_k is larger than the number of scores, the infogain matrix is not classes × classes, or SSD's
    num_classes does not fit the confidences: "Number of priors must match number of confidence predictions".

How to fix
    In SSD, num_output of a confidence layer is (priors a place) × num_classes, with the background as a class of its own.

Source
    Reshape in accuracy_layer.cpp, argmax_layer.cpp, infogain_loss_layer.cpp; multibox_loss_layer.cpp of SSD.
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

CODE = "CG212"
NAME = "class-count"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("class-count",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "s" top: "l" input_param { shape { dim: 4 dim: 3 } shape { dim: 4 } } }
layer {
  name: "acc"
  type: "Accuracy"
  bottom: "s"
  bottom: "l"
  top: "acc"
  accuracy_param { top_k: 5 }
}
""",
        expect=[8],
        caffe="aborts",
        phase="TEST",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "s" top: "l" input_param { shape { dim: 4 dim: 5 } shape { dim: 4 } } }
layer { name: "acc" type: "Accuracy" bottom: "s" bottom: "l" top: "acc" accuracy_param { top_k: 5 } }
""",
        phase="TEST",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
