"""`make bench`: the measured promises of lint and of the guard. Only ratios count, of medians of runs that alternate.

lint of a solver and a GoogLeNet-size net, whole process
    no slower than a Python process that imports protobuf's text_format and parses both files
lint of a net 10 or 100 times as long
    10 or 100 times the time, at most 20 % more
a guard's check of a clean blob
    at most 1.15 times one dot product, at least 8 times as fast as np.sum(1 - np.isfinite(x))
"""

from __future__ import annotations

import argparse
import compileall
import os
import statistics
import subprocess
import sys
import tempfile
import time

from nets import SOLVER, net

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SHARED = os.environ.get("CAFFE_GUARD_SHARED", os.path.join(ROOT, "..", "shared"))
PUBLIC = os.path.join(SHARED, "corpus/dev")
PUBLIC_NETS = {
    "a public GoogLeNet": "soumith__convnet-benchmarks/caffe/imagenet_winners/googlenet.prototxt",
    "a public ResNet-152": "KaimingHe__deep-residual-networks/prototxt/ResNet-152-deploy.prototxt",
}
_LINT = "import sys; from caffe_guard.cli import main; sys.exit(main(['lint', 'solver.prototxt']))"
_PARSE = """\
from google.protobuf import text_format
import caffe_pb2
with open('solver.prototxt') as stream:
    text_format.Merge(stream.read(), caffe_pb2.SolverParameter())
with open('train_val.prototxt') as stream:
    text_format.Merge(stream.read(), caffe_pb2.NetParameter())
"""
_SCALING = """\
import contextlib, io, sys, time
from caffe_guard.cli import main
times = []
for path in sys.argv[1:]:
    start = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        main(["lint", "--no-config", path])
    times.append(time.perf_counter() - start)
print(*times)
"""


def _environment(folder: str) -> dict[str, str]:
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join([ROOT, folder]))
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return environment


def _process(script: str, folder: str) -> float:
    """Seconds of a whole Python process that runs a script in a folder."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=_environment(folder), capture_output=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode not in (0, 1) or b"Traceback" in done.stderr:
        sys.exit(done.stderr.decode())
    return seconds


def against_protobuf(folder: str, net_text: str, pairs: int) -> tuple[float, float, float]:
    """(median seconds of lint, median seconds of protobuf, median of the paired ratios)."""
    with open(os.path.join(folder, "solver.prototxt"), "w", encoding="utf-8") as stream:
        stream.write(SOLVER)
    with open(os.path.join(folder, "train_val.prototxt"), "w", encoding="utf-8") as stream:
        stream.write(net_text)
    for script in (_LINT, _PARSE):
        _process(script, folder)
    ours, theirs = [], []
    for index in range(pairs):
        # Who goes first alternates, so that neither profits from a machine that slows down or speeds up.
        for script in (_LINT, _PARSE) if index % 2 else (_PARSE, _LINT):
            (ours if script is _LINT else theirs).append(_process(script, folder))
    ratio = statistics.median(one / other for one, other in zip(ours, theirs))
    return statistics.median(ours), statistics.median(theirs), ratio


def scaling(folder: str, sizes: tuple[int, ...], rounds: int) -> list[float]:
    """Median seconds of lint for nets of each size; the sizes alternate, each round in one process of its own."""
    paths = []
    for size in sizes:
        paths.append(os.path.join(folder, f"net{size}.prototxt"))
        with open(paths[-1], "w", encoding="utf-8") as stream:
            stream.write(net(size))
    rows = []
    for _ in range(rounds):
        # The first of each process warms up: imports, compiled patterns.
        done = subprocess.run(
            [sys.executable, "-c", _SCALING, paths[0], *paths],
            cwd=folder,
            env=_environment(folder),
            capture_output=True,
            text=True,
            check=True,
        )
        rows.append([float(word) for word in done.stdout.split()][1:])
    return [statistics.median(column) for column in zip(*rows)]


def guard(rounds: int) -> tuple[float, float]:
    """A guard's check of a clean blob: (times one dot product, how many times as fast as counting with isfinite)."""
    import numpy as np

    sys.path.insert(0, ROOT)
    from tests.layers.stand_in import Blob, layer, load

    # What a first convolution gives for 64 pictures.
    blob = Blob(64, 96, 27, 27)
    blob.data[...] = np.random.RandomState(1).standard_normal(blob.shape)
    watch = layer(load("check_finite_layer").checkFiniteLayer, "bench", [blob], [blob])
    flat = blob.data.ravel()
    works = (
        lambda: np.dot(flat, flat),
        lambda: watch.forward([blob], [blob]),
        lambda: np.sum(1 - np.isfinite(blob.data)),
    )
    rows = []
    for _ in range(rounds):
        row = []
        for work in works:
            start = time.perf_counter()
            work()
            row.append(time.perf_counter() - start)
        rows.append(row)
    return statistics.median(one[1] / one[0] for one in rows), statistics.median(one[2] / one[1] for one in rows)


def _compile_schema(folder: str) -> None:
    from grpc_tools import protoc

    proto = os.path.join(ROOT, "proto")
    if protoc.main(["protoc", f"-I{proto}", f"--python_out={folder}", "caffe.proto"]) != 0:
        sys.exit("protobuf's compiler failed on proto/caffe.proto")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=21, help="paired runs of the comparison with protobuf")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of the scaling measurement")
    args = parser.parse_args()
    kept = True
    with tempfile.TemporaryDirectory() as folder:
        _compile_schema(folder)
        # An installed package has its compiled modules; so have both sides here.
        compileall.compile_dir(os.path.join(ROOT, "caffe_guard"), quiet=2)
        compileall.compile_dir(folder, quiet=2)
        texts = {"a net of GoogLeNet's size": net()}
        for name, path in PUBLIC_NETS.items():
            if os.path.isfile(os.path.join(PUBLIC, path)):
                with open(os.path.join(PUBLIC, path), encoding="utf-8") as stream:
                    texts[name] = stream.read()
        print("lint of a solver and its net / protobuf parses both, whole processes, medians of", args.pairs, "pairs")
        for name, text in texts.items():
            ours, theirs, ratio = against_protobuf(folder, text, args.pairs)
            kept = kept and ratio <= 1
            print(f"  {name}: {ours * 1000:.0f} ms / {theirs * 1000:.0f} ms, ratio {ratio:.2f} (promise: at most 1)")
        sizes = (1, 10, 100)
        seconds = scaling(folder, sizes, args.rounds)
        print("time of lint by the length of the net, medians of", args.rounds, "rounds")
        for size, each in zip(sizes, seconds):
            growth = each / seconds[0]
            # Each run has a fixed cost too: less than so many times the time breaks no promise.
            fits = growth / size <= 1.2
            kept = kept and fits
            print(f"  × {size}: {each * 1000:.0f} ms, {growth:.1f} times the time (promise: {size}, at most 20 % more)")
    dots, faster = guard(51)
    kept = kept and dots <= 1.15 and faster >= 8
    print("a guard's check of a clean blob, medians of 51 rounds")
    print(f"  {dots:.2f} times one dot product (promise: at most 1.15)")
    print(f"  {faster:.1f} times as fast as np.sum(1 - np.isfinite(x)) (promise: at least 8)")
    print("every promise was kept" if kept else "NOT every promise was kept")
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
