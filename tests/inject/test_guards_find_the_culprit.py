"""Faults planted in nets that real Caffe trains with guards everywhere: the first place that is named is the true one."""

from __future__ import annotations

import json

import pytest

from tests.inject.test_guards_change_nothing import SOLVER, _injected, _pack

pytestmark = pytest.mark.caffe
DATA = """\
layer { name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 10 dim: 10 } shape { dim: 4 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
"""
CONV = """\
layer { name: "%s" type: "Convolution" bottom: "%s" top: "%s" convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: "xavier" } } }
"""
END = """\
layer { name: "fc" type: "InnerProduct" bottom: "%s" top: "fc" inner_product_param { num_output: 3 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
"""
PLAIN = DATA + CONV % ("conv1", "data", "conv1") + 'layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }\n'
CHAIN = PLAIN + CONV % ("conv2", "conv1", "conv2")
BRANCHES = (
    PLAIN
    + CONV % ("left", "conv1", "left")
    + CONV % ("right", "conv1", "right")
    + 'layer { name: "join" type: "Eltwise" bottom: "left" bottom: "right" top: "conv2" }\n'
)
NORMED = (
    PLAIN + CONV % ("conv2", "conv1", "conv2") + 'layer { name: "bn" type: "BatchNorm" bottom: "conv2" top: "conv2" }\n'
)
NETS = {"a chain": CHAIN, "branches": BRANCHES, "batch norm": NORMED}


def _after(layer: str, blob: str) -> str:
    return layer.replace("@", blob)


# What is put between conv2 and the scores, the guard that must be named first, and its direction.
BETWEEN = {
    "an average pooling of nothing": (
        'layer { name: "pool" type: "Pooling" bottom: "@" top: "next" pooling_param { pool: AVE kernel_size: 3 stride: 5 } }\n',
        "pool", "forward",
    ),
    "a logarithm of 0": (
        'layer { name: "cut" type: "Threshold" bottom: "@" top: "cut" threshold_param { threshold: 1e9 } }\n'
        'layer { name: "log" type: "Log" bottom: "cut" top: "next" }\n',
        "log", "forward",
    ),
    "a root of a negative number": (
        'layer { name: "root" type: "Power" bottom: "@" top: "next" power_param { power: 0.5 shift: -1e6 } }\n',
        "root", "forward",
    ),
    "an exponential that overflows": (
        'layer { name: "exp" type: "Exp" bottom: "@" top: "next" exp_param { shift: 1000 } }\n',
        "exp", "forward",
    ),
    "a division by 0": (
        'layer { name: "inverse" type: "Power" bottom: "@" top: "next" power_param { power: -1 scale: 0 } }\n',
        "inverse", "forward",
    ),
    "a product that overflows": (
        'layer { name: "big" type: "Power" bottom: "@" top: "big" power_param { scale: 1e30 } }\n'
        'layer { name: "bigger" type: "Power" bottom: "big" top: "next" power_param { scale: 1e30 } }\n',
        "bigger", "forward",
    ),
    "a gradient of a root at 0": (
        'layer { name: "relu9" type: "ReLU" bottom: "@" top: "pos" }\n'
        'layer { name: "root" type: "Power" bottom: "pos" top: "next" power_param { power: 0.5 } }\n',
        "relu9", "backward",
    ),
    "a NaN hidden behind MAX pooling": (
        'layer { name: "root" type: "Power" bottom: "@" top: "bad" power_param { power: 0.5 shift: -1e6 } }\n'
        'layer { name: "pool" type: "Pooling" bottom: "bad" top: "next" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }\n',
        "root", "forward",
    ),
}  # fmt: skip


def _first(judge, tmp_path, net: str, solver: str = SOLVER):
    """(prefix, direction) of the first incident, and the verdict."""
    guarded = _injected(tmp_path, net, "--all")
    verdict = judge.solve(
        files={"solver.prototxt": solver, "train_val.prototxt": guarded, "check_finite_layer.py": _pack()},
        path="solver.prototxt",
        steps=6,
        timeout=120,
        collect=("caffe_guard_incidents.jsonl",),
    )
    lines = verdict.collected.get("caffe_guard_incidents.jsonl", b"").decode().splitlines()
    assert lines, f"no incident: {verdict.result} {verdict.message}"
    first = json.loads(lines[0])
    return (first["prefix"], first["direction"]), verdict


@pytest.mark.parametrize("fault", BETWEEN)
@pytest.mark.parametrize("base", NETS)
def test_a_layer_that_makes_it_is_named(judge, tmp_path, base, fault):
    layers, culprit, direction = BETWEEN[fault]
    found, verdict = _first(judge, tmp_path, NETS[base] + layers.replace("@", "conv2") + END % "next")
    assert found == (culprit, direction)
    # The run stopped there, with the guard's sentence.
    assert (
        verdict.result == "aborts" and f"checkFiniteLayer {culprit}: {direction}" in str(verdict.message) + verdict.log
    )


@pytest.mark.parametrize("value", ["nan", "inf", "-inf"])
@pytest.mark.parametrize("base", NETS)
def test_bad_data_are_named_where_they_come_in(judge, tmp_path, base, value):
    net = NETS[base].replace('data_filler { type: "gaussian" }', f'data_filler {{ type: "constant" value: {value} }}')
    assert _first(judge, tmp_path, net + END % "conv2")[0] == ("data", "forward")


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("base", NETS)
def test_bad_weights_are_named_where_they_are_used(judge, tmp_path, base, value):
    net = NETS[base].replace(
        'weight_filler { type: "xavier" }', f'weight_filler {{ type: "constant" value: {value} }}', 1
    )
    assert _first(judge, tmp_path, net + END % "conv2")[0] == ("conv1", "forward")


@pytest.mark.parametrize("rate", ["1e30", "1e38"])
@pytest.mark.parametrize("base", NETS)
def test_a_rate_that_explodes_shows_in_a_later_pass(judge, tmp_path, base, rate):
    solver = SOLVER.replace("base_lr: 0.0001", f"base_lr: {rate}")
    (prefix, direction), verdict = _first(judge, tmp_path, NETS[base] + END % "conv2", solver)
    record = json.loads(verdict.collected["caffe_guard_incidents.jsonl"].decode().splitlines()[0])
    # The first pass was fine: what came between is the update.
    assert record["pass"] > 1 and direction == "forward"
    frames = {line["prefix"]: line["frames"] for line in record["frames"]}
    assert frames[prefix][0]["rms"] is not None
