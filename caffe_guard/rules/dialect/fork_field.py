"""A field of a fork: BVLC's Caffe refuses the file, the fork reads it.

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
    from collections.abc import Iterator

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
    """Each field and enum value that the found fork knows and BVLC does not, once a file."""
    if ctx.asked_dialect != "auto" or ctx.dialect == "bvlc" or ctx.bvlc_bound is None or ctx.bound is None:
        return
    still_unknown = {(problem.kind, problem.start) for problem in ctx.bound.problems}
    places: dict[tuple[str, str, str], list[BindProblem]] = {}
    for problem in ctx.bvlc_bound.problems:
        if (problem.kind, problem.start) in still_unknown:
            continue
        owners = unknown_owners(problem)
        if owners and ctx.dialect in owners:
            word = problem.raw if problem.kind == binding.UNKNOWN_ENUM_VALUE else ""
            places.setdefault((problem.type_name, problem.field_name, word), []).append(problem)
    for problems in places.values():
        problem = problems[0]
        owners = unknown_owners(problem) or ()
        others = [owner for owner in owners if owner != ctx.dialect]
        also = f" (also of {listed(others, 'and')})" if others else ""
        count = f", {len(problems)} times in this file" if len(problems) > 1 else ""
        what = f'"{problem.field_name}"'
        if problem.kind == binding.UNKNOWN_ENUM_VALUE:
            what = f'{problem.raw} for "{problem.field_name}"'
        yield Finding(
            f"{what} is of the Caffe of {ctx.dialect}{also}{count}; BVLC's Caffe aborts on it",
            problem.start,
            problem.end,
            help=f"train with that build; --dialect {ctx.dialect} says that you do",
            field=problem.path,
        )
