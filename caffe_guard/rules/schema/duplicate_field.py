"""A field that may stand once is given twice.

What happens
    Protobuf's parser refuses a second value of a field that is not repeated, scalars and messages alike, and Caffe
    aborts: "Non-repeated field … is specified multiple times".

How to fix
    Keep one of the two. Two `transform_param` or `convolution_param` blocks of one layer: join them.

When it is fine
    Only repeated fields may be given several times: bottom, top, param, loss_weight, kernel_size of a convolution (but
    not of a pooling), stepvalue, test_iter, mean_value, …

Source
    google/protobuf/text_format.cc, ConsumeField.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Related, Severity
from caffe_guard.prototxt.edit import remove
from caffe_guard.rules.rule import Example
from caffe_guard.schema import bind as binding
from caffe_guard.schema.message import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext
    from caffe_guard.schema.bind import BindProblem

CODE = "CG015"
NAME = "duplicate-field"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        'layer {\n  name: "p"\n  pooling_param {\n    kernel_size: 2\n    kernel_size: 2\n  }\n}\n',
        expect=[5],
        fixed='layer {\n  name: "p"\n  pooling_param {\n    kernel_size: 2\n  }\n}\n',
        caffe="aborts",
    ),
    Example(
        'layer {\n  name: "d"\n  transform_param { scale: 0.1 }\n  transform_param { mirror: true }\n}\n',
        expect=[4],
        caffe="aborts",
    ),
)
GOOD = (Example('layer {\n  name: "c"\n  convolution_param { kernel_size: 2 kernel_size: 3 }\n}\n'),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every second and later value of a field that is not repeated."""
    if ctx.bound is None:
        return
    for problem in ctx.bound.problems:
        if problem.kind != binding.DUPLICATE or problem.first is None:
            continue
        first = problem.first
        yield Finding(
            f'"{problem.field_name}" is given again, and may be given once: Caffe aborts',
            problem.start,
            problem.end,
            help="keep one of the two",
            related=[Related("it is given first here", first.name_start, first.end)],
            fix=_same_value_fix(ctx, problem),
            field=problem.path,
        )


def _same_value_fix(ctx: FileContext, problem: BindProblem) -> Fix | None:
    """Two equal scalars: one is surplus, whichever was meant."""
    first, again = problem.first, problem.second
    if first is None or again is None or isinstance(first.value, Message) or isinstance(again.value, Message):
        return None
    text = ctx.source.text
    if text[first.start : first.end] != text[again.start : again.end] or first.name_start == again.name_start:
        return None
    return Fix("remove the second one", [remove(text, again.name_start, again.end)], safe=True)
