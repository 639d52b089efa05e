"""Fields of a fork: BVLC's Caffe refuses the file, the fork reads it.

What happens
    Caffe has many forks, and each added fields to caffe.proto. A Caffe whose schema lacks the field aborts: "Message
    type … has no field named …". caffe-guard found the fork that explains the files of this job, and judges them as
    that fork reads them.

How to fix
    Use the Caffe of that fork. For BVLC's Caffe, remove the field, or the layer that needs it.
    `--dialect bvlc` makes these findings errors; naming the fork (`--dialect ssd`) silences them.

When it is fine
    Always, with the right build.

Source
    proto/forks/; each fork's src/caffe/proto/caffe.proto.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.dialect import unknown_owners
from caffe_guard.rules.rule import Example
from caffe_guard.schema import bind as binding
from caffe_guard.schema.hints import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from caffe_guard.rules.context import FileContext
    from caffe_guard.schema.bind import BindProblem

CODE = "CG701"
NAME = "fork-field"
SEVERITY = Severity.INFO
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        'layer {\n  name: "r"\n  type: "Permute"\n  bottom: "x"\n  top: "y"\n  permute_param { order: 0 }\n}\n',
        expect=[6],
        caffe="aborts",
    ),
)
GOOD = (
    Example('layer {\n  name: "r"\n  type: "Permute"\n  permute_param { order: 0 }\n}\n', dialect="ssd"),
    Example('layer {\n  name: "r"\n  type: "ReLU"\n  relu_param { negative_slope: 0 }\n}\n'),
)


def check(ctx: FileContext) -> Iterator[Finding]:
    """The fields and enum values that the found fork knows and BVLC does not, told once a file."""
    if ctx.asked_dialect != "auto" or ctx.dialect == "bvlc" or ctx.bvlc_bound is None or ctx.bound is None:
        return
    still_unknown = {(problem.kind, problem.start) for problem in ctx.bound.problems}
    found: list[BindProblem] = []
    names: dict[str, None] = {}
    for problem in ctx.bvlc_bound.problems:
        if (problem.kind, problem.start) in still_unknown or ctx.dialect not in (unknown_owners(problem) or ()):
            continue
        found.append(problem)
        names[
            problem.field_name if problem.kind == binding.UNKNOWN_FIELD else f"{problem.field_name}: {problem.raw}"
        ] = None
    if not found:
        return
    first = found[0]
    subject = f'"{first.field_name}" is a field'
    if len(found) > 1:
        subject = f"{len(found)} fields and values ({listed_all(names)}) are"
    others = [owner for owner in unknown_owners(first) or () if owner != ctx.dialect]
    also = f" ({'it is' if len(names) == 1 else 'the first is'} also of {listed(others, 'and')})" if others else ""
    yield Finding(
        f"{subject} of the Caffe of {ctx.dialect}{also}; BVLC's Caffe aborts on {'it' if len(found) == 1 else 'them'}",
        first.start,
        first.end,
        help=f"train with that build; --dialect {ctx.dialect} says that you do",
        field=first.path,
    )


def listed_all(names: Iterable[str], most: int = 5) -> str:
    """The first few names, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
