"""random_seed is set, and something random in the net does not listen to it.

What happens
    HDF5Data shuffles by the C library's generator, which Caffe never seeds: the order is that of every other run, whatever the
    seed, until some other code of the process draws from it. Python layers draw from Python's or numpy's generators,
    which are seeded from the system.

How to fix
    Shuffle an HDF5 data set when you write it. In a Python layer make a generator of your own:
    `self.random = numpy.random.RandomState(seed)`.

When it is fine
    When the Python layer seeds itself or draws nothing, and one fixed shuffling is enough.

Source
    hdf5_data_layer.cpp (std::random_shuffle); Caffe::set_random_seed, src/caffe/common.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.rule import Example
from caffe_guard.rules.solver._example_net import FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import SolverContext

CODE = "CG603"
NAME = "seed-does-not-reach"
SEVERITY = Severity.INFO
SCOPE = "solver"
SINCE = "0.1.0"

_NET = """\
layer {
  name: "data" type: "HDF5Data" top: "x" top: "y"
  hdf5_data_param { source: "list.txt" batch_size: 4 shuffle: true }
}
layer {
  name: "ip" type: "InnerProduct" bottom: "x" top: "ip"
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } }
}
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "y" top: "loss" }
"""
BAD = (
    Example(
        """\
net: "net.prototxt"
base_lr: 0.001
lr_policy: "fixed"
solver_mode: CPU
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
        files=FILES,
    ),
)


def check(ctx: SolverContext) -> Iterator[Finding]:
    """A seed beside shuffled HDF5Data or Python data layers, told once."""
    seed = ctx.solver.message.at("random_seed")
    if seed is None or seed.value < 0:
        return
    parts: dict[str, Related] = {}
    for linked in ctx.nets:
        net = linked.net
        if net is None or linked.role != "train":
            continue
        for layer in net.by_type("HDF5Data"):
            if layer.param("hdf5_data_param").get("shuffle"):
                what = f'the shuffling of HDF5Data "{layer.name}"'
                parts.setdefault(what, Related(what, *layer.anchor, source=net.source))
        for layer in net.by_type("Python"):
            if not layer.bottoms:
                what = f'the Python layer "{layer.name}", should it draw anything'
                parts.setdefault(what, Related(what, *layer.anchor, source=net.source))
    if parts:
        yield Finding(
            f"random_seed does not reach {' and '.join(list(parts)[:2])}{' and more' if len(parts) > 2 else ''}",
            seed.name_start,
            seed.end,
            help="see `caffe-guard explain CG603` for what does",
            related=list(parts.values()),
            field="random_seed",
        )
