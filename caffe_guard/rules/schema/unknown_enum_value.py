"""A word that the field's enum does not have, or an enum value in quotes.

What happens
    Protobuf's parser refuses it and Caffe aborts: "Unknown enumeration value of … for field …". Enum values are
    written without quotes and in capitals, as caffe.proto spells them; their numbers are accepted too.

How to fix
    Use one of the values that the message lists. A value of a fork needs that fork's Caffe.

Source
    proto/caffe.proto; google/protobuf/text_format.cc, ConsumeFieldValue.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.prototxt import tree
from caffe_guard.rules.rule import Example
from caffe_guard.rules.schema.wrong_value_type import is_layer_type
from caffe_guard.schema import bind as binding
from caffe_guard.schema.dialects import owners_of_enum_value
from caffe_guard.schema.hints import listed, nearest, same_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext
    from caffe_guard.schema.bind import BindProblem

CODE = "CG013"
NAME = "unknown-enum-value"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        'layer {\n  name: "p"\n  pooling_param { pool: "max" }\n}\n',
        expect=[3],
        fixed='layer {\n  name: "p"\n  pooling_param { pool: MAX }\n}\n',
        caffe="aborts",
    ),
    Example('layer {\n  name: "p"\n  pooling_param { pool: AVERAGE }\n}\n', expect=[3], caffe="aborts"),
    Example('layer {\n  name: "p"\n  pooling_param { pool: 7 }\n}\n', expect=[3], caffe="aborts"),
)
GOOD = (Example('layer {\n  name: "p"\n  pooling_param { pool: 1 }\n}\n'),)
# Longer enums (the layer types of V1) are not listed whole.
_MOST_LISTED = 8


def check(ctx: FileContext) -> Iterator[Finding]:
    """Each value that the dialect's enum does not have once, with the number of its places."""
    if ctx.bound is None:
        return
    places: dict[tuple[str, str], list[BindProblem]] = {}
    for problem in ctx.bound.problems:
        if problem.kind == binding.UNKNOWN_ENUM_VALUE and not (is_layer_type(problem) and _is_quoted(problem)):
            places.setdefault((problem.expected, problem.raw), []).append(problem)
    for problems in places.values():
        yield _finding(ctx, problems)


def _is_quoted(problem: BindProblem) -> bool:
    return problem.node is not None and problem.node.kind is tree.STRING


def _finding(ctx: FileContext, problems: list[BindProblem]) -> Finding:
    problem = problems[0]
    names = ctx.schema.enum(problem.expected)
    word = problem.raw.strip("\"'")
    owners = [owner for owner in owners_of_enum_value(problem.expected, word) if owner != ctx.dialect]
    close = nearest(word, names)
    fix = None
    severity = None
    if word in names and _is_quoted(problem):
        message = f'"{problem.field_name}" takes {word} without quotes: Caffe aborts'
    else:
        message = f'{word} is no value of "{problem.field_name}": Caffe aborts'
    if owners:
        message = f'{word} is no value of "{problem.field_name}" in this Caffe; it belongs to that of {listed(owners)}'
        help = f"build that fork, or choose another value; --dialect {owners[0]} judges the files for it"
        if ctx.dialect != "bvlc" and ctx.asked_dialect == "auto":
            severity = Severity.WARNING
    elif close is not None:
        help = f"did you mean {close}?"
        edits = [Edit(one.start, one.end, close) for one in problems]
        fix = Fix(f"write {close}", edits, safe=same_word(word, close))
    elif len(names) <= _MOST_LISTED:
        help = f"it takes {', '.join(names)}"
    else:
        help = "see the enum in caffe.proto"
    if len(problems) > 1:
        message += f" (in {len(problems)} places)"
    return Finding(
        message,
        problem.start,
        problem.end,
        help=help,
        fix=fix,
        field=problem.path,
        severity=severity,
        others=[(other.start, other.end) for other in problems[1:]],
    )
