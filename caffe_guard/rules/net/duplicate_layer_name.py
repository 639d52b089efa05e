"""Two layers of one net have the same name.

What happens
    Caffe trains such a net. Weights are found by name: when a snapshot or a .caffemodel is loaded, both records go to the first
    layer of the name, the later one wins, and the second layer keeps its filler. An HDF5 snapshot aborts.

Why it matters
    A run that is resumed or fine-tuned is not the run that was saved, and no message says so.

How to fix
    Give every layer of a phase a name of its own. Layers of TRAIN and TEST may share one: that is how the test net gets the
    weights.

When it is fine
    For layers without weights; logs are harder to read then, no more.

Source
    Net::CopyTrainedLayersFrom and Net::ToHDF5, src/caffe/net.cpp.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Related, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG214"
NAME = "duplicate-layer-name"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"
BAD = (
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 4 } }
layer {
  name: "fc"
  type: "InnerProduct"
  bottom: "a"
  top: "b"
  inner_product_param { num_output: 4 }
}
""",
        expect=[4],
        caffe="finite",
    ),
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "act" type: "ReLU" bottom: "x" top: "x" }
layer { name: "act" type: "TanH" bottom: "x" top: "x" }
""",
        expect=[(3, "info")],
        caffe="finite",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "d" type: "DummyData" top: "x" include { phase: TRAIN } dummy_data_param { shape { dim: 2 dim: 3 } } }
layer { name: "d" type: "DummyData" top: "x" include { phase: TEST } dummy_data_param { shape { dim: 1 dim: 3 } } }
layer { name: "fc" type: "InnerProduct" bottom: "x" top: "a" inner_product_param { num_output: 4 } }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Names given twice within a phase: told one by one where weights are lost, once a file where none are."""
    told = False
    seen: set[int] = set()
    for net in ctx.phases:
        first: dict[str, int] = {}
        for index, layer in enumerate(net.layers):
            name = layer.name
            earlier = first.setdefault(name, index)
            if earlier == index or not name or layer.start in seen:
                continue
            seen.add(layer.start)
            other = net.layers[earlier]
            related = [Related(f'the first "{name}"', *other.anchor)]
            if net.blobs[index] and net.blobs[earlier]:
                yield Finding(
                    f'two layers are named "{name}" and both have weights: loading a snapshot gives the first one the'
                    " weights of the second, which gets none",
                    *layer.anchor,
                    help="give each layer a name of its own",
                    related=related,
                    layer=name,
                    field="name",
                )
            elif not told:
                told = True
                yield Finding(
                    f'two layers are named "{name}"; Caffe allows it, logs and weight loading go by names',
                    *layer.anchor,
                    help="give each layer a name of its own",
                    related=related,
                    layer=name,
                    field="name",
                    severity=Severity.INFO,
                )
