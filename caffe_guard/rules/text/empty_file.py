"""The file holds no fields at all.

What happens
    Caffe reads an empty text without complaint: as a solver it has no net and aborts, as a net it has no layers.

How to fix
    Look whether the download or the script that writes the file failed.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext

CODE = "CG009"
NAME = "empty-file"
SEVERITY = Severity.WARNING
SCOPE = "file"
SINCE = "0.1.0"
BAD = (Example("", expect=[1]), Example("# nothing but a comment\n", expect=[1]))
GOOD = (Example('name: "a net"\n'),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """A text of blanks and comments only."""
    if not ctx.tree.fields and not ctx.tree.problems:
        yield Finding("the file is empty: it names no layer and no solver setting", 0, 0)
