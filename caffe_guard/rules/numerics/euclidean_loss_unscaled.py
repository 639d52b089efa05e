"""An EuclideanLoss on raw targets is trained with a learning rate that suits a softmax.

What happens
    EuclideanLoss divides by twice the batch size only, so its gradient grows with the error itself. With a step of
    base_lr / (1 - momentum) around 0.1, as is usual for SoftmaxWithLoss, each update overshoots, and the loss reaches
    inf and nan within some ten iterations.

How to fix
    Divide the targets by their range (so that they lie in 0…1 or have unit variance), lower base_lr 10 to 100 times, or
    give the loss a small loss_weight. clip_gradients stops the explosion too.

When it is fine
    When the targets in the file are small already; caffe-guard does not read them.

Source
    EuclideanLossLayer::Forward_cpu, src/caffe/layers/euclidean_loss_layer.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext, SolverContext

CODE = "CG308"
NAME = "euclidean-loss-unscaled"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
_SOLVER = 'net: "net.prototxt"\nbase_lr: {rate}\nlr_policy: "fixed"\nmomentum: 0.9\nmax_iter: 100\n'
_NET = """\
layer {
  name: "data"
  type: "HDF5Data"
  top: "data"
  top: "target"
  hdf5_data_param { source: "list.txt" batch_size: 8 }
}
layer { name: "ip" type: "InnerProduct" bottom: "data" top: "ip" inner_product_param { num_output: 1 weight_filler { type: "xavier" } } }
layer {
  name: "loss"
  type: "EuclideanLoss"
  bottom: "ip"
  bottom: "target"
}
"""
BAD = (Example(_NET, expect=[11], files={"solver.prototxt": _SOLVER.format(rate=0.01)}),)
GOOD = (Example(_NET, files={"solver.prototxt": _SOLVER.format(rate=0.0001)}),)
# Below this step base_lr·loss_weight / (1 - momentum), targets of a usual size were seen to train.
_LARGEST_STEP = 0.05
_DATA = ("HDF5Data", "Data", "ImageData", "MemoryData")


def check(ctx: NetContext) -> Iterator[Finding]:
    """Euclidean losses whose target comes straight from a data layer, under a plain SGD solver with a large step."""
    losses = ctx.by_type("EuclideanLoss")
    if not losses:
        return
    for solver in ctx.solvers:
        step = _step(solver)
        if step is None:
            continue
        for layer in losses:
            weights = layer.message.get("loss_weight") or [1.0]
            if step * weights[0] < _LARGEST_STEP or _raw_target(ctx, layer) is None:
                continue
            target = _raw_target(ctx, layer)
            assert target is not None
            base_lr, momentum = solver.solver.base_lr, solver.solver.momentum
            start, end = layer.anchor
            kind = layer.message.at("type")
            if kind is not None:
                start, end = kind.name_start, kind.end
            yield Finding(
                f"{layer.name}: an EuclideanLoss on the raw targets of {target.name}, with base_lr {base_lr:g} and momentum"
                f" {momentum:g}, is known to run away to inf and nan",
                start,
                end,
                help="divide the targets by their range, lower base_lr 10 to 100 times, or give the loss a small loss_weight",
                layer=layer.name,
                field="type",
            )


def _step(solver: SolverContext) -> float | None:
    """The length of a long-run step, base_lr / (1 - momentum); None where it says nothing."""
    model = solver.solver
    if model.type_name not in ("SGD", "Nesterov") or not 0 <= model.momentum < 1:
        return None
    if (solver.message.get("clip_gradients") or -1) > 0:
        return None
    return model.base_lr / (1 - model.momentum)


def _raw_target(ctx: NetContext, layer: Layer) -> Layer | None:
    """The data layer that makes the target and nothing else touches; None when the score does not come from weights."""
    if len(layer.bottoms) < 2:
        return None
    makers: dict[str, list[Layer]] = {}
    for other in ctx.layers:
        for top in other.tops:
            makers.setdefault(top.value, []).append(other)
    sides = [makers.get(bottom.value, []) for bottom in layer.bottoms[:2]]
    data = [made[0] for made in sides if made and all(one.type in _DATA for one in made)]
    scores = [made for made in sides if made and made[-1].type in ("InnerProduct", "Convolution")]
    return data[0] if len(data) == 1 and len(scores) == 1 else None
