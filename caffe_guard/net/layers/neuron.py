"""Layers that work item by item and keep the shape (neuron_layer.cpp and its siblings), Silence and Split."""

from __future__ import annotations

import math

from caffe_guard.net.layers.entry import ABORTS, FINE, UNBOUNDED, WRONG_GRADIENT, LayerType, Setup, same_as_bottom


def _exp(at: Setup) -> None:
    """exp_layer.cpp, LayerSetUp: base -1 means e."""
    base = at.param.get("base")
    if base != -1 and not base > 0:
        at.abort("bad-parameter", f"base {base:g} must be positive, or -1 for e: Caffe aborts", "base")
    if base != -1 and not math.isfinite(math.log(base)):
        at.abort("bad-parameter", f"the logarithm of base {base:g} is not finite: Caffe aborts", "base")
    same_as_bottom(at)


def _log(at: Setup) -> None:
    """log_layer.cpp, LayerSetUp: as Exp, and 1 / log(base) must be finite."""
    base = at.param.get("base")
    if base != -1 and not base > 0:
        at.abort("bad-parameter", f"base {base:g} must be positive, or -1 for e: Caffe aborts", "base")
    if base == 1 or (base != -1 and not math.isfinite(math.log(base))):
        at.abort("bad-parameter", f"a logarithm to base {base:g} is not finite: Caffe aborts", "base")
    same_as_bottom(at)


def _dropout(at: Setup) -> None:
    """dropout_layer.cpp, LayerSetUp: a debug check only, so any ratio gets through in release builds."""
    same_as_bottom(at)


def _prelu(at: Setup) -> None:
    """prelu_layer.cpp: one slope a channel, or one for all. The channels are read by the old four-axis accessor."""
    shape = at.bottoms[0]
    shared = at.param.get("channel_shared")
    if shape is not None and not 2 <= len(shape) <= 4:
        at.abort("axes", f"{at.bottom_name(0)} has {len(shape)} axes; PReLU takes 2 to 4: Caffe aborts")
    at.blobs = [() if shared else None if shape is None else (shape[1],)]
    same_as_bottom(at)


def _crelu(at: Setup) -> None:
    """concatenates ReLU(x) and ReLU(-x) along the channels (forks)."""
    shape = at.bottoms[0]
    if shape is None or len(shape) < 2 or shape[1] is None:
        at.set_tops(None)
        return
    at.set_tops((shape[0], 2 * shape[1], *shape[2:]))


def _nothing(at: Setup) -> None:
    at.tops = []


TYPES = (
    LayerType("AbsVal", same_as_bottom, in_place=ABORTS),
    LayerType("BNLL", same_as_bottom, in_place=WRONG_GRADIENT),
    LayerType("Clip", same_as_bottom, param="clip_param", in_place=WRONG_GRADIENT, hides_nan=True),
    LayerType("Dropout", _dropout, param="dropout_param", in_place=FINE),
    LayerType("ELU", same_as_bottom, param="elu_param", in_place=FINE),
    LayerType("Exp", _exp, param="exp_param", in_place=FINE),
    LayerType("Log", _log, param="log_param", in_place=WRONG_GRADIENT),
    LayerType("PReLU", _prelu, param="prelu_param", in_place=FINE),
    LayerType("Power", same_as_bottom, param="power_param", in_place=WRONG_GRADIENT),
    LayerType("ReLU", same_as_bottom, param="relu_param", in_place=FINE),
    LayerType("Sigmoid", same_as_bottom, param="sigmoid_param", in_place=FINE),
    LayerType("Swish", same_as_bottom, param="swish_param", in_place=FINE),
    LayerType("TanH", same_as_bottom, param="tanh_param", in_place=FINE),
    LayerType("Threshold", same_as_bottom, param="threshold_param", in_place=FINE, no_gradient=(0,), hides_nan=True),
    LayerType("Silence", _nothing, bottoms=(1, UNBOUNDED), tops=(0, 0)),
    LayerType("Split", same_as_bottom, tops=(1, UNBOUNDED), in_place=ABORTS),
    LayerType("ReLU6", same_as_bottom, in_place=FINE),
    LayerType("CReLU", _crelu),
)
