"""Train for real: by pycaffe's solver, or by the `caffe train` binary; and read a schedule's exact rates."""

from __future__ import annotations

import glob
import hashlib
import os
import re
import signal
import subprocess

import ask_net
import caffe
import glog
import numpy as np


def _write(path, text):
    with open(path, "wb") as stream:
        stream.write(text.encode("utf-8", "surrogateescape"))


def solve(request):
    """Answer to "solve": see judge.SolveVerdict. Files lie in the working directory, the solver at `path`."""
    path = request.get("path") or "solver.prototxt"
    if "text" in request:
        _write(path, request["text"])
    if request.get("mode") == "binary":
        return _binary(request, path)
    return _pycaffe(request, path)


def _params(net):
    for index, name in enumerate(net._layer_names):
        for position, blob in enumerate(net.layers[index].blobs):
            yield name, position, blob.data


def _bad_weights(params):
    bad, digest = [], hashlib.sha256()
    for name, position, data in params:
        digest.update(np.ascontiguousarray(data, dtype=np.float32).tobytes())
        if not np.isfinite(data).all():
            bad.append(dict(ask_net.count(data), layer=name, index=position))
    return bad, digest.hexdigest()


def _loss(net):
    names = list(net._blob_names)
    total = 0.0
    for index in range(len(names)):
        weight = float(net._blob_loss_weights[index])
        if weight:
            total += weight * float(net._blobs[index].data.sum(dtype=np.float64))
    return total


class _Steps:
    """Called by Caffe at each iteration: before it (`start`) and between backward and the update (`gradients`)."""

    def __init__(self, solver, read_rate):
        self.solver, self.read_rate = solver, read_rate
        self.lrs, self.losses, self.first = [], [], None

    def note(self, iteration, what, layer=None):
        if self.first is None:
            self.first = {"iteration": iteration, "what": what, "layer": layer}

    def start(self):
        self.look(self.solver.iter - 1)

    def look(self, iteration):
        """Weights after the update of `iteration`."""
        if self.first is None and iteration >= 0:
            for name, _, data in _params(self.solver.net):
                if not np.isfinite(data).all():
                    return self.note(iteration, "weight", name)
        return None

    def gradients(self):
        iteration, loss = self.solver.iter, _loss(self.solver.net)
        self.losses.append([iteration, loss])
        if not np.isfinite(loss):
            self.note(iteration, "loss")
        if self.read_rate:
            self.lrs.append([iteration, self.solver.lr])
            if not np.isfinite(self.lrs[-1][1]):
                self.note(iteration, "lr")


def _pycaffe(request, path):
    solver = caffe.get_solver(path)
    if request.get("weights"):
        solver.net.copy_from(request["weights"])
    if request.get("restore"):
        solver.restore(request["restore"])
    with open(path, "rb") as stream:
        # Reading the rate moves the multistep policy's own counter on, so there the log has to do.
        read_rate = b"multistep" not in stream.read()
    steps = _Steps(solver, read_rate)
    solver.add_callback(steps.start, steps.gradients)
    solver.step(int(request.get("steps") or 1))
    steps.look(solver.iter - 1)
    bad, digest = _bad_weights(_params(solver.net))
    if request.get("snapshot"):
        solver.snapshot()
    return {
        "mode": "pycaffe",
        "result": "nan" if steps.first or bad else "finite",
        "iterations": solver.iter,
        "lrs": steps.lrs,
        "step_losses": steps.losses,
        "first_bad": steps.first,
        "bad_weights": bad,
        "weights_sha256": digest,
    }


def _binary(request, path):
    if request.get("cpu", True):  # the judge's Caffe has no GPU, and `caffe train` dies where one is asked for
        with open(path, "rb") as stream:
            text = stream.read().decode("utf-8", "surrogateescape")
        _write(path, re.sub(r"\b(solver_mode\s*:\s*)(GPU|1)\b", r"\1CPU", text))
    command = ["caffe", "train", "--solver=" + path, *list(request.get("arguments") or [])]
    before = set(glob.glob("**/*.caffemodel*", recursive=True))
    limit = max(1.0, float(request.get("timeout") or 60) * 0.9 - 1)
    process, timed_out = subprocess.Popen(command), False
    try:
        code = process.wait(limit)
    except subprocess.TimeoutExpired:
        timed_out = True
        process.kill()
        process.wait()
        code = None
    models = sorted(set(glob.glob("**/*.caffemodel*", recursive=True)) - before, key=os.path.getmtime)
    result = {"mode": "binary", "result": "finite", "timed_out": timed_out, "command": command, "snapshots": models}
    result.update(exit=code, lrs=[], step_losses=[], first_bad=None, bad_weights=[], weights_sha256=None)
    if code is not None and code < 0:
        result.update(result="aborts", signal_of_binary=signal.Signals(-code).name, exit=None)
    elif code:
        result["result"] = "aborts"
    if models:
        result["bad_weights"], result["weights_sha256"] = _bad_weights(_snapshot(models[-1]))
    return result


