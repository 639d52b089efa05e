"""The judge itself: known answers of Caffe's, so that a silent judge can't pass for a content one."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest

from tests.caffe.judge import Judge

DATA = """
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 2 dim: 3 dim: 10 dim: 10 } } }
"""
POOL = """
layer { name: "pool" type: "Pooling" bottom: "data" top: "pool"
  pooling_param { pool: %s kernel_size: 2 stride: %d } }
"""
NET = """
layer { name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 } data_filler { type: "gaussian" } } }
layer { name: "fc" type: "InnerProduct" bottom: "data" top: "fc"
  inner_product_param { num_output: 2 weight_filler { type: "xavier" } } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
"""
SOLVER = """
net: "net.prototxt" base_lr: 0.1 lr_policy: "fixed" max_iter: 3 display: 1
snapshot_prefix: "x" random_seed: 1
"""


def run_files(solver: str) -> dict[str, Any]:
    return {"solver.prototxt": solver, "net.prototxt": NET}


def test_a_net_that_builds(judge: Judge) -> None:
    text = DATA + (
        'layer { name: "conv" type: "Convolution" bottom: "data" top: "conv" '
        "convolution_param { num_output: 4 kernel_size: 3 } }"
        'layer { name: "relu" type: "ReLU" bottom: "conv" top: "conv" }'
        'layer { name: "a" type: "Pooling" bottom: "conv" top: "a" pooling_param { kernel_size: 2 } }'
        'layer { name: "b" type: "Silence" bottom: "conv" }'
        'layer { name: "loss" type: "Reduction" bottom: "a" top: "loss" loss_weight: 2 }'
    )
    verdict = judge.net(text)
    assert verdict.result == "builds"
    assert [layer.name for layer in verdict.layers] == ["data", "conv", "relu", "a", "b", "loss"]
    conv = verdict.layer("conv")
    assert (conv.type, conv.bottoms, conv.tops) == ("Convolution", ["data"], ["conv"])
    assert (conv.top_shapes, conv.param_shapes) == ([[2, 4, 8, 8]], [[4, 3, 3, 3], [4]])
    assert verdict.layer("a").bottoms == ["conv"]  # not Caffe's own conv_relu_0_split_0
    assert {layer.name for layer in verdict.layers if layer.need_backward} == {"conv", "relu", "a", "loss"}
    assert verdict.layer("loss").loss_weights == [2.0]
    assert (verdict.inputs, verdict.outputs) == (["data"], ["loss"])


def test_phase_level_and_stages(judge: Judge) -> None:
    text = DATA + 'layer { name: "s" type: "Silence" bottom: "data" include { phase: TEST stage: "x" min_level: 2 } }'
    assert len(judge.net(text).layers) == 1
    assert len(judge.net(text, phase="TEST", level=2, stages=["x"]).layers) == 2


def test_a_net_that_aborts(judge: Judge) -> None:
    verdict = judge.net(DATA + POOL % ("MAX", 2) + 'layer { name: "r" type: "ReLU" bottom: "pol" top: "r" }')
    # The graph is checked before any layer is made.
    assert (verdict.result, verdict.signal, verdict.file) == ("aborts", "SIGABRT", "insert_splits.cpp")
    assert verdict.message is not None and "Unknown bottom blob 'pol'" in verdict.message
    assert verdict.creating_layer is None


def test_a_layer_that_aborts(judge: Judge) -> None:
    verdict = judge.net(
        DATA + POOL % ("MAX", 2) + 'layer { name: "n" type: "LRN" bottom: "pool" top: "n" lrn_param { local_size: 2 } }'
    )
    assert (verdict.result, verdict.signal, verdict.file) == ("aborts", "SIGABRT", "lrn_layer.cpp")
    assert verdict.creating_layer == "n"
    assert judge.net(DATA).result == "builds"  # and the judge lives on


def test_nan_from_average_pooling(judge: Judge) -> None:
    """An average window that starts past the padded input divides 0 by 0; a maximum one leaves -FLT_MAX."""
    verdict = judge.forward(DATA + POOL % ("AVE", 5))
    assert verdict.result == "nan"
    assert verdict.first_bad is not None and verdict.first_bad["layer"] == "pool"
    assert verdict.blobs["pool"]["nan"] == 2 * 3 * 5
    assert judge.forward(DATA + POOL % ("MAX", 5)).result == "garbage"
    assert judge.forward(DATA + POOL % ("AVE", 4)).result == "finite"


def test_inputs_and_values(judge: Judge) -> None:
    log = 'layer { name: "log" type: "Log" bottom: "data" top: "log" }'
    verdict = judge.forward(DATA + log, inputs={"data": 1}, values=["log"])
    assert verdict.result == "finite" and set(verdict.values["log"]) == {0.0}
    assert judge.forward(DATA + log, inputs={"data": -1}).blobs["log"]["nan"] == 600


def test_backward_counts_parameters(judge: Judge) -> None:
    verdict = judge.forward(NET, backward=True, iterations=2)
    assert verdict.result == "finite"
    assert verdict.param_diffs["fc"][0]["max"] > 0
    assert verdict.diffs["fc"]["std"] > 0


@pytest.mark.parametrize("mode", ["pycaffe", "binary"])
def test_a_run_that_is_well(judge: Judge, mode: str) -> None:
    verdict = judge.solve(files=run_files(SOLVER), steps=3, mode=mode, collect=["*.caffemodel"])
    assert (verdict.result, verdict.exit) == ("finite", 0)
    assert [iteration for iteration, _ in verdict.lrs] == [0, 1, 2]
    assert verdict.lrs[2][1] == pytest.approx(0.1)
    assert verdict.losses and all(math.isfinite(loss) for _, loss in verdict.losses)
    assert bool(verdict.collected) == (mode == "binary")  # the binary snapshots when it is done


@pytest.mark.parametrize("mode", ["pycaffe", "binary"])
def test_a_learning_rate_that_overflows(judge: Judge, mode: str) -> None:
    """exp with gamma 1e30: gamma ** iteration is infinite at iteration 2."""
    solver = SOLVER.replace('"fixed"', '"exp" gamma: 1e30')
    verdict = judge.solve(files=run_files(solver), steps=3, mode=mode)
    assert verdict.result == "nan"
    assert verdict.lrs[0][1] == pytest.approx(0.1)
    assert verdict.lrs[2][1] == math.inf
    assert verdict.first_bad is not None and verdict.first_bad["iteration"] in (1, 2)
    assert verdict.bad_weights and verdict.bad_weights[0]["layer"] == "fc"


@pytest.mark.parametrize("mode", ["pycaffe", "binary"])
def test_a_solver_that_aborts(judge: Judge, mode: str) -> None:
    verdict = judge.solve(files=run_files(SOLVER.replace('"fixed"', '"fixd"')), mode=mode)
    assert (verdict.result, verdict.signal) == ("aborts", "SIGABRT")
    assert (verdict.message, verdict.file) == ("Unknown learning rate policy: fixd", "sgd_solver.cpp")


def test_a_gpu_solver_runs_on_the_cpu_unless_told_otherwise(judge: Judge) -> None:
    files = run_files(SOLVER + "solver_mode: GPU")
    assert judge.solve(files=files, mode="binary").result == "finite"
    assert judge.solve(files=files, mode="binary", cpu=False).result == "aborts"


def test_same_seed_same_weights(judge: Judge) -> None:
    first, again = (judge.solve(files=run_files(SOLVER), steps=2) for _ in range(2))
    assert first.weights_sha256 == again.weights_sha256
    assert first.weights_sha256 != judge.solve(files=run_files(SOLVER), steps=3).weights_sha256


CRASH = """
import os, signal
import caffe
class Layer(caffe.Layer):
    def setup(self, bottom, top):
        print("here I am")
        {act}
    def reshape(self, bottom, top): pass
    def forward(self, bottom, top): pass
    def backward(self, top, propagate_down, bottom): pass
"""
PYTHON = DATA + 'layer { name: "py" type: "Python" bottom: "data" python_param { module: "mine" layer: "Layer" } }'


def test_a_crash_by_signal(judge: Judge) -> None:
    files = {"mine.py": CRASH.format(act="os.kill(os.getpid(), signal.SIGSEGV)")}
    verdict = judge.net(PYTHON, files=files)
    assert (verdict.result, verdict.signal, verdict.creating_layer) == ("aborts", "SIGSEGV", "py")
    assert verdict.stdout == "here I am\n"


def test_a_python_layer_that_raises(judge: Judge) -> None:
    verdict = judge.net(PYTHON, files={"mine.py": CRASH.format(act="raise ValueError('no good')")})
    assert (verdict.result, verdict.message, verdict.exit) == ("aborts", "ValueError: no good", 1)
    assert judge.net(PYTHON, files={"mine.py": CRASH.format(act="pass")}).result == "builds"


def test_the_time_limit(judge: Judge) -> None:
    verdict = judge.net(PYTHON, files={"mine.py": CRASH.format(act="import time; time.sleep(60)")}, timeout=1)
    assert verdict.result == "timeout"


@pytest.mark.parametrize("policy", ['"fixed"', '"step" gamma: 0.5 stepsize: 2', '"exp" gamma: 0.9'])
def test_rates_agree_with_training(judge: Judge, policy: str) -> None:
    solver = SOLVER.replace('"fixed"', policy)
    rates = judge.rates(solver, range(6))
    assert rates == dict(judge.solve(files=run_files(solver), steps=6).lrs)
    assert all(struct.unpack("f", struct.pack("f", rate))[0] == rate for rate in rates.values())


def test_rates_of_multistep(judge: Judge) -> None:
    solver = SOLVER.replace('"fixed"', '"multistep" gamma: 0.1 stepvalue: 2 stepvalue: 4')
    assert [round(rate, 6) for rate in judge.rates(solver, [0, 1, 2, 3, 4, 50]).values()] == [
        0.1, 0.1, 0.01, 0.01, 0.001, 0.001,
    ]  # fmt: skip


def test_parse(judge: Judge) -> None:
    verdict = judge.parse('name: "a"\nlayer { name: "b" typo: 1 }')
    assert verdict.result == "rejects"
    assert (verdict.problems[0]["line"], verdict.problems[0]["column"]) == (2, 23)
    assert 'no field named "typo"' in verdict.problems[0]["message"]
    verdict = judge.parse("base_lr: 1 # fine", kind="SolverParameter")
    assert (verdict.result, verdict.text, verdict.reader) == ("parses", "base_lr: 1\n", "caffe")


def test_parse_and_upgrade(judge: Judge) -> None:
    text = 'layers { name: "r" type: RELU bottom: "a" top: "a" blobs_lr: 2 } input: "a" input_dim: 1'
    verdict = judge.parse(text, upgrade=True)
    assert verdict.result == "parses"
    assert 'type: "ReLU"' in verdict.text and "lr_mult: 2" in verdict.text and "layers" not in verdict.text
    verdict = judge.parse("solver_type: ADAM net: 'n'", kind="SolverParameter", upgrade=True)
    assert 'type: "Adam"' in verdict.text


RECORDS = [{"key": str(i), "channels": 1, "height": 2, "width": 2, "label": i, "float_data": [i] * 4} for i in range(2)]


@pytest.mark.parametrize("backend", ["lmdb", "leveldb"])
def test_databases(judge: Judge, backend: str) -> None:
    text = (
        'layer { name: "d" type: "Data" top: "d" top: "label" '
        f'data_param {{ source: "records" batch_size: 2 backend: {backend.upper()} }} }}'
    )
    verdict = judge.forward(text, files={"records": {backend: RECORDS}}, values=["d", "label"])
    assert verdict.result == "finite"
    assert verdict.values == {"d": [0.0] * 4 + [1.0] * 4, "label": [0.0, 1.0]}


def test_hdf5_and_bytes_that_come_back(judge: Judge) -> None:
    text = 'layer { name: "d" type: "HDF5Data" top: "d" hdf5_data_param { source: "list.txt" batch_size: 1 } }'
    made = judge.make({"x.h5": {"hdf5": {"d": [[1.0], [float("nan")]]}}})
    files: dict[str, Any] = {"list.txt": "x.h5\n", "x.h5": made["x.h5"]}
    verdict = judge.forward(text, files=files, iterations=2)
    assert verdict.result == "nan"
    assert verdict.first_bad is not None and verdict.first_bad["iteration"] == 1


def test_trained_weights(judge: Judge) -> None:
    model = {"caffemodel": [{"name": "fc", "type": "InnerProduct", "blobs": [
        {"shape": [2, 3], "data": float("inf")}, {"shape": [2], "data": 0},
    ]}]}  # fmt: skip
    assert judge.forward(NET, files={"w.caffemodel": model}, weights="w.caffemodel").result == "nan"


def test_bytes_that_are_no_utf8(judge: Judge) -> None:
    assert judge.parse(b'name: "\xff"'.decode("utf-8", "surrogateescape")).result in ("parses", "rejects")
