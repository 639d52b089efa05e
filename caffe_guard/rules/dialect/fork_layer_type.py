"""A layer type that only a fork of Caffe registers.

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
    """Each such type once a file."""
    asked = ctx.file.asked_dialect
    bvlc = layer_types("bvlc")
    foreign: dict[str, list[Layer]] = {}
    for layer in ctx.layers:
        if layer.type not in bvlc:
            foreign.setdefault(layer.type, []).append(layer)
    if not foreign:
        return
    here = layer_types(ctx.dialect)
    known = layer_types_known(ctx.dialect)
    for layer_type, layers in foreign.items():
        owners = owners_of_layer_type(layer_type)
        if not owners or (asked == ctx.dialect and (layer_type in here or not known)):
            continue
        first = layers[0]
        value = first.message.at("type")
        start, end = (value.start, value.end) if value is not None else first.anchor
        count = f", {len(layers)} times in this file" if len(layers) > 1 else ""
        if layer_type in here or not known:
            severity = Severity.INFO
            message = f'"{layer_type}" is a layer of the Caffe of {listed(owners)}{count}; BVLC\'s Caffe aborts on it'
        else:
            severity = Severity.WARNING if asked == "auto" else Severity.ERROR
            message = f'the Caffe of {ctx.dialect} has no layer "{layer_type}"{count}; that of {listed(owners)} has'
        yield Finding(
            message,
            start,
            end,
            help=f"train with that build; --dialect {owners[0]} says that you do",
            layer=first.name,
            field="type",
            severity=severity,
        )
