"""The net is written in an old format (V0 or V1), which Caffe upgrades while it reads.

What happens
    Every Caffe since 2014 understands `layers { type: CONVOLUTION … }` by upgrading it in memory, with a warning in the
    log. Nothing is lost as long as the whole file keeps to the old format. Layer types and fields that came later
    (BatchNorm, Scale, python_param, …) have no old form.

How to fix
    Nothing has to be done. `upgrade_net_proto_text OLD NEW` of your Caffe writes the new format (comments are lost).

When it is fine
    In files that are not going to change.

Source
    UpgradeNetAsNeeded, src/caffe/util/upgrade_proto.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG020"
NAME = "old-format"
SEVERITY = Severity.INFO
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        'layers {\n  name: "d"\n  type: DUMMY_DATA\n  top: "x"\n  dummy_data_param { num: 1 channels: 1 height: 1 width: 1 }\n}\n',
        expect=[1],
        caffe="finite",
    ),
)
GOOD = (Example('layer {\n  name: "s"\n  type: "Silence"\n}\n'),)


def check(ctx: NetContext) -> Iterator[Finding]:
    """A net whose layers stand in `layers`, told once."""
    if ctx.net.syntax not in ("V0", "V1"):
        return
    first = ctx.message.at("layers")
    if first is None or ctx.message.has("layer"):
        return
    age = "of 2013" if ctx.net.syntax == "V0" else "of before 2015"
    yield Finding(
        f"the net is in the format {age} ({ctx.net.syntax}); Caffe upgrades it while reading",
        first.name_start,
        first.name_end,
        field="layers",
    )
