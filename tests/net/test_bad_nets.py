"""Nets that cannot be: each is a finding, none a crash or a hang."""

from __future__ import annotations

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint

DATA = 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 2 dim: 3 dim: 8 dim: 8 } } }\n'
NETS = {
    "a cycle": (
        'layer { name: "a" type: "ReLU" bottom: "y" top: "x" }\nlayer { name: "b" type: "ReLU" bottom: "x" top: "y" }\n',
        ["CG202"],
    ),
    "a blob that reads itself": ('layer { name: "a" type: "ReLU" bottom: "x" top: "x" }\n', ["CG202"]),
    "an extent of 0": (
        DATA.replace("dim: 3", "dim: 0")
        + 'layer { name: "c" type: "Convolution" bottom: "d" top: "c" convolution_param { num_output: 2 kernel_size: 3 } }\n',
        ["CG223"],
    ),
    "a negative extent": (DATA.replace("dim: 3", "dim: -3"), ["CG223"]),
    "an extent of 2^31": (DATA.replace("dim: 3", "dim: 2147483648"), ["CG223"]),
    "extents whose product overflows": (DATA.replace("dim: 3", "dim: 65536 dim: 65536"), ["CG223"]),
    "a convolution without settings": (DATA + 'layer { name: "c" type: "Convolution" bottom: "d" top: "c" }\n', ["CG206"]),
    "a pooling without settings": (DATA + 'layer { name: "p" type: "Pooling" bottom: "d" top: "p" }\n', ["CG206"]),
    "a layer without a type": (DATA + 'layer { name: "a" bottom: "d" top: "a" }\n', ["CG201"]),
    "a shape changed in place behind an Input": (
        DATA + 'layer { name: "i" type: "InnerProduct" bottom: "d" top: "d" inner_product_param { num_output: 5 } }\n',
        ["CG206"],
    ),
    "a shape changed in place behind a layer that shapes anew": (
        DATA
        + 'layer { name: "r" type: "ReLU" bottom: "d" top: "r" }\n'
        + 'layer { name: "i" type: "InnerProduct" bottom: "r" top: "r" inner_product_param { num_output: 5 } }\n',
        [],
    ),
    "a layer without a name": (DATA + 'layer { type: "ReLU" bottom: "d" top: "a" }\n', []),
    "layers without anything": (DATA + "layer { }\nlayer { }\n", ["CG201"]),
    "a slice point beyond the axis": (
        DATA + 'layer { name: "s" type: "Slice" bottom: "d" top: "a" top: "b" slice_param { slice_point: 7 } }\n',
        ["CG205"],
    ),
    "a reshape that divides by 0": (
        DATA + 'layer { name: "r" type: "Reshape" bottom: "d" top: "r" reshape_param { shape { dim: 0 dim: 0 dim: 0 dim: 0 dim: 0 } } }\n',
        ["CG205"],
    ),
    "thirty-three axes": (DATA.replace("dim: 3", "dim: 1 " * 30), ["CG223"]),
    "a group of 0": (
        DATA + 'layer { name: "c" type: "Convolution" bottom: "d" top: "c" convolution_param { num_output: 2 kernel_size: 3 group: 0 } }\n',
        ["CG206"],
    ),
    "a stride of 0": (
        DATA + 'layer { name: "c" type: "Convolution" bottom: "d" top: "c" convolution_param { num_output: 2 kernel_size: 3 stride: 0 } }\n',
        ["CG206"],
    ),
}  # fmt: skip


def _errors(text: str) -> list:
    result = lint(["net.prototxt"], Settings(), {"net.prototxt": text})
    return [(one.code, one.finding.message) for one in result.diagnostics if one.severity == Severity.ERROR]


@pytest.mark.parametrize("name", NETS)
def test_it_is_told(name):
    text, codes = NETS[name]
    found = _errors(text)
    assert sorted({code for code, _ in found}) == codes, found


@pytest.mark.caffe
@pytest.mark.parametrize("name", NETS)
def test_real_caffe_agrees(judge, name):
    text, codes = NETS[name]
    verdict = judge.forward(text, phase="TEST")
    assert (verdict.result == "aborts") == bool(codes), verdict.message
