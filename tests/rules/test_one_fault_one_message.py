"""A single slip in a good net gives a single error: what hangs on it is not told too."""

from __future__ import annotations

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint

NET = """\
name: "net"
layer {
  name: "data"
  type: "Input"
  top: "data"
  top: "label"
  input_param { shape { dim: 2 dim: 3 dim: 16 dim: 16 } shape { dim: 2 } }
}
layer {
  name: "conv"
  type: "Convolution"
  bottom: "data"
  top: "conv"
  param { lr_mult: 1 }
  convolution_param {
    num_output: 6
    kernel_size: 3
    weight_filler { type: "xavier" }
  }
}
layer {
  name: "pool"
  type: "Pooling"
  bottom: "conv"
  top: "pool"
  pooling_param { pool: MAX kernel_size: 2 stride: 2 }
}
layer {
  name: "reshape"
  type: "Reshape"
  bottom: "pool"
  top: "rows"
  reshape_param { shape { dim: 0 dim: 6 dim: -1 } }
}
layer {
  name: "soft"
  type: "Softmax"
  bottom: "rows"
  top: "soft"
  softmax_param { axis: 2 }
}
layer {
  name: "score"
  type: "InnerProduct"
  bottom: "soft"
  top: "score"
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } }
}
layer {
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "score"
  bottom: "label"
  top: "loss"
}
"""
SLIPS = [
    ("num_output: 6", "num_outputs: 6", "CG010"),
    ("num_output: 6", 'num_output: "6"', "CG012"),
    ("num_output: 6", "num_output: six", "CG012"),
    ("num_output: 6", "num_output: -6", "CG014"),
    ("num_output: 6", "num_output: 6 num_output: 6", "CG015"),
    ("num_output: 6", "num_output 6", "CG001"),
    ("num_output: 6", "num_output:", "CG001"),
    ("num_output: 6", "num_output: 6x", "CG001"),
    ("num_output: 6", "num_output: 0", "CG206"),
    ("num_output: 4", "num_output: 0", "CG206"),
    ("pool: MAX", 'pool: "MAX"', "CG013"),
    ("pool: MAX", "pool: max", "CG013"),
    ("pool: MAX", "pool: LARGEST", "CG013"),
    ("dim: 6", "dim: rows", "CG012"),
    ("dim: 0 dim: 6 dim: -1", "dim: 0 dim: 5 dim: -1", "CG205"),
    ("axis: 2", "axis: 3", "CG205"),
    ("axis: 2", "axes: 2", "CG010"),
    ('"Convolution"', "Convolution", "CG018"),
    ('"Convolution"', '"Convolutoin"', "CG201"),
    ('"Convolution"', '"CONVOLUTION"', "CG201"),
    ('bottom: "data"', "bottom: data", "CG012"),
    ('bottom: "data"', 'bottom: "dta"', "CG202"),
    ('bottom: "pool"', 'bottom: "pool1"', "CG202"),
    ('bottom: "label"\n', "", "CG204"),
    ("lr_mult: 1", "lr_mult: one", "CG012"),
    ("lr_mult: 1", "lrmult: 1", "CG010"),
    ('type: "xavier"', 'type: "xaver"', "CG321"),
    ('weight_filler { type: "xavier" }\n  }', 'weight_filler { type: "xavier" }\n', "CG004"),
    ("stride: 2 }", "stride: 2 }}", "CG004"),
    ("layer {\n  name: \"pool\"", "layer \n  name: \"pool\"", "CG001"),
    ("kernel_size: 3", "kernel_size: 30", "CG220"),
    ("dim: 2 } }", "dim: 3 } }", "CG221"),
    ('name: "net"\n', '<<<<<<< HEAD\nname: "net"\n=======\nname: "other"\n>>>>>>> theirs\n', "CG002"),
    ('name: "net"\n', '\ufeffname: "net"\n', "CG003"),
]  # fmt: skip


def _errors(text: str) -> list:
    result = lint(["net.prototxt"], Settings(), {"net.prototxt": text})
    return [(one.code, one.finding.message) for one in result.diagnostics if one.severity == Severity.ERROR]


def test_the_net_itself_has_no_error():
    assert _errors(NET) == []


@pytest.mark.parametrize(("right", "wrong", "code"), SLIPS, ids=[f"{code}-{wrong!r}" for _, wrong, code in SLIPS])
def test_a_slip_is_told_once(right, wrong, code):
    assert right in NET
    found = _errors(NET.replace(right, wrong, 1))
    assert [one for one, _ in found] == [code], found
