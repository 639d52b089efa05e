"""What a net costs: figures that can be worked out by hand."""

from __future__ import annotations

import pytest

from caffe_guard.net.cost import layer_costs, total
from caffe_guard.net.phase import NetState
from caffe_guard.net.shapes import infer
from tests.net.swap_data import net_of

INPUT = 'layer { name: "d" type: "Input" top: "d" input_param { shape { %s } } }\n'


def _costs(dims: str, layer: str) -> list:
    text = INPUT % " ".join(f"dim: {extent}" for extent in dims.split()) + layer
    net = net_of(text)
    assert net is not None
    built = infer(net, NetState("TEST"), data=False)
    assert built.problems == []
    return layer_costs(built)


@pytest.mark.parametrize(
    ("dims", "layer", "params", "macs"),
    [
        (
            "2 3 8 8",
            'layer { name: "c" type: "Convolution" bottom: "d" top: "c" convolution_param { num_output: 4 kernel_size: 3 } }',
            4 * 3 * 9 + 4,
            2 * 6 * 6 * 4 * 3 * 9,
        ),
        (
            "2 4 8 8",
            'layer { name: "c" type: "Convolution" bottom: "d" top: "c" convolution_param { num_output: 4 kernel_size: 3'
            " group: 2 bias_term: false } }",
            4 * 2 * 9,
            2 * 6 * 6 * 4 * 2 * 9,
        ),
        (
            "1 2 5 6 7",
            'layer { name: "c" type: "Convolution" bottom: "d" top: "c" convolution_param { num_output: 3 kernel_size: 1 } }',
            3 * 2 + 3,
            5 * 6 * 7 * 3 * 2,
        ),
        (
            "2 3 4 4",
            'layer { name: "c" type: "Deconvolution" bottom: "d" top: "c" convolution_param { num_output: 5 kernel_size: 2'
            " stride: 2 } }",
            3 * 5 * 4 + 5,
            2 * 4 * 4 * 3 * 5 * 4,
        ),
        (
            "2 3 4",
            'layer { name: "c" type: "InnerProduct" bottom: "d" top: "c" inner_product_param { num_output: 7 } }',
            7 * 12 + 7,
            2 * 7 * 12,
        ),
        (
            "2 3 4",
            'layer { name: "c" type: "InnerProduct" bottom: "d" top: "c" inner_product_param { num_output: 7 axis: 2 } }',
            7 * 4 + 7,
            2 * 3 * 7 * 4,
        ),
        ("2 3 4", 'layer { name: "c" type: "ReLU" bottom: "d" top: "c" }', 0, 0),
        ("2 3 4 4", 'layer { name: "c" type: "BatchNorm" bottom: "d" top: "c" }', 3 + 3 + 1, 0),
    ],
)
def test_params_and_macs(dims, layer, params, macs):
    cost = _costs(dims, layer)[1]
    assert (cost.params, cost.macs) == (params, macs)


@pytest.mark.parametrize(("kind", "gates", "more"), [("LSTM", 4, 0), ("RNN", 1, 5 * 5)])
def test_recurrent_layers(kind, gates, more):
    head = (
        'layer { name: "i" type: "Input" top: "x" top: "m" input_param { shape { dim: 6 dim: 2 dim: 3 }'
        " shape { dim: 6 dim: 2 } } }\n"
    )
    text = (
        head
        + f'layer {{ name: "r" type: "{kind}" bottom: "x" bottom: "m" top: "r" recurrent_param {{ num_output: 5 }} }}'
    )
    built = infer(net_of(text), NetState("TEST"), data=False)
    cost = layer_costs(built)[1]
    weights = gates * 5 * 3 + gates * 5 * 5 + more
    assert cost.params == weights + gates * 5 + (5 if more else 0)
    assert cost.macs == 6 * 2 * weights


def test_a_shared_param_counts_once():
    layer = (
        'layer { name: "%s" type: "InnerProduct" bottom: "d" top: "%s" param { name: "w" } param { name: "b" }'
        " inner_product_param { num_output: 4 } }\n"
    )
    costs = _costs("2 3", layer % ("a", "a") + layer % ("b", "b"))
    assert [cost.params for cost in costs] == [0, 16, 0]


def test_what_is_unknown_stays_unknown():
    costs = _costs(
        "2 3", 'layer { name: "p" type: "Python" bottom: "d" top: "p" python_param { module: "m" layer: "L" } }'
    )
    assert costs[1].activation_bytes is None
    assert total([cost.activation_bytes for cost in costs]) is None
