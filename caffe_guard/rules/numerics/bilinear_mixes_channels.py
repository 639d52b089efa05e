"""A bilinear filler in a deconvolution that mixes channels.

What happens
    The bilinear filler puts the same interpolation filter into every slice of the weights. Only with one group a channel
    (group = num_output = channels) is that an upsampling. Otherwise each output is the sum of all input channels of its group,
    and all outputs of a group are equal: a softmax over them gives the same probability to every class.

Why it matters
    With lr_mult 0 it stays so, and the scores carry nothing. If the layer learns, it can recover, from a start where all
    channels are one.

How to fix
    Set group to the number of channels, and num_output too.

When it is fine
    With one channel in and out. As the start of a layer that learns to mix channels it is unusual, and an info.

Source
    BilinearFiller, include/caffe/filler.hpp, which describes the same setting; DeconvolutionLayer,
    src/caffe/layers/deconv_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.prototxt.edit import insert_after
from caffe_guard.rules.numerics._fillers import learns, settings
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext

CODE = "CG322"
NAME = "bilinear-mixes-channels"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_HEAD = """\
layer { name: "d" type: "DummyData" top: "s" top: "t" dummy_data_param { shape { dim: 1 dim: 3 dim: 4 dim: 4 } shape { dim: 1 dim: 1 dim: 8 dim: 8 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
"""
_UP = """\
layer {
  name: "up"
  type: "Deconvolution"
  bottom: "s"
  top: "up"
  param { lr_mult: %d }
  convolution_param {
    num_output: 3
    kernel_size: 4 stride: 2 pad: 1
    bias_term: false
    weight_filler { type: "bilinear" }
  }
}
"""
_TAIL = 'layer { name: "loss" type: "SoftmaxWithLoss" bottom: "up" bottom: "t" }\n'
BAD = (
    Example(
        _HEAD + _UP % 0 + _TAIL,
        expect=[12],
        fixed=_HEAD + (_UP % 0).replace("num_output: 3\n", "num_output: 3\n    group: 3\n") + _TAIL,
        caffe="finite",
    ),
    Example(
        _HEAD + _UP % 1 + _TAIL,
        expect=[(12, "info")],
        fixed=_HEAD + (_UP % 1).replace("num_output: 3\n", "num_output: 3\n    group: 3\n") + _TAIL,
        caffe="finite",
    ),
)
GOOD = (Example(_HEAD + (_UP % 0).replace("num_output: 3\n", "num_output: 3 group: 3\n") + _TAIL, caffe="finite"),)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Deconvolutions with a bilinear filler whose weights have more than one channel in and out a group."""
    if not any(
        settings(layer).get("weight_filler").get("type") == "bilinear" for layer in ctx.by_type("Deconvolution")
    ):
        return
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.type != "Deconvolution" or not net.blobs[index]:
                continue
            value = settings(layer).at("weight_filler")
            weights = net.blobs[index][0]
            if value is None or value.value.get("type") != "bilinear" or weights is None or len(weights) != 4:
                continue
            channels, outputs = weights[0], weights[1]  # all inputs, and the outputs of one group
            group = max(1, settings(layer).get("group"))
            if channels is None or outputs is None or (channels // group == 1 and outputs == 1):
                continue
            frozen = not learns(layer, 0)
            kept = "stays so, with lr_mult 0" if frozen else "is the start of training"
            yield Finding(
                f"{layer.name} fills {channels} × {outputs} channels in {group} {'group' if group == 1 else 'groups'} with one"
                f" bilinear filter: each output is the sum of {channels // group} channels"
                + (f", and all {outputs} of a group are equal" if outputs > 1 else "")
                + f"; that {kept}",
                value.name_start,
                value.end,
                help=f"to upsample each channel by itself set group: {channels} and num_output: {channels}",
                fix=_fix(ctx, layer, channels),
                layer=layer.name,
                field="convolution_param.group",
                severity=Severity.WARNING if frozen else Severity.INFO,
            )


def _fix(ctx: NetContext, layer: Layer, channels: int) -> Fix | None:
    """One group a channel, where the number of outputs allows it."""
    param = settings(layer)
    outputs = param.at("num_output")
    if outputs is None or outputs.value != channels or ctx.net.syntax == "V0":
        return None
    group = param.at("group")
    if group is not None:
        edit = Edit(group.start, group.end, str(channels))
    else:
        edit = insert_after(ctx.source.text, outputs.name_start, outputs.end, f"group: {channels}")
    return Fix("upsample each channel by itself", [edit])
