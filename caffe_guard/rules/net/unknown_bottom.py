"""A layer reads a blob that no layer before it makes.

What happens
    Caffe goes through the layers once, in the file's order, and aborts: "Unknown bottom blob … (layer …, bottom index …)".
    The blob is mistyped, made further down, or made only in the other phase.

How to fix
    Correct the name, move the layer that makes the blob up, or give the reader the same include rule as the maker.

When it is fine
    Never in a phase that is built. A phase that the solver does not ask for is not judged.

Source
    InsertSplits, src/caffe/util/insert_splits.cpp; Net::AppendBottom, src/caffe/net.cpp.
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

CODE = "CG202"
NAME = "unknown-bottom"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("unknown-bottom",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer {
  name: "r"
  type: "ReLU"
  bottom: "dta"
  top: "r"
}
""",
        expect=[5],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "r" type: "ReLU" bottom: "data" top: "data" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
