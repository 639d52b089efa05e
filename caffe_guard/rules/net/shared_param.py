"""Two layers share a parameter by name, and its shapes do not fit.

What happens
    Layers whose `param { name: … }` agree share one blob. Caffe compares the shapes (with share_mode PERMISSIVE the number
    of items only) and aborts: "Cannot share param … owned by layer … with layer …; shape mismatch".

How to fix
    Give the layers equal shapes, or the parameters different names.

Source
    Net::AppendParam, src/caffe/net.cpp.
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

CODE = "CG224"
NAME = "shared-param"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("shared-param",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "a" type: "InnerProduct" bottom: "data" top: "a" param { name: "w" } inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer {
  name: "b"
  type: "InnerProduct"
  bottom: "data"
  top: "b"
  param { name: "w" }
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } }
}
""",
        expect=[8],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "a" type: "InnerProduct" bottom: "data" top: "a" param { name: "w" } inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "b" type: "InnerProduct" bottom: "data" top: "b" param { name: "w" } inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
