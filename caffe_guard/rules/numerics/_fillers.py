"""What the rules about fillers share: which layers have weights and biases that start somewhere."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.model import Layer
    from caffe_guard.schema.message import Message

# type -> its settings message; the weight is blob 0, the bias blob 1 (each layer's LayerSetUp)
FILLED = {
    "Convolution": "convolution_param",
    "Deconvolution": "convolution_param",
    "InnerProduct": "inner_product_param",
    "Embed": "embed_param",
}


def settings(layer: Layer) -> Message:
    """The message that holds a layer's fillers."""
    return layer.param(FILLED[layer.type])


def learns(layer: Layer, blob: int) -> bool:
    """Whether a blob of the layer is trained: its lr_mult is not 0."""
    specs = layer.message.values("param")
    return blob >= len(specs) or specs[blob].value.get("lr_mult") != 0


def is_zero(filler: Message) -> bool:
    """Whether a filler fills with 0: constant (the default type) with value 0 (the default)."""
    return bool(filler.get("type") == "constant" and filler.get("value") == 0)


def named(layers: list[Layer], most: int = 5) -> str:
    """The layers' names for a message."""
    names = ", ".join(layer.name for layer in layers[:most])
    return names if len(layers) <= most else f"{names} and {len(layers) - most} more"
