"""A layer has both include and exclude rules.

What happens
    Caffe wants one kind or the other and aborts: "Specify either include rules or exclude rules; not both".

How to fix
    Say it with include rules alone. Several conditions in one rule must all hold; of several rules one is enough.

Source
    Net::FilterNet, src/caffe/net.cpp.
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

CODE = "CG207"
NAME = "include-and-exclude"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("include-and-exclude",)
BAD = (
    Example(
        """\
layer {
  name: "data"
  type: "Input"
  top: "data"
  input_param { shape { dim: 1 } }
  include { phase: TRAIN }
  exclude { stage: "deploy" }
}
""",
        expect=[7],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "data"
  type: "Input"
  top: "data"
  input_param { shape { dim: 1 } }
  include { phase: TRAIN not_stage: "deploy" }
}
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
