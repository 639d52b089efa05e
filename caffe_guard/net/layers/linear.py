"""InnerProduct and Embed (inner_product_layer.cpp, embed_layer.cpp)."""

from __future__ import annotations

from caffe_guard.net.layers.entry import LayerType, Setup, count, product

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent, Shape


def _inner_product(at: Setup) -> None:
    outputs: int = at.param.get("num_output")
    bias = at.param.get("bias_term")
    shape = at.bottoms[0]
    if outputs < 1:
        if shape is not None:
            at.set_tops((*shape[: at.axis("axis", len(shape))], None))
        # No check of its own: the weight blob is empty, and its filler dies on it (Check failed: data_).
        at.abort("bad-parameter", "num_output is missing or 0: the weights are empty, and Caffe aborts", "num_output")
    if shape is None:
        at.blobs = [None, (outputs,)] if bias else [None]
        at.set_tops(None)
        return
    axis = at.axis("axis", len(shape))
    inputs = count(shape[axis:])
    at.blobs = [(inputs, outputs) if at.param.get("transpose") else (outputs, inputs)]
    if bias:
        at.blobs.append((outputs,))
    at.set_tops((*shape[:axis], outputs))


def _inner_product_macs(bottoms: list[Shape], tops: list[Shape], blobs: list[Shape]) -> Extent:
    """The weights, once a row."""
    if tops[0] is None or blobs[0] is None:
        return None
    return product(count(blobs[0]), *tops[0][:-1])


def _embed(at: Setup) -> None:
    outputs: int = at.param.get("num_output")
    inputs: int = at.param.get("input_dim")
    for name, value in (("num_output", outputs), ("input_dim", inputs)):
        if value < 1:
            at.abort("bad-parameter", f"{name} must be positive: Caffe aborts", name)
    at.blobs = [(inputs, outputs)]
    if at.param.get("bias_term"):
        at.blobs.append((outputs,))
    shape = at.bottoms[0]
    at.set_tops(None if shape is None else (*shape, outputs))


TYPES = (
    LayerType("InnerProduct", _inner_product, param="inner_product_param", macs=_inner_product_macs),
    LayerType("Embed", _embed, param="embed_param", no_gradient=(0,)),
)
