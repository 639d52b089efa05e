"""A scale, mean_file, crop_size or mirror stands in data_param of a new-format layer, where Caffe ignores it.

What happens
    These fields moved from data_param and image_data_param to transform_param. In the old format (`layers`) Caffe moves
    them while it upgrades the file. In the new format (`layer`) they still parse, and nothing reads them: the data come
    unscaled, uncropped and with their mean.

Why it matters
    Pixels of 0 to 255 in place of 0 to 1 are a common way to a loss of nan or 87.3365.

How to fix
    Write them in `transform_param { … }` of the same layer.

Source
    UpgradeNetDataTransformation, src/caffe/util/upgrade_proto.cpp: it looks at V1 layers only. WindowData reads some of
    its own old fields still.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG021"
NAME = "ignored-transform-field"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer {
  name: "data"
  type: "Data"
  top: "data"
  data_param {
    source: "db"
    batch_size: 4
    scale: 0.00390625
  }
}
""",
        expect=[8],
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "data"
  type: "Data"
  top: "data"
  transform_param {
    scale: 0.00390625
  }
  data_param {
    source: "db"
    batch_size: 4
  }
}
"""
    ),
)
_FIELDS = ("scale", "mean_file", "crop_size", "mirror")
_PARAMS = {"Data": "data_param", "ImageData": "image_data_param"}


def check(ctx: NetContext) -> Iterator[Finding]:
    """The moved fields in the layers of a new-format net."""
    if ctx.net.syntax != "V2":
        return
    for layer in ctx.by_type("Data", "ImageData"):
        param = layer.param(_PARAMS[layer.type])
        for name in _FIELDS:
            value = param.at(name)
            if value is not None:
                yield Finding(
                    f'"{name}" in {_PARAMS[layer.type]} is ignored in a "layer": Caffe reads it from transform_param only',
                    value.name_start,
                    value.end,
                    help=f"move it to transform_param {{ {name}: … }}",
                    layer=layer.name,
                    field=f"{_PARAMS[layer.type]}.{name}",
                )
