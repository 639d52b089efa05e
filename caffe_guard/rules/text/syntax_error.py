"""The text is no text format: Caffe's parser stops here.

What happens
    Caffe reads prototxt files with protobuf's text parser. At the first fault it gives up on the whole file and aborts
    ("Failed to parse NetParameter file"), naming one line. caffe-guard goes on behind the fault and judges the rest.

How to fix
    Write fields as `name: value` or `name { … }`, strings in quotes and closed on the same line, comments with `#`,
    lists as `[1, 2]`.

Source
    google/protobuf/text_format.cc and io/tokenizer.cc; ReadProtoFromTextFile, src/caffe/util/io.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Related, Severity
from caffe_guard.prototxt import tree
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext

CODE = "CG001"
NAME = "syntax-error"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example('name: "a net\nforce_backward: true\n', expect=[1], caffe="aborts"),
    Example('name = "a net"\n', expect=[1], fixed='name : "a net"\n', caffe="aborts"),
    Example('// a comment\nname: "a net"\n', expect=[1], fixed='# a comment\nname: "a net"\n', caffe="aborts"),
    Example('name "a net"\n', expect=[1], fixed='name: "a net"\n', caffe="aborts"),
    Example("input_dim: 3x\n", expect=[1], caffe="aborts"),
    Example("input_dim:\nforce_backward: true\n", expect=[1], caffe="aborts"),
)
GOOD = (Example("name: 'a net' \"of two parts\" # and a comment\ninput_dim: [0x10, 020]; force_backward: t\n"),)


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every place that the parser could not read, but braces and merge conflicts, which have rules of their own."""
    yield from findings(ctx, tree.BAD_SYNTAX)


def findings(ctx: FileContext, kind: str) -> Iterator[Finding]:
    """The parser's problems of one kind as findings."""
    for problem in ctx.tree.problems:
        if problem.kind != kind:
            continue
        related = []
        if problem.related is not None:
            words, start, end = problem.related
            related.append(Related(words, start, end))
        fix = None
        if problem.replacement is not None:
            description = problem.help or "replace it"
            fix = Fix(description, [Edit(problem.start, problem.end, problem.replacement)], safe=True)
        yield Finding(problem.message, problem.start, problem.end, help=problem.help, fix=fix, related=related)
