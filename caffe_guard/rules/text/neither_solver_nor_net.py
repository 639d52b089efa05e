"""The text has fields, but none that only a solver or a net has: nothing could be judged.

What happens
    caffe-guard tells a solver from a net by the fields at the top of the file. With none of them it cannot know what the
    file is for, and judges no more than its text. Caffe refuses such a file as a solver and as a net.

How to fix
    Look whether it is the right file, and whether `layer` and the like are spelt so.

When it is fine
    Files for other programs that also end in .prototxt; leave them out with `exclude` in the settings.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.files import OTHER
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext

CODE = "CG011"
NAME = "neither-solver-nor-net"
SEVERITY = Severity.WARNING
SCOPE = "file"
SINCE = "0.1.0"
BAD = (Example('layr { name: "data" type: "Input" top: "data" }\n', expect=[1], caffe="aborts"),)
GOOD = (
    Example('layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 } } }\n', caffe="finite"),
    Example('item { name: "background" label: 0 display_name: "none" }\n'),
)
_FIELDS = ("layer", "layers", "input", "net", "train_net", "base_lr", "lr_policy", "max_iter")


def check(ctx: FileContext) -> Iterator[Finding]:
    """A file whose kind stays unknown, unless its text is so broken that another rule says so."""
    fields = [field for field in ctx.tree.fields if field.name]
    if ctx.kind != OTHER or not fields:
        return
    import difflib

    first = fields[0]
    close = difflib.get_close_matches(first.name, _FIELDS, 1)
    yield Finding(
        f'"{first.name}" is a field of neither a solver nor a net, and so is every other field here: nothing was judged',
        first.name_start,
        first.name_end,
        help=f'did you mean "{close[0]}"?' if close else "look whether this is the right file",
    )
