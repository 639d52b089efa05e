"""Real Caffe trains the same, bit for bit, with guards everywhere and without; and the guards are really called.

CAFFE_GUARD_GUARDED_NETS sets how many public nets are trained twice (6 unless it says otherwise; 0 for all of them).
"""

from __future__ import annotations

import os

import pytest

from caffe_guard.cli import main
from caffe_guard.net.cost import layer_costs, total
from caffe_guard.net.phase import NetState
from caffe_guard.net.shapes import infer
from tests.layers.stand_in import LAYERS
from tests.net.swap_data import net_of
from tests.net.test_against_caffe import CORPUS, KNOWN, _nets

pytestmark = pytest.mark.caffe
# One core does about this much in a second; larger nets are left to the long run.
_MOST_MACS = 10**9
NETS = int(os.environ.get("CAFFE_GUARD_GUARDED_NETS", "6"))
SOLVER = """\
net: "train_val.prototxt"
base_lr: 0.0001
lr_policy: "fixed"
momentum: 0.9
weight_decay: 0.0005
max_iter: 3
random_seed: 1
snapshot_prefix: "s"
"""
# What a guard does is written down by the guard itself, one line a call.
SPY = """

def _spied(method, word):
    def call(self, *blobs):
        method(self, *blobs)
        with open("calls.txt", "a") as stream:
            stream.write("%s %s\\n" % (word, self.options["prefix"]))
    return call


checkFiniteLayer.forward = _spied(checkFiniteLayer.forward, "forward")
checkFiniteLayer.backward = _spied(checkFiniteLayer.backward, "backward")
"""
TINY = """\
name: "tiny"
layer { name: "data" type: "DummyData" top: "data" top: "label"
  dummy_data_param { shape { dim: 4 dim: 3 dim: 12 dim: 12 } shape { dim: 4 } data_filler { type: "gaussian" } data_filler { value: 1 } } }
layer { name: "conv1" type: "Convolution" bottom: "data" top: "conv1"
  convolution_param { num_output: 4 kernel_size: 3 weight_filler { type: "xavier" } } }
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "conv2" type: "Convolution" bottom: "conv1" top: "conv2"
  convolution_param { num_output: 4 kernel_size: 1 weight_filler { type: "xavier" } } }
layer { name: "drop" type: "Dropout" bottom: "conv2" top: "conv2" }
layer { name: "sum" type: "Eltwise" bottom: "conv1" bottom: "conv2" top: "sum" }
layer { name: "pool" type: "Pooling" bottom: "sum" top: "pool" pooling_param { pool: MAX kernel_size: 2 stride: 2 } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc"
  inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }
layer { name: "acc" type: "Accuracy" bottom: "fc" bottom: "label" top: "acc" }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" LOSS }
layer { name: "prob" type: "Softmax" bottom: "fc" top: "prob" }
layer { name: "second" type: "EuclideanLoss" bottom: "fc" bottom: "prob" top: "second" loss_weight: 0.1 }
"""


def _pack(spy: str = "") -> str:
    with open(os.path.join(LAYERS, "check_finite_layer.py"), encoding="utf-8") as stream:
        return stream.read() + spy


def _injected(folder, text: str, *words: str) -> str:
    path = folder / "train_val.prototxt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main(["inject", str(path), *words]) == 0
    guarded = path.read_bytes().decode("utf-8", "surrogateescape")
    assert main(["inject", str(path), *words]) == 0
    assert path.read_bytes().decode("utf-8", "surrogateescape") == guarded, "a second time changes nothing"
    assert main(["eject", str(path)]) == 0
    assert path.read_bytes().decode("utf-8", "surrogateescape") == text, "eject gives back every byte"
    return guarded


def _train(judge, text: str, **files: str):
    verdict = judge.solve(
        files={"solver.prototxt": SOLVER, "train_val.prototxt": text, **files},
        path="solver.prototxt",
        steps=3,
        timeout=600,
        collect=("calls.txt",),
    )
    assert verdict.result == "finite", verdict.message
    return verdict


