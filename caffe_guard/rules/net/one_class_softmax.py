"""A softmax loss over a single class: the loss is 0 whatever the net does.

What happens
    Softmax over one number is always 1, so the loss is -log 1 = 0 and every gradient is 0. The net trains nothing and looks
    perfect. A label of 1 or more reads memory outside the blob.

How to fix
    For two classes write num_output: 2, with labels 0 and 1; or keep one score and use SigmoidCrossEntropyLoss. The class axis is
    axis 1 unless softmax_param says otherwise.

When it is fine
    Never as a loss.

Source
    SoftmaxWithLossLayer, src/caffe/layers/softmax_loss_layer.cpp. Run on real Caffe.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.net.layers.entry import words
from caffe_guard.rules.net._scores import producer_of
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG225"
NAME = "one-class-softmax"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 1 weight_filler { type: "xavier" } } }
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "fc"
  bottom: "y"
  top: "loss"
}
""",
        expect=[6],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" top: "y" dummy_data_param { shape { dim: 2 dim: 3 } shape { dim: 2 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "fc" inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """SoftmaxWithLoss whose class axis has the extent 1."""
    if not ctx.by_type("SoftmaxWithLoss"):
        return
    for net in ctx.phases:
        for index, layer in enumerate(net.layers):
            if layer.type != "SoftmaxWithLoss" or not net.bottom_shapes[index]:
                continue
            shape = net.bottom_shapes[index][0]
            axis = layer.param("softmax_param").get("axis")
            if shape is None or not -len(shape) <= axis < len(shape) or shape[axis] != 1:
                continue
            bottom = layer.bottoms[0]
            source = producer_of(net, index)
            yield Finding(
                f'"{bottom.value}", {words(shape)}, has one class along axis {axis}: softmax of it is always 1, the loss'
                " always 0, and nothing is learnt",
                bottom.name_start,
                bottom.end,
                help="use num_output: 2, or SigmoidCrossEntropyLoss for one score",
                related=[Related(f'"{source.name}" makes the scores', *source.anchor)] if source is not None else (),
                layer=layer.name,
                field="bottom",
            )
