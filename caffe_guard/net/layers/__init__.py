"""What each layer type is: one entry a type, in modules by group, loaded when a net has such a layer."""

from __future__ import annotations

import importlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import LayerType

# type -> the module of this package that has its entry; a test holds the two together.
GROUPS = {
    **dict.fromkeys(
        (
            "AbsVal",
            "BNLL",
            "Clip",
            "Dropout",
            "ELU",
            "Exp",
            "Log",
            "PReLU",
            "Power",
            "ReLU",
            "Sigmoid",
            "Swish",
            "TanH",
        ),
        "neuron",
    ),
    **dict.fromkeys(("Threshold", "ReLU6", "CReLU", "Silence", "Split"), "neuron"),
    **dict.fromkeys(("Convolution", "Deconvolution", "Im2col", "DepthwiseConvolution", "ConvolutionDepthwise"), "conv"),
    **dict.fromkeys(("Pooling", "SPP"), "pool"),
    **dict.fromkeys(("InnerProduct", "Embed"), "linear"),
    **dict.fromkeys(("BatchNorm", "LRN", "MVN", "Scale", "Bias", "BN", "Normalize"), "normalisation"),
    **dict.fromkeys(
        (
            "BatchReindex",
            "Concat",
            "Crop",
            "Eltwise",
            "Filter",
            "Flatten",
            "Parameter",
            "Reduction",
            "Reshape",
            "Slice",
        ),
        "structure",
    ),
    **dict.fromkeys(("Tile", "Permute", "ShuffleChannel", "Axpy", "Interp", "Upsample"), "structure"),
    **dict.fromkeys(
        (
            "ContrastiveLoss",
            "EuclideanLoss",
            "HingeLoss",
            "InfogainLoss",
            "MultinomialLogisticLoss",
            "SigmoidCrossEntropyLoss",
            "SoftmaxWithLoss",
            "SmoothL1Loss",
        ),
        "loss",
    ),
    **dict.fromkeys(("Accuracy", "ArgMax", "Softmax", "HDF5Output"), "evaluation"),
    **dict.fromkeys(("LSTM", "LSTMUnit", "RNN"), "recurrent"),
    **dict.fromkeys(
        ("AnnotatedData", "Data", "DummyData", "HDF5Data", "ImageData", "Input", "MemoryData", "WindowData"), "data"
    ),
    "Python": "python",
    **dict.fromkeys(("DetectionOutput", "MultiBoxLoss", "PriorBox", "PSROIPooling", "ROIPooling"), "detection"),
}
_known: dict[str, LayerType] = {}


def layer_type(name: str) -> LayerType | None:
    """The entry of a layer type; None when caffe-guard has none (its tops are then unknown)."""
    found = _known.get(name)
    if found is None:
        group = GROUPS.get(name)
        if group is None:
            return None
        module = importlib.import_module(f"caffe_guard.net.layers.{group}")
        for entry in module.TYPES:
            _known[entry.name] = entry
        found = _known[name]
    return found
