"""random_seed is set, but a run on a GPU cannot be repeated bit for bit.

What happens
    The seed fixes what Caffe draws: fillers, dropout, augmentation. On a GPU, cuDNN may pick another algorithm for a
    convolution each time, and its weight gradients, like those of Embed, are summed by atomic additions in the order
    in which threads come. The first iterations agree to some digits, then the runs part.

Why it matters
    Two runs with one seed and different losses are no proof of a fault; nor is one of them failing.

How to fix
    For a run that repeats exactly use solver_mode: CPU. On a GPU, `engine: CAFFE` in every Convolution and Deconvolution takes
    cuDNN out, at the cost of speed.

When it is fine
    When equal to a few digits is enough.

Source
    cudnn_conv_layer.cu and embed_layer.cu in src/caffe/layers; NVIDIA's cuDNN guide on reproducibility.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.model import Layer
    from caffe_guard.rules.context import NetContext, SolverContext

CODE = "CG602"
NAME = "gpu-not-deterministic"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"

_NET = """\
layer {
  name: "data" type: "DummyData" top: "x" top: "y"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 8 dim: 8 } shape { dim: 4 dim: 2 dim: 1 dim: 1 } data_filler { type: "gaussian" } }
}
layer {
  name: "c" type: "Convolution" bottom: "x" top: "c"
  convolution_param { num_output: 2 kernel_size: 8 weight_filler { type: "xavier" } }
}
layer { name: "loss" type: "EuclideanLoss" bottom: "c" bottom: "y" top: "loss" }
"""
BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
solver_mode: GPU
random_seed: 7
""",
        expect=[5],
        files={"net.prototxt": _NET},
    ),
)
GOOD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
solver_mode: CPU
random_seed: 7
""",
        caffe="finite",
        files={"net.prototxt": _NET},
    ),
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
solver_mode: GPU
random_seed: 7
""",
        files=FILES,
    ),
)

# Types whose gradient is summed by atomic additions in their own CUDA code; PSROIPooling is a fork's.
_ATOMIC = ("Embed", "PSROIPooling")
_CUDNN = ("Convolution", "Deconvolution")


def check(ctx: SolverContext) -> Iterator[Finding]:
    """A seed, the GPU, and layers in the train net that do not repeat there."""
    solver = ctx.solver
    seed = solver.message.at("random_seed")
    if seed is None or seed.value < 0 or not solver.has("solver_mode") or solver.message.get("solver_mode") != "GPU":
        return
    net: NetContext | None = next((linked.net for linked in ctx.nets if linked.role == "train" and linked.net), None)
    if net is None:
        return
    found = [layer for layer in net.layers if _varies(layer)]
    if not found:
        return
    names = ", ".join(f'"{layer.name}"' for layer in found[:3])
    more = f" and {len(found) - 3} more layers" if len(found) > 3 else ""
    yield Finding(
        f"random_seed alone does not make a GPU run repeatable: the gradients of {names}{more} are summed in an"
        " order that varies",
        seed.name_start,
        seed.end,
        help="compare runs to a few digits only, or use solver_mode: CPU for one that repeats exactly",
        related=[Related("the first of them", *found[0].anchor, source=net.source)],
        field="random_seed",
    )


def _varies(layer: Layer) -> bool:
    if layer.type in _ATOMIC:
        return True
    return layer.type in _CUDNN and layer.param("convolution_param").get("engine") != "CAFFE"
