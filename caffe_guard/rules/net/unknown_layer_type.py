"""A layer has a type that no known Caffe registers, or none at all.

What happens
    Caffe looks the type up in its registry and aborts: "Unknown layer type: … (known types: …)". Types are spelled with
    capitals as Caffe's documentation has them: "InnerProduct", "SoftmaxWithLoss", "ReLU".

How to fix
    Correct the spelling, or use the build that has the layer. Python layers have the type "Python".

When it is fine
    For a layer of your own build. Files of a fork get a warning only; types that a known fork registers are CG703's.

Source
    LayerRegistry::CreateLayer, include/caffe/layer_factory.hpp.
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

CODE = "CG201"
NAME = "unknown-layer-type"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("unknown-layer-type",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer {
  name: "r"
  type: "Relu"
  bottom: "data"
  top: "r"
}
""",
        expect=[4],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "r" type: "ReLU" bottom: "data" top: "r" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Types that are in no registry. A type that is no word of the format at all has been told by another rule."""
    bound = ctx.file.bound
    told = {problem.start for problem in bound.problems} if bound is not None else set()
    for finding in findings(ctx, KINDS, in_forks=Severity.WARNING):
        if finding.start not in told:
            yield finding
