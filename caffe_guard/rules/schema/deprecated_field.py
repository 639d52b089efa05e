"""A field that still works, or is still accepted, and has given way to another.

What happens
    Caffe keeps old fields so that old files go on loading: loss_param.normalize, concat_dim, slice_dim, num/channels/height/width of DummyData. They do what they did. share_in_parallel of Python
    layers is read by nothing any more.

How to fix
    Nothing has to be done; the help names what to write in new files.

When it is fine
    In files that have to load in old versions and forks too.

Source
    The comments of caffe.proto; src/caffe/util/upgrade_proto.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.schema.dialects import deprecated_for
from caffe_guard.schema.message import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import FileContext
    from caffe_guard.schema.message import Value

CODE = "CG017"
NAME = "deprecated-field"
SEVERITY = Severity.INFO
SCOPE = "file"
SINCE = "0.1.0"
BAD = (
    Example(
        'layer {\n  name: "c"\n  type: "Concat"\n  bottom: "a"\n  bottom: "b"\n  top: "c"\n  concat_param { concat_dim: 1 }\n}\n',
        expect=[7],
    ),
)
GOOD = (Example('layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 } } }\n', caffe="finite"),)
# Told by rules of their own: the old formats, solver_type, what a new-format layer ignores.
_ELSEWHERE = {
    "NetParameter.layers",
    # Half of all deploy nets are written so, for the forks' sake.
    "NetParameter.input",
    "NetParameter.input_dim",
    "NetParameter.input_shape",
    "SolverParameter.solver_type",
    *(
        f"{message}.{name}"
        for message in ("DataParameter", "ImageDataParameter")
        for name in ("scale", "mean_file", "crop_size", "mirror")
    ),
}


def check(ctx: FileContext) -> Iterator[Finding]:
    """Each deprecated field of each message once."""
    if ctx.bound is None:
        return
    seen: dict[tuple[str, str], list[tuple[Value, str]]] = {}
    stack: list[tuple[Message, str]] = [(ctx.message, "")]
    while stack:
        message, path = stack.pop()
        name = message.type.name
        old = _deprecated_in(name)
        for field, values in message.fields.items():
            if field in old:
                seen.setdefault((name, field), []).append((values[0], f"{path}.{field}" if path else field))
            if isinstance(values[0].value, Message) and field != "layers":
                below = "" if field == "layer" else f"{path}.{field}" if path else field
                stack.extend((value.value, below) for value in values)
    for (name, field), places in seen.items():
        places.sort(key=lambda place: place[0].name_start)
        value, path = places[0]
        count = f" ({len(places)} times in this file)" if len(places) > 1 else ""
        yield Finding(
            f'"{field}" of {name} is an old field{count}',
            value.name_start,
            value.name_end,
            help=f"the newer way: {deprecated_for(name, field)}",
            field=path,
            others=[(other.name_start, other.name_end) for other, _ in places[1:]],
        )


_cache: dict[str, frozenset[str]] = {}


def _deprecated_in(message: str) -> frozenset[str]:
    """The names of a message's deprecated fields that this rule tells."""
    found = _cache.get(message)
    if found is None:
        from caffe_guard.schema.tables.bvlc import DEPRECATED

        prefix = f"{message}."
        found = frozenset(key[len(prefix) :] for key in DEPRECATED if key.startswith(prefix) and key not in _ELSEWHERE)
        _cache[message] = found
    return found
