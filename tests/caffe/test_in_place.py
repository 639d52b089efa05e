"""In-place layers: what the rule says of each layer, and of each pair of layers, is what real Caffe computes.

A net is run once with tops of their own and once in place; where loss or gradients differ, the rule must speak.
"""

from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import pytest

from caffe_guard.config import Settings
from caffe_guard.engine import lint

pytestmark = pytest.mark.caffe

HEAD = """\
layer { name: "d" type: "DummyData" top: "x" top: "t"
  dummy_data_param { shape { dim: 2 dim: 3 dim: 5 dim: 5 } shape { dim: 2 dim: 3 } data_filler { type: "gaussian" } } }
layer { name: "a" type: "Convolution" bottom: "x" top: "a"
  convolution_param { num_output: 4 kernel_size: 3 pad: 1 weight_filler { type: "gaussian" std: 0.2 } bias_filler { value: 0.1 } } }
"""
TAIL = """\
layer { name: "ip" type: "InnerProduct" bottom: "%s" top: "ip" inner_product_param { num_output: 3 weight_filler { type: "gaussian" std: 0.3 } } }
layer { name: "loss" type: "EuclideanLoss" bottom: "ip" bottom: "t" top: "loss" }
"""
LAYERS = {
    "ReLU": ("ReLU", ""),
    "leaky ReLU": ("ReLU", "relu_param { negative_slope: 0.1 }"),
    "negative ReLU": ("ReLU", "relu_param { negative_slope: -0.5 }"),
    "PReLU": ("PReLU", ""),
    "ELU": ("ELU", ""),
    "Sigmoid": ("Sigmoid", ""),
    "TanH": ("TanH", ""),
    "Exp": ("Exp", "exp_param { scale: 0.3 }"),
    "Softmax": ("Softmax", ""),
    "Swish": ("Swish", ""),
    "BNLL": ("BNLL", ""),
    "Log": ("Log", "log_param { shift: 20 }"),
    "Power 1": ("Power", "power_param { scale: 3 }"),
    "Power 2": ("Power", "power_param { power: 2 scale: 0.5 shift: 0.1 }"),
    "Power 3": ("Power", "power_param { power: 3 }"),
    "Power 0": ("Power", "power_param { power: 0 }"),
    "Dropout": ("Dropout", ""),
    "Dropout 0": ("Dropout", "dropout_param { dropout_ratio: 0 }"),
    "BatchNorm": ("BatchNorm", ""),
    "Scale": ("Scale", 'scale_param { filler { type: "uniform" min: 0.5 max: 2 } }'),
    "Scale and bias": ("Scale", 'scale_param { filler { type: "gaussian" std: 1 } bias_term: true }'),
    "Bias": ("Bias", "bias_param { filler { value: 1 } }"),
    "LRN": ("LRN", "lrn_param { local_size: 3 alpha: 0.5 }"),
    "LRN within": ("LRN", "lrn_param { local_size: 3 norm_region: WITHIN_CHANNEL }"),
    "MVN": ("MVN", ""),
    "MVN of the mean": ("MVN", "mvn_param { normalize_variance: false }"),
    "Clip": ("Clip", "clip_param { min: -0.1 max: 0.1 }"),
    "Pooling": ("Pooling", "pooling_param { pool: AVE kernel_size: 3 stride: 1 pad: 1 }"),
    "Convolution": (
        "Convolution",
        'convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: "gaussian" std: 0.5 } }',
    ),
}
# What is right in place by itself, and so may follow another layer in place.
FOLLOWERS = (
    "ReLU", "leaky ReLU", "PReLU", "ELU", "Sigmoid", "TanH", "Exp", "Softmax", "Swish", "Dropout", "Dropout 0",
    "BatchNorm", "Scale", "Scale and bias", "Bias",
)  # fmt: skip
# Layers that are themselves right in place, as first of two in place on one blob.
FIRST_IN_PLACE = ("ReLU", "leaky ReLU", "PReLU", "ELU", "Sigmoid", "TanH", "Exp", "Softmax", "Swish", "Dropout", "BatchNorm", "Scale and bias", "Bias", "MVN of the mean")  # fmt: skip
Numbers = Optional[Tuple[float, Dict[Tuple[str, int], Tuple[float, ...]]]]


