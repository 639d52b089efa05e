"""A BatchNorm of the TEST phase has use_global_stats: false, so testing normalises with the batch at hand.

What happens
    Left out, use_global_stats follows the phase: false in TRAIN, true in TEST. Written as false it holds for TEST too. Each
    test batch is then normalised by its own mean and variance: the score of a picture depends on the pictures beside it and
    on batch_size, and with one vector a batch every output is 0. The layer also goes on updating its running statistics; in
    a test net that shares them with the train net, test pictures leak into what is saved.

How to fix
    Remove the field: one BatchNorm without it does the right thing in both phases.

When it is fine
    When statistics of the batch are wanted on purpose, for example to re-estimate them over a data set after training.

Source
    BatchNormLayer::LayerSetUp and Forward_cpu, src/caffe/layers/batch_norm_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Fix, Related, Severity
from caffe_guard.prototxt.edit import remove
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext
    from caffe_guard.schema.message import Value

CODE = "CG313"
NAME = "batch-stats-in-test"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_DATA = """\
layer { name: "d" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 5 dim: 5 } shape { dim: 4 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
"""
_SOLVER = """\
net: "net.prototxt"
test_iter: 1
test_interval: 2
base_lr: 0.01
lr_policy: "fixed"
max_iter: 10
solver_mode: CPU
"""
_END = """\
layer { name: "fc" type: "InnerProduct" bottom: "bn" top: "fc" inner_product_param { num_output: 4 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "y" top: "loss" }
"""
BAD = (
    Example(
        _DATA
        + """\
layer {
  name: "bn"
  type: "BatchNorm"
  bottom: "x"
  top: "bn"
  batch_norm_param {
    use_global_stats: false
    eps: 0.001
  }
}
"""
        + _END,
        expect=[9],
        fixed=_DATA
        + """\
layer {
  name: "bn"
  type: "BatchNorm"
  bottom: "x"
  top: "bn"
  batch_norm_param {
    eps: 0.001
  }
}
"""
        + _END,
        caffe="finite",
        files={"solver.prototxt": _SOLVER},
    ),
    Example(
        _DATA
        + """\
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" include { phase: TRAIN } batch_norm_param { use_global_stats: false } }
layer {
  name: "bn" type: "BatchNorm" bottom: "x" top: "bn" include { phase: TEST }
  batch_norm_param { use_global_stats: false }
}
"""
        + _END,
        expect=[6],
        caffe="finite",
        phase="TEST",
    ),
)
GOOD = (
    Example(
        _DATA
        + """\
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" include { phase: TRAIN } batch_norm_param { use_global_stats: false } }
layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" include { phase: TEST } batch_norm_param { use_global_stats: true } }
"""
        + _END,
        caffe="finite",
    ),
    Example(_DATA + 'layer { name: "bn" type: "BatchNorm" bottom: "x" top: "bn" }\n' + _END, caffe="finite"),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """BatchNorms of a TEST net that say false; told once a file, with what comes after the first as related places."""
    if not any(layer.param("batch_norm_param").has("use_global_stats") for layer in ctx.by_type("BatchNorm")):
        return
    found: dict[int, tuple[Layer, Value]] = {}
    for net in ctx.phases:
        if net.phase != "TEST":
            continue
        for layer in net.layers:
            if layer.type == "BatchNorm":
                value = layer.param("batch_norm_param").at("use_global_stats")
                if value is not None and value.value is False:
                    found.setdefault(value.start, (layer, value))
    if not found:
        return
    places = [found[start] for start in sorted(found)]
    layer, value = places[0]
    more = f", as {'do' if len(places) > 2 else 'does'} {len(places) - 1} more" if len(places) > 1 else ""
    text = ctx.source.text
    yield Finding(
        f"{layer.name} has use_global_stats false in the TEST phase{more}: testing normalises with the statistics of"
        " each batch, so scores depend on the batch and on its size, and the running statistics go on changing",
        value.name_start,
        value.end,
        help="remove the field: Caffe uses the batch in TRAIN and the running statistics in TEST by itself",
        fix=Fix(
            "leave use_global_stats to the phase",
            [remove(text, one.name_start, one.end) for _, one in places],
        ),
        related=[Related(f'"{other.name}" too', one.name_start, one.end) for other, one in places[1:4]],
        layer=layer.name,
        field="batch_norm_param.use_global_stats",
        others=[(one.name_start, one.end) for _, one in places[1:]],
    )
