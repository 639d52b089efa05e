"""The file begins with a byte order mark, which Caffe's parser takes for a fault.

What happens
    Some editors write three invisible bytes (EF BB BF) at the start of a UTF-8 file. Protobuf's text parser refuses
    them: "1:1: Expected identifier".

How to fix
    Save the file as UTF-8 without a byte order mark; `--fix` removes it.
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

CODE = "CG003"
NAME = "byte-order-mark"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (Example('\ufeffname: "a net"\n', expect=[1], fixed='name: "a net"\n', caffe="aborts"),)
GOOD = (Example('name: "a net \ufeff"\n'),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """A mark at the very start."""
    yield from findings(ctx, tree.BYTE_ORDER_MARK)
