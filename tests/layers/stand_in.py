"""Stand-ins for pycaffe's Layer and blobs, so that the pack can be tried by any Python."""

from __future__ import annotations

import importlib.util
import os
import sys
import types

import numpy as np

LAYERS = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "layers")


class Blob:
    """Data and diff of one shape."""

    def __init__(self, *shape):
        self.data = np.zeros(shape, np.float32)
        self.diff = np.zeros(shape, np.float32)

    @property
    def shape(self):
        return self.data.shape

    def reshape(self, *shape):
        self.data = np.zeros(shape, np.float32)
        self.diff = np.zeros(shape, np.float32)


def load(name: str):
    """A module of the pack, with a stand-in for pycaffe where there is none."""
    if "caffe" not in sys.modules:
        module = types.ModuleType("caffe")
        module.Layer = type("Layer", (), {})
        sys.modules["caffe"] = module
    spec = importlib.util.spec_from_file_location(name, os.path.join(LAYERS, f"{name}.py"))
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def layer(kind, param_str: str, bottom: list, top: list):
    """A layer that has been set up and reshaped."""
    made = kind()
    made.param_str = param_str
    made.phase = 0
    made.setup(bottom, top)
    made.reshape(bottom, top)
    return made
