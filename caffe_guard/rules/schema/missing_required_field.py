"""A message lacks a field that its type requires.

What happens
    Protobuf's parser refuses the whole file and Caffe aborts. In BVLC's schema only clip_param requires fields: min and
    max.

How to fix
    Add the field.

Source
    proto/caffe.proto, ClipParameter.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.schema import bind as binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext

CODE = "CG016"
NAME = "missing-required-field"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (Example('layer {\n  name: "c"\n  type: "Clip"\n  clip_param { min: 0 }\n}\n', expect=[4], caffe="aborts"),)
GOOD = (Example('layer {\n  name: "c"\n  clip_param { min: 0 max: 6 }\n}\n'),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every required field that is not given."""
    if ctx.bound is None:
        return
    for problem in ctx.bound.problems:
        if problem.kind == binding.MISSING_REQUIRED:
            yield Finding(
                f'{problem.type_name} requires "{problem.field_name}": Caffe aborts',
                problem.start,
                problem.end,
                help=f"add {problem.field_name}",
                field=problem.path,
            )
