"""The loss ignores a label that the Accuracy of the same scores counts.

What happens
    Labels such as 255 often mark what has no class. The loss leaves them out with ignore_label; an Accuracy layer that is
    not told the same takes each of them for a class. One within the scores counts against the net. One beyond them is
    compared with whatever lies in memory there: the accuracy then means nothing (it can even be 1), or the process dies.

How to fix
    Give accuracy_param the same ignore_label as loss_param.

When it is fine
    Where the test data hold no such label.

Source
    AccuracyLayer::Forward_cpu, src/caffe/layers/accuracy_layer.cpp (the range of a label is checked in debug builds
    only); LossParameter.ignore_label.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Related, Severity
from caffe_guard.prototxt.edit import insert_after, insert_into
from caffe_guard.rules.net._scores import producer_of
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG230"
NAME = "ignore-label-differs"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_NET = """\
layer {{ name: "data" type: "Input" top: "s" top: "l" input_param {{ shape {{ dim: 4 dim: 3 }} shape {{ dim: 4 }} }} }}
layer {{ name: "loss" type: "SoftmaxWithLoss" bottom: "s" bottom: "l" top: "loss" loss_param {{ ignore_label: 255 }} }}
layer {{
  name: "acc"
  type: "Accuracy"
  bottom: "s"
  bottom: "l"
  top: "acc"
{param}}}
"""
BAD = (
    Example(
        _NET.format(param=""),
        expect=[4],
        fixed=_NET.format(param="  accuracy_param { ignore_label: 255 }\n"),
    ),
    Example(_NET.format(param="  accuracy_param { ignore_label: 0 }\n"), expect=[9]),
)
GOOD = (
    Example(_NET.format(param="  accuracy_param { ignore_label: 255 }\n")),
    Example(_NET.format(param="").replace("loss_param { ignore_label: 255 }", "")),
)
_LOSSES = ("SoftmaxWithLoss", "InfogainLoss")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Accuracy and loss of the same scores, in the nets of any phase."""
    if not ctx.by_type(*_LOSSES) or not ctx.by_type("Accuracy"):
        return
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.type == "Accuracy":
                yield from _judge(ctx, net, index, layer)


def _judge(ctx: NetContext, net: PhaseNet, index: int, layer: Layer) -> Iterator[Finding]:
    labels = producer_of(net, index, 1)
    param = layer.param("accuracy_param")
    for place, loss in enumerate(net.layers):
        settings = loss.param("loss_param") if loss.type in _LOSSES else None
        if settings is None or not settings.has("ignore_label") or producer_of(net, place, 1) is not labels:
            continue
        if producer_of(net, place) is not producer_of(net, index) or layer.bottoms[1].value != loss.bottoms[1].value:
            continue
        ignored: int = settings.get("ignore_label")
        own = param.at("ignore_label")
        if own is not None and own.value == ignored:
            return
        what = f"ignores {own.value}" if own is not None else "counts it"
        scores = net.bottom_shapes[index][0]
        axis: int = param.get("axis")
        classes = scores[axis] if scores is not None and -len(scores) <= axis < len(scores) else None
        inside = classes is not None and 0 <= ignored < classes
        effect = (
            "such labels count against the net"
            if inside
            else "such labels are compared with memory beyond the scores, and the accuracy means nothing"
        )
        where = (own.name_start, own.end) if own is not None else layer.anchor
        yield Finding(
            f'the loss "{loss.name}" ignores label {ignored}, and {layer.name} {what}: {effect}',
            *where,
            help=f"write accuracy_param {{ ignore_label: {ignored} }}",
            fix=_fix(ctx.source.text, layer, ignored) if own is None else None,
            related=[Related("the loss's ignore_label", *_place(loss))],
            layer=layer.name,
            field="accuracy_param.ignore_label",
        )
        return


def _place(loss: Layer) -> tuple[int, int]:
    value = loss.param("loss_param").at("ignore_label")
    return (value.name_start, value.end) if value is not None else loss.anchor


def _fix(text: str, layer: Layer, ignored: int) -> Fix | None:
    new = f"ignore_label: {ignored}"
    given = layer.message.at("accuracy_param")
    if given is not None:
        return Fix(f"add {new}", [insert_into(text, given.start, given.end, new)])
    if not layer.tops or not text.startswith("top", layer.tops[-1].name_start):
        return None
    last = layer.tops[-1]
    return Fix(f"add {new}", [insert_after(text, last.name_start, last.end, f"accuracy_param {{ {new} }}")])
