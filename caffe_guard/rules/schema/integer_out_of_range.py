"""A number that does not fit the field's integer type.

What happens
    Protobuf's parser refuses it and Caffe aborts: "Integer out of range". Unsigned fields (kernel_size, stride, pad,
    num_output, batch_size, …) take no negative number; int32 fields (max_iter, stepsize, …) end at 2147483647.

How to fix
    Correct the number.

Source
    google/protobuf/text_format.cc, ConsumeUnsignedInteger and ConsumeSignedInteger.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.schema import bind as binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext

CODE = "CG014"
NAME = "integer-out-of-range"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example('layer {\n  name: "c"\n  convolution_param { pad: -1 }\n}\n', expect=[3], caffe="aborts"),
    Example("input_dim: 4294967296\n", expect=[1], caffe="aborts"),
)
GOOD = (Example("input_dim: 2147483647\n"),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every integer outside its type."""
    if ctx.bound is None:
        return
    for problem in ctx.bound.problems:
        if problem.kind == binding.OUT_OF_RANGE:
            raw = problem.raw if len(problem.raw) <= 40 else problem.raw[:39] + "…"
            yield Finding(
                f'"{problem.field_name}" {problem.message}, not {raw}: Caffe aborts',
                problem.start,
                problem.end,
                field=problem.path,
            )
