"""The Python layer: its code decides everything, and lint never runs it."""

from __future__ import annotations

from caffe_guard.net.layers.entry import FINE, UNBOUNDED, LayerType, Setup


def _unknown(at: Setup) -> None:
    at.tops = [None] * len(at.layer.tops)


TYPES = (
    LayerType("Python", _unknown, bottoms=(0, UNBOUNDED), tops=(0, UNBOUNDED), param="python_param", in_place=FINE),
)
