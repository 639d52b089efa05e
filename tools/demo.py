"""`make demo`: a training that fails, what caffe-guard says of its files, and the same training mended.

Works in build/demo. Real Caffe is used where it is there (`make caffe`); without it the demo shows the rest.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "build", "demo")
sys.path.insert(0, ROOT)

SOLVER = """\
# A small classifier, trained for fifty iterations.
net: "train_val.prototxt"
base_lr: 0.002
lr_policy: "poly"
power: 0.9
momentum: 0.9
display: 10
snapshot_prefix: "small"
random_seed: 1
solver_mode: CPU
"""

NET = """\
name: "small"
layer {
  name: "data"
  type: "DummyData"
  top: "data"
  top: "label"
  dummy_data_param {
    shape { dim: 16 dim: 3 dim: 22 dim: 22 }
    shape { dim: 16 }
    data_filler { type: "gaussian" }
    data_filler { type: "constant" value: 1 }
  }
}
layer {
  name: "conv1"
  type: "Convolution"
  bottom: "data"
  top: "conv1"
  convolution_param {
    num_outputs: 8        # eight feature maps
    kernel_size: 3
    weight_filler { type: "xavier" }
  }
}
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer {
  name: "pool1"
  type: "Pooling"
  bottom: "conv1"
  top: "pool1"
  pooling_param { pool: "ave" kernel_size: 3 stride: 5 }
}
layer {
  name: "score"
  type: "InnerProduct"
  bottom: "pool1"
  top: "score"
  inner_product_param { num_output: 4 weight_filler { type: "xavier" } }
}
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "score" bottom: "label" top: "loss" }
"""
# The words alone put right: Caffe reads this, and trains it into nan.
READABLE = NET.replace("num_outputs", "num_output").replace('pool: "ave"', "pool: AVE")
SOLVER_MENDED = SOLVER.replace("power: 0.9\n", "power: 0.9\nmax_iter: 50\n")


def say(text: str) -> None:
    print(f"\n\033[1m# {text}\033[0m" if sys.stdout.isatty() else f"\n# {text}", flush=True)


def write(name: str, text: str) -> None:
    with open(os.path.join(FOLDER, name), "w", encoding="utf-8") as stream:
        stream.write(text)


def run(*arguments: str) -> int:
    """Run caffe-guard as a user would."""
    print(f"$ caffe-guard {' '.join(arguments)}", flush=True)
    colour = ["--color", "always"] if sys.stdout.isatty() and arguments[0] == "lint" else []
    environment = {**os.environ, "PYTHONPATH": ROOT}
    return subprocess.run(
        [sys.executable, "-m", "caffe_guard", *arguments, *colour],
        cwd=FOLDER,
        env=environment,
        stderr=subprocess.STDOUT,
        check=False,
    ).returncode


def train(net: str, what: str) -> None:
    """Train a net in real Caffe and show the losses it prints; say so where there is no Caffe."""
    from tests.caffe.judge import Judge

    judge = Judge.find()
    if judge is None:
        print("(real Caffe is not here: `make caffe` builds it, and this step then shows its own log)")
        return
    files = {"solver.prototxt": SOLVER_MENDED, "train_val.prototxt": net}
    verdict = judge.solve(files=files, path="solver.prototxt", mode="binary", timeout=120)
    judge.close()
    print(f"$ caffe train --solver=solver.prototxt     # {what}")
    for iteration, loss in verdict.losses[:6]:
        print(f"Iteration {iteration}, loss = {loss:g}")


def main() -> int:
    shutil.rmtree(FOLDER, ignore_errors=True)
    os.makedirs(FOLDER)
    write("solver.prototxt", SOLVER)
    write("train_val.prototxt", NET)
    say("A solver and a net, as somebody might have written them. One command judges both:")
    if run("lint", "solver.prototxt") != 1:
        print("the demo's faults were not found", file=sys.stderr)
        return 1
    say("What --fix would do: only what cannot change what was meant.")
    run("lint", "--diff", "--quiet", "solver.prototxt")
    say("Done, with the unsafe fixes too, which change what Caffe computes:")
    run("lint", "--fix", "--unsafe-fixes", "solver.prototxt")
    say("What is left needs a decision: how long to train. We write max_iter: 50 into the solver.")
    write("solver.prototxt", SOLVER_MENDED)
    code = run("lint", "solver.prototxt")
    if code != 0:
        print("the mended files should lint clean", file=sys.stderr)
        return 1
    print("(clean: nothing to say)")
    say("Was it worth it? Real Caffe trains the net with the spelling put right, and the pooling as it was:")
    train(READABLE, "stride 5, kernel 3")
    say("And the mended one:")
    with open(os.path.join(FOLDER, "train_val.prototxt"), encoding="utf-8") as stream:
        train(stream.read(), "as mended")
    say("Why? Every rule has a page:")
    run("explain", "CG301")
    say("And the learning rate over the run:")
    run("lr", "solver.prototxt")
    print("\nThe files are in build/demo. `make test` runs the tests.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
