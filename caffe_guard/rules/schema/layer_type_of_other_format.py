"""The type of a layer is written as the other format writes it: CONVOLUTION in a `layer`, "Convolution" in a `layers`.

What happens
    Caffe has two formats. In the new one (`layer { … }`, since 2014) the type is a string, "Convolution"; in the old one
    (`layers { … }`) it is an enum value, CONVOLUTION. Protobuf's parser refuses one in place of the other and Caffe
    aborts: "Expected string, got: CONVOLUTION".

How to fix
    Write the type as the format wants it; `--fix` does it. A whole file is brought to the new format by Caffe's
    `upgrade_net_proto_text` (which loses comments).

Source
    proto/caffe.proto, LayerParameter.type and V1LayerParameter.type; UpgradeV1LayerType, src/caffe/util/upgrade_proto.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.net.upgrade import V1_LAYER_TYPES
from caffe_guard.prototxt import tree
from caffe_guard.rules.rule import Example
from caffe_guard.rules.schema.wrong_value_type import is_layer_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext
    from caffe_guard.schema.bind import BindProblem

CODE = "CG018"
NAME = "layer-type-of-other-format"
SEVERITY = Severity.ERROR
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        'layer {\n  name: "c"\n  type: TANH\n  bottom: "x"\n  top: "y"\n}\n',
        expect=[3],
        fixed='layer {\n  name: "c"\n  type: "TanH"\n  bottom: "x"\n  top: "y"\n}\n',
        caffe="aborts",
    ),
    Example(
        'layers {\n  name: "c"\n  type: "TanH"\n  bottom: "x"\n  top: "y"\n}\n',
        expect=[3],
        fixed='layers {\n  name: "c"\n  type: TANH\n  bottom: "x"\n  top: "y"\n}\n',
        caffe="aborts",
    ),
)
GOOD = (
    Example('layer {\n  name: "c"\n  type: "TanH"\n}\n'),
    Example('layers {\n  name: "c"\n  type: TANH\n  bottom: "x"\n  top: "y"\n}\n'),
)


def check(ctx: FileContext) -> Iterator[Finding]:
    """Layer types that are no string in the new format, or a string in the old one."""
    if ctx.bound is None:
        return
    for problem in ctx.bound.problems:
        if not is_layer_type(problem) or problem.node is None:
            continue
        new_format = problem.type_name == "LayerParameter"
        if not new_format and problem.node.kind is not tree.STRING:
            continue
        yield _finding(problem, new_format)


def _finding(problem: BindProblem, new_format: bool) -> Finding:
    word = problem.raw.strip("\"'")
    better = _new_type(word) if new_format else _old_type(word)
    if new_format:
        message = f'in a "layer" the type is a string in quotes, not {word}: Caffe aborts'
    else:
        message = (
            f'in a "layers" (the old format) the type is an enum value without quotes, not {problem.raw}: Caffe aborts'
        )
    fix = None if better is None else Fix(f"write {better}", [Edit(problem.start, problem.end, better)], safe=True)
    return Finding(
        message,
        problem.start,
        problem.end,
        help=None if better is None else f"write type: {better}",
        fix=fix,
        field="type",
    )


def _new_type(word: str) -> str | None:
    """The quoted type of the new format for a word that stands without quotes."""
    if word in V1_LAYER_TYPES:
        return f'"{V1_LAYER_TYPES[word]}"'
    return f'"{word}"' if word in V1_LAYER_TYPES.values() else None


def _old_type(word: str) -> str | None:
    """The enum value of the old format for a quoted type, in either spelling."""
    for old, new in V1_LAYER_TYPES.items():
        if word in (old, new):
            return old
    return None
