"""The mean has another size than the pictures, or the crop is larger than they are.

What happens
    The data transformer compares the mean with each record before it crops, and aborts on the first picture ("Check
    failed: datum_height == data_mean_.height()"); a crop_size larger than the picture aborts too. With the mean file and
    the list of pictures on this machine, caffe-guard reads the size from their first bytes.

How to fix
    Compute the mean from pictures of the size that the net reads (compute_image_mean), or give a mean_value a channel.

When it is fine
    `--no-data` keeps caffe-guard from looking at files.

Source
    DataTransformer::Transform, src/caffe/data_transformer.cpp.
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

CODE = "CG218"
NAME = "picture-size"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("mean-file-size", "crop-size")
BAD = (
    Example(
        """\
layer {
  name: "data"
  type: "ImageData"
  top: "data"
  top: "label"
  transform_param { crop_size: 64 }
  image_data_param { source: "list.txt" batch_size: 2 new_height: 32 new_width: 32 }
}
""",
        expect=[6],
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "data"
  type: "ImageData"
  top: "data"
  top: "label"
  transform_param { crop_size: 32 }
  image_data_param { source: "list.txt" batch_size: 2 new_height: 32 new_width: 32 }
}
"""
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """What Caffe's own checks refuse, as the built net found it."""
    yield from findings(ctx, KINDS)
