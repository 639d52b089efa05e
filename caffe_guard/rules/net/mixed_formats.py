"""Layers of the old and of the new format stand in one net, or an old net cannot be upgraded.

What happens
    Caffe upgrades `layers { … }` to `layer { … }` while it reads, but refuses a file that has both: "Refusing to upgrade
    inconsistent NetParameter input; the definition includes both 'layer' and 'layers' fields".

How to fix
    Bring the file to the new format: `layer`, types as strings, param { lr_mult decay_mult } for blobs_lr and weight_decay.

Source
    UpgradeV1Net and UpgradeV0Net, src/caffe/util/upgrade_proto.cpp.
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

CODE = "CG222"
NAME = "mixed-formats"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("mixed-formats", "upgrade")
BAD = (
    Example(
        """\
layers { name: "d" type: DUMMY_DATA top: "x" dummy_data_param { num: 1 channels: 1 height: 1 width: 1 } }
layer { name: "r" type: "ReLU" bottom: "x" top: "x" }
""",
        expect=[2],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layers { name: "d" type: DUMMY_DATA top: "x" dummy_data_param { num: 1 channels: 1 height: 1 width: 1 } }
layers { name: "r" type: RELU bottom: "x" top: "x" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
