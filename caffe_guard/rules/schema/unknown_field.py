"""A field that this Caffe does not have.

What happens
    Protobuf's parser refuses a message with a field it does not know, and Caffe aborts: "Message type
    caffe.ConvolutionParameter has no field named …". The field is mistyped, stands in the wrong message, or belongs to
    a fork of Caffe.

How to fix
    The message names the nearest field, the message that the field belongs in, or the forks that define it. With a
    fork's field, use that fork's Caffe, or remove the field if its default is what you want.

When it is fine
    When the files are for a fork, `--dialect` (auto by default) accepts that fork's fields; what no known fork defines
    is then a warning, since your build may extend the fork. In files that BVLC's Caffe would read otherwise, it is an
    error.

Source
    proto/caffe.proto; google/protobuf/text_format.cc, ConsumeField.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.schema import bind as binding
from caffe_guard.schema.dialects import owners_of_field
from caffe_guard.schema.hints import listed, nearest, same_word, submessages_with

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext
    from caffe_guard.schema.bind import BindProblem

CODE = "CG010"
NAME = "unknown-field"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "data"
  top: "ip"
  inner_product_param {
    num_outputs: 10
  }
}
""",
        expect=[7],
        fixed="""\
layer {
  name: "ip"
  type: "InnerProduct"
  bottom: "data"
  top: "ip"
  inner_product_param {
    num_output: 10
  }
}
""",
        caffe="aborts",
    ),
    Example('layer {\n  name: "ip"\n  num_output: 10\n}\n', expect=[3], caffe="aborts"),
    Example('layer {\n  name: "r"\n  permute_param { order: 0 }\n}\n', expect=[3], caffe="aborts", dialect="bvlc"),
)
GOOD = (Example('layer {\n  name: "r"\n  permute_param { order: 0 }\n}\n', dialect="ssd"),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """Each unknown field of each message once, with the number of its places."""
    if ctx.bound is None:
        return
    places: dict[tuple[str, str], list[BindProblem]] = {}
    for problem in ctx.bound.problems:
        if problem.kind == binding.UNKNOWN_FIELD:
            places.setdefault((problem.type_name, problem.field_name), []).append(problem)
    for problems in places.values():
        yield _finding(ctx, problems)


def _finding(ctx: FileContext, problems: list[BindProblem]) -> Finding:
    problem = problems[0]
    name = problem.field_name
    type = ctx.schema.message(problem.type_name)
    owners = [owner for owner in owners_of_field(problem.type_name, name) if owner != ctx.dialect]
    close = nearest(name, type.fields)
    inside = submessages_with(name, type)
    fork = ctx.dialect != "bvlc"
    message = f'{problem.type_name} has no field "{name}"{_who(ctx)}'
    severity = None
    fix = None
    if owners:
        message += f"; it belongs to the Caffe of {listed(owners)}"
        help = f"build that fork, or remove the field; --dialect {owners[0]} judges the files for it"
        if fork and ctx.asked_dialect == "auto":
            severity = Severity.WARNING
    elif close is not None:
        help = f'did you mean "{close}"?'
        edits = [Edit(one.start, one.end, close) for one in problems]
        fix = Fix(f"write {close}", edits, safe=all(same_word(name, close) for _ in edits))
    elif inside:
        help = f"it belongs inside {listed(inside)}"
    elif problem.path.count(".") and name in ctx.schema.message("LayerParameter").fields:
        help = "it belongs to the layer itself, one message further out: look for a missing or misplaced brace"
    else:
        help = "no Caffe that caffe-guard knows defines it: remove it, or use the build that does"
        if fork and ctx.asked_dialect == "auto":
            severity = Severity.WARNING
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


def _who(ctx: FileContext) -> str:
    return ": Caffe aborts" if ctx.dialect == "bvlc" else f" in the Caffe of {ctx.dialect}"
