"""A blob would have more items than Caffe can count, or a negative extent.

What happens
    Caffe counts the items of a blob in a 32-bit integer and aborts beyond 2147483647 ("blob size exceeds INT_MAX"), and
    on an extent below 0.

How to fix
    Use a smaller batch or map. A negative extent comes from a setting, such as a dim of -1 where none is allowed.

When it is fine
    NVIDIA's fork divides batch_size among its GPUs: in files of a fork it is a warning.

Source
    Blob::Reshape, src/caffe/blob.cpp.
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

CODE = "CG223"
NAME = "blob-too-large"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("blob-too-large", "empty-blob")
BAD = (
    Example(
        """\
layer {
  name: "data"
  type: "Input"
  top: "data"
  input_param { shape { dim: 100000 dim: 100000 } }
}
""",
        expect=[2],
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        'layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 100 dim: 100 } } }\n', caffe="finite"
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS, in_forks=Severity.WARNING)