def layer(name: str, kind: str, bottom: str, top: str) -> str:
    type_name, param = LAYERS[kind]
    return f'layer {{ name: "{name}" type: "{type_name}" bottom: "{bottom}" top: "{top}" {param} }}\n'


def numbers(judge: Any, text: str) -> Numbers:
    """The loss, and what is known of each parameter's gradient."""
    verdict = judge.forward(text, backward=True)
    if verdict.result == "aborts" or verdict.blobs["loss"]["mean"] is None:
        return None
    return verdict.blobs["loss"]["mean"], {
        (name, index): tuple(blob[key] or 0.0 for key in ("mean", "std", "max"))
        for name, blobs in verdict.param_diffs.items()
        for index, blob in enumerate(blobs)
    }


def equal(one: Numbers, other: Numbers) -> bool:
    if one is None or other is None:
        return one is other

    def near(a: float, b: float, floor: float) -> bool:
        return abs(a - b) <= 2e-4 * max(floor, abs(a), abs(b))

    return near(one[0], other[0], 1.0) and all(
        near(a, b, 1e-2) for key in one[1] for a, b in zip(one[1][key], other[1][key])
    )


def speaks(tmp_path: Any, text: str) -> bool:
    (tmp_path / "net.prototxt").write_text(text)
    settings = Settings()
    settings.select = ("CG209", "CG000")
    return bool(lint([str(tmp_path / "net.prototxt")], settings).diagnostics)


@pytest.mark.parametrize("kind", LAYERS)
def test_layer_in_place(judge: Any, tmp_path: Any, kind: str) -> None:
    apart = HEAD + layer("w", kind, "a", "w") + TAIL % "w"
    in_place = HEAD + layer("w", kind, "a", "a") + TAIL % "a"
    assert not speaks(tmp_path, apart)
    assert speaks(tmp_path, in_place) == (not equal(numbers(judge, apart), numbers(judge, in_place)))


@pytest.mark.parametrize("kind", LAYERS)
def test_layer_in_place_behind_another(judge: Any, tmp_path: Any, kind: str) -> None:
    for follower in FOLLOWERS:
        apart = HEAD + layer("p", kind, "a", "p") + layer("w", follower, "p", "w") + TAIL % "w"
        in_place = HEAD + layer("p", kind, "a", "p") + layer("w", follower, "p", "p") + TAIL % "p"
        same = equal(numbers(judge, apart), numbers(judge, in_place))
        assert speaks(tmp_path, in_place) == (not same), follower


@pytest.mark.parametrize("kind", FIRST_IN_PLACE)
def test_two_layers_in_place(judge: Any, tmp_path: Any, kind: str) -> None:
    for follower in FOLLOWERS:
        apart = HEAD + layer("p", kind, "a", "p") + layer("w", follower, "p", "w") + TAIL % "w"
        in_place = HEAD + layer("p", kind, "a", "a") + layer("w", follower, "a", "a") + TAIL % "a"
        same = equal(numbers(judge, apart), numbers(judge, in_place))
        assert speaks(tmp_path, in_place) == (not same), follower


def test_reader_of_shared_memory(judge: Any, tmp_path: Any) -> None:
    """A ReLU in place behind a Reshape changes the blob before it, which another layer reads."""
    both = """\
layer { name: "s" type: "Reshape" bottom: "a" top: "s" reshape_param { shape { dim: 0 dim: -1 } } }
layer { name: "w" type: "ReLU" bottom: "s" top: "%s" }
layer { name: "sum" type: "Reduction" bottom: "a" top: "sum" reduction_param { operation: SUMSQ } loss_weight: 0.1 }
"""
    apart, in_place = HEAD + both % "w" + TAIL % "w", HEAD + both % "s" + TAIL % "s"
    assert not equal(numbers(judge, apart), numbers(judge, in_place))
    assert speaks(tmp_path, in_place)
    assert not speaks(tmp_path, apart)
