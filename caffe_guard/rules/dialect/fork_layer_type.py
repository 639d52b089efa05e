"""Layer types that only a fork of Caffe registers.

What happens
    BVLC's Caffe aborts: "Unknown layer type: …". The fork's Caffe runs it.

How to fix
    Use the Caffe of a fork that the message names, or a layer type that BVLC has. `--dialect bvlc` makes the finding an
    error; naming the fork silences it.

When it is fine
    Always, with the right build. A type that the fork of these files lacks, and another one has, is a warning.

Source
    proto/forks/; REGISTER_LAYER_CLASS in each fork's src/caffe/layers/.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.dialect.fork_field import listed_all
from caffe_guard.rules.rule import Example
from caffe_guard.schema.dialects import layer_types, layer_types_known, owners_of_layer_type
from caffe_guard.schema.hints import listed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG703"
NAME = "fork-layer-type"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
_NET = """\
layer {
  name: "r"
  type: "Normalize"
  bottom: "x"
  top: "y"
}
"""
BAD = (
    Example(_NET, expect=[(3, "info")], caffe="aborts"),
    Example(_NET, expect=[(3, "error")], dialect="bvlc", caffe="aborts"),
)
GOOD = (Example(_NET, dialect="ssd"),)


def check(ctx: NetContext) -> Iterator[Finding]:
    """The types that the found fork has and BVLC lacks, told once a file; those that it lacks too, one by one."""
    asked = ctx.file.asked_dialect
    bvlc = layer_types("bvlc")
    foreign: dict[str, Layer] = {}
    for layer in ctx.layers:
        if layer.type not in bvlc:
            foreign.setdefault(layer.type, layer)
    if not foreign:
        return
    here = layer_types(ctx.dialect)
    known = layer_types_known(ctx.dialect)
    ours = []
    for layer_type, layer in foreign.items():
        owners = owners_of_layer_type(layer_type)
        if not owners:
            continue
        if layer_type in here or not known:
            ours.append(layer)
        else:
            severity = Severity.WARNING if asked == "auto" else Severity.ERROR
            message = f'the Caffe of {ctx.dialect} has no layer "{layer_type}"; that of {listed(owners)} has'
            yield _finding(layer, message, owners[0], severity)
    if ours and asked != ctx.dialect:
        names = listed_all(layer.type for layer in ours)
        subject = f'"{names}" is a layer' if len(ours) == 1 else f"{len(ours)} layer types ({names}) are"
        message = (
            f"{subject} of the Caffe of {ctx.dialect}; BVLC's Caffe aborts on {'it' if len(ours) == 1 else 'them'}"
        )
        yield _finding(ours[0], message, ctx.dialect, Severity.INFO)


def _finding(layer: Layer, message: str, fork: str, severity: Severity) -> Finding:
    value = layer.message.at("type")
    start, end = (value.start, value.end) if value is not None else layer.anchor
    return Finding(
        message,
        start,
        end,
        help=f"train with that build; --dialect {fork} says that you do",
        layer=layer.name,
        field="type",
        severity=severity,
    )
