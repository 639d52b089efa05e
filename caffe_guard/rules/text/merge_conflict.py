"""The markers of an unresolved merge stand in the file.

What happens
    Git left both sides of a conflict in the text, between lines of <<<<<<<, ======= and >>>>>>>. Caffe's parser stops
    at the first of them. caffe-guard judges the rest of the file with the first side.

How to fix
    Keep one side, remove the other and the marker lines.
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

CODE = "CG002"
NAME = "merge-conflict"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        'name: "a net"\n<<<<<<< HEAD\nforce_backward: true\n=======\nforce_backward: false\n>>>>>>> other\n',
        expect=[2],
        caffe="aborts",
    ),
)
GOOD = (Example('name: "a net" # <<<<<<< in a comment\n'),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """The first line of every conflict, and marker lines that are left over."""
    yield from findings(ctx, tree.MERGE_CONFLICT)
