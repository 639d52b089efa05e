"""Where the pack of pycaffe layers lies: beside the source, or where the wheel put it."""

from __future__ import annotations

import os
import sys

_INSTALLED = os.path.join("share", "caffe-guard", "layers")


def folder() -> str | None:
    """The folder for PYTHONPATH; None when the pack is not there."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    for place in (os.path.join(source, "layers"), os.path.join(sys.prefix, _INSTALLED)):
        if os.path.isfile(os.path.join(place, "check_finite_layer.py")):
            return place
    return None