def _snapshot(path):
    if path.endswith(".h5"):
        import h5py

        with h5py.File(path, "r") as stream:
            for name, group in stream["data"].items():
                for position in sorted(group, key=int):
                    yield name, int(position), group[position][...]
        return
    from caffe.proto import caffe_pb2

    net = caffe_pb2.NetParameter()
    with open(path, "rb") as stream:
        net.ParseFromString(stream.read())
    for layer in net.layer:
        for position, blob in enumerate(layer.blobs):
            yield layer.name, position, np.array(blob.double_data or blob.data, dtype=np.float32)


def from_log(log, result):
    """Rates, losses and outputs that Caffe displayed; a loss or rate that is not finite makes "finite" a "nan"."""
    seen = glog.training(log)
    found = dict(seen)
    found["lrs"] = result.get("lrs") or seen["logged_lrs"]
    for what in ("losses", "lrs"):
        bad = [iteration for iteration, value in found[what] if not np.isfinite(value)]
        first = result.get("first_bad")
        if bad and (first is None or bad[0] < first["iteration"]):
            found["first_bad"] = {"iteration": bad[0], "what": "loss" if what == "losses" else "lr", "layer": None}
            result["first_bad"] = found["first_bad"]
    if result.get("result") == "finite" and (result.get("first_bad") or result.get("bad_weights")):
        found["result"] = "nan"
    if result.get("signal_of_binary"):
        found["signal"] = result.pop("signal_of_binary")
    seen_net = glog.net(log)
    found["creating_layer"] = seen_net["creating_layer"] if result.get("result") == "aborts" else None
    return found


_RATE_NET = """
layer { name: "one" type: "DummyData" top: "one"
  dummy_data_param { shape { dim: 1 dim: 1 } data_filler { type: "constant" value: 1 } } }
layer { name: "w" type: "InnerProduct" bottom: "one" top: "w"
  inner_product_param { num_output: 1 bias_term: false } }
layer { name: "loss" type: "Reduction" bottom: "w" top: "loss" loss_weight: 1 }
"""


def rates(request):
    """Answer to "rates": {"rates": [[iteration, float32 rate]]}, exact to the bit.

    One weight that starts at 0 with a gradient of exactly 1 is -rate after one plain SGD update. That asks
    SGDSolver::GetLearningRate (src/caffe/solvers/sgd_solver.cpp) once an iteration, as training does, where pycaffe's
    own `lr` would move the multistep counter on.
    """
    from caffe.proto import caffe_pb2
    from google.protobuf import text_format

    given, solver = caffe_pb2.SolverParameter(), caffe_pb2.SolverParameter()
    text_format.Merge(request["text"], given)
    for name in ("base_lr", "lr_policy", "gamma", "power", "stepsize", "max_iter"):
        if given.HasField(name):
            setattr(solver, name, getattr(given, name))
    solver.stepvalue.extend(given.stepvalue)
    solver.net, solver.type, solver.snapshot_after_train = "rate.prototxt", "SGD", False
    _write("rate.prototxt", _RATE_NET)
    _write("rate_solver.prototxt", text_format.MessageToString(solver))
    running = caffe.get_solver("rate_solver.prototxt")
    found = []
    for iteration in sorted(set(request["iterations"])):
        if iteration > running.iter:
            running.step(iteration - running.iter)
        weight = running.net.params["w"][0].data
        weight[...] = 0
        running.step(1)
        found.append([iteration, -float(weight.flat[0])])
    return {"result": "finite" if all(np.isfinite(rate) for _, rate in found) else "nan", "rates": found}
