"""A value of another type than the field takes: a string for a number, a number for a string, a list for one value.

What happens
    Protobuf's parser refuses it and Caffe aborts: "Expected integer, got: …". `3.0` and `1e3` are no integers,
    `yes` and `TRUE` are no booleans, a string needs quotes, and a number must have none.

How to fix
    Write the value as the message says. Where only quotes or the spelling are wrong, `--fix` does it.

Source
    google/protobuf/text_format.cc, ConsumeFieldValue.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.prototxt import tree
from caffe_guard.prototxt.values import integer_value, string_value
from caffe_guard.rules.rule import Example
from caffe_guard.schema import bind as binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext
    from caffe_guard.schema.bind import BindProblem

CODE = "CG012"
NAME = "wrong-value-type"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        'name: lenet\nforce_backward: "true"\n',
        expect=[1, 2],
        fixed='name: "lenet"\nforce_backward: true\n',
        caffe="aborts",
    ),
    Example(
        'layer {\n  name: "c"\n  convolution_param { num_output: "20" stride: 2.0 }\n}\n',
        expect=[3, 3],
        fixed='layer {\n  name: "c"\n  convolution_param { num_output: 20 stride: 2 }\n}\n',
        caffe="aborts",
    ),
    Example("force_backward: yes\n", expect=[1], caffe="aborts"),
    Example('layer {\n  name: "c"\n  convolution_param: 3\n}\n', expect=[3], caffe="aborts"),
    Example('layer {\n  name: "p"\n  pooling_param { kernel_size: [2, 2] }\n}\n', expect=[3], caffe="aborts"),
)
GOOD = (Example("name: 'lenet'\nforce_backward: 1\ninput_dim: 0x10\n"),)
_BOOLEANS = {"true": "true", "false": "false"}


def check(ctx: FileContext) -> Iterator[Finding]:
    """Every value that cannot be converted; enums have a rule of their own, and so has a layer's type."""
    if ctx.bound is None:
        return
    for problem in ctx.bound.problems:
        if problem.kind != binding.WRONG_TYPE or is_layer_type(problem):
            continue
        written = problem.raw if problem.node is not None and problem.node.kind not in (tree.MESSAGE, tree.LIST) else ""
        got = f", not {_short(written)}" if written else ""
        better = replacement(problem)
        fix = None
        if better is not None and problem.node is not None:
            fix = Fix(f"write {better}", [Edit(problem.node.start, problem.node.end, better)], safe=True)
        yield Finding(
            f'"{problem.field_name}" {problem.message}{got}: Caffe aborts',
            problem.start,
            problem.end,
            help=None if better is None else f"write {problem.field_name}: {better}",
            fix=fix,
            field=problem.path,
        )


def is_layer_type(problem: BindProblem) -> bool:
    """Whether the problem is the type of a layer, old format in new or new in old."""
    return problem.field_name == "type" and problem.type_name in ("LayerParameter", "V1LayerParameter")


def replacement(problem: BindProblem) -> str | None:
    """What was certainly meant, where only quotes or the spelling are wrong."""
    node = problem.node
    if node is None:
        return None
    raw = problem.raw
    if problem.expected == "string" and node.kind is tree.NAME:
        return f'"{raw}"'
    content = raw
    if node.kind is tree.STRING:
        try:
            content = string_value(raw)
        except ValueError:
            return None
    if problem.expected == "bool":
        return _BOOLEANS.get(content.lower())
    if problem.expected in ("int32", "uint32", "int64", "uint64"):
        whole = content[:-2] if content.endswith(".0") else content
        return whole if _is_integer(whole) else None
    if problem.expected in ("float", "double") and node.kind is tree.STRING:
        return content if _is_float(content) else None
    return None


def _is_integer(text: str) -> bool:
    try:
        integer_value(text)
    except ValueError:
        return False
    return True


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip() == text and "_" not in text


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:39] + "…"
