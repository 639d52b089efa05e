"""A layer reads the top of a loss that has no explicit loss_weight, and so switches off its gradient.

What happens
    Caffe decides from the last layer to the first who needs backward. A layer that leads to no loss (an in-place Python
    layer, one without tops, a Silence) marks its bottoms as blobs that no gradient comes from. When such a layer is
    the only reader of a loss top, Caffe takes the loss itself for skipped: nothing before it learns. No message says
    so; the loss is displayed as before. With an explicit `loss_weight: 1` Caffe puts a Split behind the loss, and the
    gradient flows.

Why it matters
    A guard or a print layer that was meant to watch the training stops it.

How to fix
    Write `loss_weight: 1` in the loss layer and give the reading layer no top (or one with a name of its own): in
    place on a loss with an explicit weight Caffe aborts.

When it is fine
    In a net that is not meant to learn from that loss; then `loss_weight: 0` says so.

Source
    Net::Init, src/caffe/net.cpp (blobs_skip_backp); InsertSplits, src/caffe/util/insert_splits.cpp. Run on real Caffe.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Related, Severity
from caffe_guard.prototxt.edit import insert_after
from caffe_guard.rules.net._gradient import carries_gradient, has_weight
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.graph import Version
    from caffe_guard.net.model import Layer
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

CODE = "CG406"
NAME = "loss-top-read-without-weight"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"

_TRUNK = """\
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 dim: 2 } data_filler { type: "gaussian" } } }
layer { name: "ip" type: "InnerProduct" bottom: "x" top: "ip" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
"""
_WATCH = """\
import caffe


class Watch(caffe.Layer):
    def setup(self, bottom, top):
        pass

    def reshape(self, bottom, top):
        pass

    def forward(self, bottom, top):
        pass

    def backward(self, top, propagate_down, bottom):
        pass
"""
BAD = (
    Example(
        _TRUNK
        + """\
layer {
  name: "loss"
  type: "EuclideanLoss"
  bottom: "ip"
  bottom: "y"
  top: "loss"
}
layer {
  name: "watch"
  type: "Python"
  bottom: "loss"
  python_param { module: "watch" layer: "Watch" }
}
""",
        expect=[14],
        fixed=_TRUNK
        + """\
layer {
  name: "loss"
  type: "EuclideanLoss"
  bottom: "ip"
  bottom: "y"
  top: "loss"
  loss_weight: 1
}
layer {
  name: "watch"
  type: "Python"
  bottom: "loss"
  python_param { module: "watch" layer: "Watch" }
}
""",
        caffe="finite",
        files={"watch.py": _WATCH},
    ),
    Example(
        _TRUNK
        + """\
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "y" top: "loss" }
layer {
  name: "watch"
  type: "Python"
  bottom: "loss"
  top: "loss"
  python_param { module: "watch" layer: "Watch" }
}
""",
        expect=[8],
        caffe="finite",
        files={"watch.py": _WATCH},
    ),
    Example(
        _TRUNK
        + """\
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "y" top: "loss" }
layer { name: "quiet" type: "Silence" bottom: "loss" }
""",
        expect=[5],
        fixed=_TRUNK
        + """\
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "y" top: "loss" loss_weight: 1 }
layer { name: "quiet" type: "Silence" bottom: "loss" }
""",
        caffe="finite",
    ),
)
GOOD = (
    Example(
        _TRUNK
        + """\
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "y" top: "loss" loss_weight: 1 }
layer { name: "watch" type: "Python" bottom: "loss" python_param { module: "watch" layer: "Watch" } }
""",
        caffe="finite",
        files={"watch.py": _WATCH},
    ),
    Example(
        _TRUNK
        + """\
layer { name: "watch" type: "Python" bottom: "ip" python_param { module: "watch" layer: "Watch" } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "y" top: "loss" }
""",
        caffe="finite",
        files={"watch.py": _WATCH},
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Losses whose backward is off although layers below them learn, because of what reads their top."""
    for net in ctx.phases:
        if net.phase != "TRAIN":
            continue
        carries: list[bool] | None = None
        for index, layer in enumerate(net.layers):
            entry = net.types[index]
            if entry is None or not entry.is_loss or layer.message.has("loss_weight") or net.need_backward[index]:
                continue
            version = net.graph.writes[index][0] if net.graph.writes[index] else None
            if version is None or len(version.readers) != 1:
                continue
            carries = carries_gradient(net) if carries is None else carries
            if carries[index]:
                yield _finding(ctx, net, layer, version)


def _finding(ctx: NetContext, net: PhaseNet, loss: Layer, version: Version) -> Finding:
    reader, place = version.readers[0]
    bottom = reader.bottoms[place]
    in_place = any(top.value == version.name for top in reader.tops)
    left = any(has_weight(net, index) and net.need_backward[index] for index in range(len(net.layers)))
    effect = f'no layer learns from "{loss.name}"' if left else "no layer of the net learns anything"
    how = "works in place on" if in_place else "reads"
    last = (loss.tops or loss.bottoms)[-1]
    # Removing the in-place top needs a name that the user has to choose.
    fix = None
    if not in_place:
        edit = insert_after(ctx.source.text, last.name_start, last.end, "loss_weight: 1")
        fix = Fix(f'give "{loss.name}" an explicit loss_weight', [edit])
    rest = f', and "{reader.name}" a top of its own or none' if in_place else ""
    return Finding(
        f'"{reader.name}" {how} the top of the loss "{loss.name}", which has no explicit loss_weight: Caffe then'
        f" runs no backward from that loss, and {effect}",
        bottom.name_start,
        bottom.end,
        help=f'give "{loss.name}" loss_weight: 1{rest}',
        fix=fix,
        related=[Related(f'the loss "{loss.name}"', *loss.anchor)],
        layer=reader.name,
        field="bottom",
    )