def _assert_same_training(judge, tmp_path, text: str, *words: str) -> dict:
    """Train with and without guards; the calls of each guard."""
    guarded = _injected(tmp_path, text, *words)
    plain = _train(judge, text)
    watched = _train(judge, guarded, **{"check_finite_layer.py": _pack(SPY)})
    assert watched.weights_sha256 == plain.weights_sha256
    assert watched.step_losses == plain.step_losses
    calls: dict = {}
    for line in watched.collected.get("calls.txt", b"").decode().splitlines():
        word, _, prefix = line.partition(" ")
        calls.setdefault(prefix, {"forward": 0, "backward": 0})[word] += 1
    return calls


@pytest.mark.parametrize("loss", ["", "loss_weight: 1", "loss_weight: 0.5"])
def test_guards_everywhere_leave_the_weights_as_they_are(judge, tmp_path, loss):
    calls = _assert_same_training(judge, tmp_path, TINY.replace("LOSS", loss), "--all")
    assert set(calls) == {
        "data",
        "conv1",
        "relu1",
        "conv2",
        "drop",
        "sum",
        "pool",
        "fc",
        "acc",
        "loss",
        "prob",
        "second",
    }
    # One pass more than steps: stepping looks at the net once before.
    assert all(one["forward"] >= 3 for one in calls.values())
    assert {name for name, one in calls.items() if one["backward"] >= 3} >= {"conv1", "relu1", "conv2", "fc", "pool"}
    assert calls["data"]["backward"] == 0


@pytest.mark.parametrize(
    "words",
    [
        ("--after", "conv1"),
        ("--after", "relu1"),
        ("--after", "data"),
        ("--after", "loss"),
        ("--after", "prob"),
        ("--after", "conv*", "--losses"),
        ("--inputs",),
        ("--after", "fc", "--every", "2"),
    ],
)
def test_a_guard_anywhere_leaves_the_weights_as_they_are(judge, tmp_path, words):
    assert _assert_same_training(judge, tmp_path, TINY.replace("LOSS", ""), *words)


@pytest.mark.skipif(not os.path.isdir(CORPUS), reason="the shared corpus is not here (CAFFE_GUARD_SHARED)")
def test_public_nets_train_the_same_with_guards_everywhere(judge, tmp_path, capsys):
    trained = skipped = guards = 0
    for path, text in sorted(_nets(), key=lambda pair: len(pair[1])):
        net = net_of(text)
        built = infer(net, NetState("TRAIN"), data=False)
        if net.syntax != "V2" or built.problems or not any(built.need_backward):
            continue
        if any(layer.type not in KNOWN or layer.type in ("Python", "HDF5Output") for layer in built.layers):
            continue
        work = total([cost.macs for cost in layer_costs(built)])
        if NETS and (work is None or work > _MOST_MACS):
            continue
        files = {"solver.prototxt": SOLVER, "train_val.prototxt": text}
        plain = judge.solve(files=files, path="solver.prototxt", steps=3, timeout=300)
        if plain.result != "finite":
            skipped += 1
            continue
        guarded = _injected(tmp_path, text, "--all")
        files = {**files, "train_val.prototxt": guarded, "check_finite_layer.py": _pack()}
        watched = judge.solve(files=files, path="solver.prototxt", steps=3, timeout=600)
        assert watched.result == "finite", f"{path}: {watched.message}"
        assert watched.weights_sha256 == plain.weights_sha256, path
        assert watched.step_losses == plain.step_losses, path
        trained += 1
        guards += guarded.count("# >>> caffe-guard inject")
        if NETS and trained >= NETS:
            break
    with capsys.disabled():
        print(f"\n{trained} public nets trained alike with {guards} guards, {skipped} that Caffe does not train here")
    assert trained
