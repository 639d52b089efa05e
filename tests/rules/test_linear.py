"""Long nets and solvers: every rule takes time in proportion to the text, whatever the text is full of."""

from __future__ import annotations

import pytest

from caffe_guard.config import Settings
from caffe_guard.engine import lint
from tests.timing import cpu_seconds

_INPUT = 'layer { name: "x" type: "Input" top: "x" input_param { shape { dim: 1 dim: 2 } } }\n'
_SOLVER = 'net: "n" lr_policy: "multistep" base_lr: 1 gamma: 0.1 max_iter: 100 '


def _layers(text: str):
    """A text of as many copies of a template, i numbering them and j the next."""
    return lambda size: "".join(text.replace("@i", str(i)).replace("@j", str(i + 1)) for i in range(size))


def _after(head: str, text: str, tail: str = ""):
    copies = _layers(text)
    return lambda size: head + copies(size) + tail


TEXTS = {
    "suppressed layers": _layers('# caffe-guard: ignore[CG208] why\nlayer { name: "a" type: "Silence" bottom: "x" }\n'),
    "unknown fields": _layers('layer { name: "a@i" type: "ReLU" bottom: "x" top: "x" relu_parm { a: 1 } foo@i: 3 }\n'),
    "unknown types": _layers('layer { name: "a@i" type: "Foo@i" bottom: "x" top: "y@i" }\n'),
    "one name": _layers('layer { name: "a" type: "ReLU" bottom: "x" top: "x" }\n'),
    "one top": _after(_INPUT, 'layer { name: "a@i" type: "ReLU" bottom: "x" top: "y" }\n'),
    "in place": _after(_INPUT, 'layer { name: "a@i" type: "Sigmoid" bottom: "x" top: "x" }\n'),
    "readers of one blob": _after(_INPUT, 'layer { name: "a@i" type: "ReLU" bottom: "x" top: "y@i" }\n'),
    "bottoms": _after(_INPUT + 'layer { name: "c" type: "Concat" top: "c" ', 'bottom: "x" ', "}"),
    "tops": _after('layer { name: "x" type: "DummyData" dummy_data_param { shape { dim: 1 } } ', 'top: "x@i" ', "}"),
    "extents": _after('layer { name: "x" type: "Input" top: "x" input_param { shape { ', "dim: 1 ", "} } }"),
    "params": _after(
        _INPUT + 'layer { name: "c" type: "InnerProduct" bottom: "x" top: "c" inner_product_param { num_output: 2 } ',
        'param { name: "w" } ',
        "}",
    ),
    "one shared param": _after(
        _INPUT,
        'layer { name: "c@i" type: "InnerProduct" bottom: "x" top: "c@i" inner_product_param { num_output: 2 }'
        ' param { name: "w" } }\n',
    ),
    "include rules": _after('layer { name: "x" type: "Input" top: "x" ', 'include { phase: TRAIN stage: "a" } ', "}"),
    "inputs": _layers('input: "x@i" input_dim: 1 input_dim: 1 input_dim: 1 input_dim: 1 '),
    "V1 layers": _layers('layers { name: "a@i" type: RELU bottom: "x" top: "x" blobs_lr: 1 weight_decay: 1 }\n'),
    "V0 layers": _layers('layers { layer { name: "a@i" type: "relu" } bottom: "x" top: "x" }\n'),
    "V0 paddings": _layers(
        'layers { layer { name: "a@i" type: "padding" pad: 1 } bottom: "x" top: "p@i" }'
        ' layers { layer { name: "c@i" type: "conv" num_output: 1 kernelsize: 1 } bottom: "p@i" top: "x" }\n'
    ),
    "rising stepvalues": _after(_SOLVER, "stepvalue: @i "),
    "stepvalues at 0": _after(_SOLVER, "stepvalue: 0 "),
    "test nets": _after('train_net: "n" base_lr: 1 lr_policy: "fixed" ', 'test_net: "n@i" test_iter: 1 '),
    "one field again and again": _layers("base_lr: 1 "),
    "weights in a chain": _after(
        _INPUT.replace('top: "x"', 'top: "x0"'),
        'layer { name: "c@i" type: "InnerProduct" bottom: "x@i" top: "x@j" inner_product_param { num_output: 2 } }\n',
    ),
    "losses": _after(
        _INPUT.replace("{ dim: 1 dim: 2 }", "{ dim: 1 dim: 2 } shape { dim: 1 }").replace(
            'top: "x"', 'top: "x" top: "y"'
        ),
        'layer { name: "c@i" type: "SoftmaxWithLoss" bottom: "x" bottom: "y" top: "l@i" loss_weight: 0 }\n',
    ),
    "Python layers": _layers(
        'layer { name: "p@i" type: "Python" bottom: "x" top: "x" python_param { module: "m" layer: "L@i" } }\n'
    ),
    "BatchNorms": _after(
        _INPUT,
        'layer { name: "b@i" type: "BatchNorm" bottom: "x" top: "x" param { lr_mult: 1 } batch_norm_param { eps: 0 } }\n',
    ),
    "poolings": _after(
        _INPUT.replace("dim: 2 }", "dim: 2 dim: 30 dim: 30 }"),
        'layer { name: "c@i" type: "Pooling" bottom: "x" top: "y@i" pooling_param { kernel_size: 2 stride: 3 } }\n',
    ),
    "softmaxes in a chain": _after(
        _INPUT.replace('top: "x"', 'top: "x0"'), 'layer { name: "c@i" type: "Softmax" bottom: "x@i" top: "x@j" }\n'
    ),
}


def _seconds(text: str) -> float:
    results = []
    seconds = cpu_seconds(lambda: results.append(lint(["a.prototxt"], Settings(), {"a.prototxt": text})))
    assert [one.finding.message for one in results[-1].diagnostics if one.code == "CG000"] == []
    return seconds


@pytest.mark.parametrize("name", TEXTS)
def test_ten_times_the_text_takes_about_ten_times_the_time(name):
    # A square would be a hundred times.
    assert _seconds(TEXTS[name](1500)) < 30 * _seconds(TEXTS[name](150)) + 0.02
