"""A brace is missing, or there is one too many.

What happens
    Caffe's parser notices only at the end of the file, or where the wrong message closes, and names a line that is
    far from the fault. caffe-guard takes the indentation as a witness and points at the message that is not closed;
    the rest of the file is judged as if the brace were there.

How to fix
    Add the missing `}` or remove the surplus one.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Severity
from caffe_guard.prototxt import tree
from caffe_guard.rules.rule import Example
from caffe_guard.rules.text.syntax_error import findings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.diagnostic import Finding
    from caffe_guard.rules.context import FileContext

CODE = "CG004"
NAME = "unbalanced-brace"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer {
  name: "relu1"
  type: "ReLU"
  relu_param {
    negative_slope: 0.1
  bottom: "x"
  top: "y"
}
layer {
  name: "relu2"
  type: "ReLU"
  bottom: "y"
  top: "z"
}
""",
        expect=[4],
        caffe="aborts",
    ),
    Example('layer {\n  name: "silence"\n}\n}\n', expect=[4], caffe="aborts"),
)
GOOD = (Example("input_shape { dim: 1 } # { in a comment\n"),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every message that is never closed, every brace that closes nothing; after a merge conflict it means nothing."""
    if all(problem.kind != tree.MERGE_CONFLICT for problem in ctx.tree.problems):
        yield from findings(ctx, tree.UNBALANCED)
