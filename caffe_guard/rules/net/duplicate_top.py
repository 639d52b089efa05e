"""Two layers make a blob of the same name, or a layer works in place on a blob that another layer reads too.

What happens
    A name may be written again only in place: by a layer whose bottom of the same index it is. Anything else aborts:
    "Top blob … produced by multiple sources". A blob with two readers gets a Split from Caffe, whose outputs have other
    names; so an in-place layer that is not the only reader of its bottom aborts with the same words. A loss_weight on
    the blob counts as a reader.

How to fix
    Give the top a name of its own, and let the readers that want the changed blob read that.

When it is fine
    Layers of different phases may share names: their include rules keep them apart.

Source
    Net::AppendTop, src/caffe/net.cpp; InsertSplits, src/caffe/util/insert_splits.cpp.
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

CODE = "CG203"
NAME = "duplicate-top"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("duplicate-top",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "a" type: "ReLU" bottom: "data" top: "x" }
layer { name: "b" type: "TanH" bottom: "data" top: "x" }
""",
        expect=[3],
        caffe="aborts",
    ),
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "a" type: "ReLU" bottom: "data" top: "data" }
layer { name: "b" type: "TanH" bottom: "data" top: "y" }
layer { name: "c" type: "ReLU" bottom: "data" top: "data" }
""",
        expect=[4],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "a" type: "ReLU" bottom: "data" top: "data" }
layer { name: "b" type: "TanH" bottom: "data" top: "y" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
