"""The net as caffe-guard builds it, held against the net that real Caffe builds from the same text."""

from __future__ import annotations

import os
import re

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import Job, lint
from caffe_guard.net.cost import layer_costs, total
from caffe_guard.net.phase import NetState
from caffe_guard.net.shapes import infer
from caffe_guard.schema.dialects import layer_types
from tests.net.swap_data import net_of, swap_data

pytestmark = pytest.mark.caffe

SHARED = os.path.abspath(
    os.environ.get("CAFFE_GUARD_SHARED", os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared"))
)
KNOWN = layer_types("bvlc")
CORPUS = os.path.join(SHARED, "corpus", "dev")


def _nets() -> list[tuple[str, str]]:
    """(path, text with DummyData) of every public net that BVLC's schema takes."""
    found = []
    with open(os.path.join(CORPUS, "INDEX.tsv"), encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream][1:]
    for row in rows:
        if not row[3].startswith("net"):
            continue
        with open(os.path.join(CORPUS, row[0]), "rb") as stream:
            text = stream.read().decode("utf-8", "surrogateescape")
        swapped = swap_data(text)
        if swapped is not None and net_of(swapped) is not None:
            found.append((row[0], swapped))
    return found


def _logged_steps(log: str) -> list:
    """(layer, bottoms, tops) of every layer, Splits included, with the blob names that Caffe logs while it builds."""
    steps: list = []
    for line in log.splitlines():
        match = re.search(r"net\.cpp:\d+\] Creating Layer (.*)$", line)
        if match:
            steps.append((match[1], [], []))
            continue
        match = re.search(r"net\.cpp:\d+\] (.*) (<-|->) (.*?)( \(in-place\))?$", line)
        if match and steps and match[1] == steps[-1][0] and match[3] != "(automatic)":
            steps[-1][1 if match[2] == "<-" else 2].append(match[3])
    return steps


@pytest.mark.skipif(not os.path.isdir(CORPUS), reason="the shared corpus is not here (CAFFE_GUARD_SHARED)")
def test_public_nets_have_the_shapes_and_gradients_that_caffe_gives_them(judge, capsys):
    nets = blobs = layers = aborts = splits = 0
    disagreements: list[str] = []
    for path, text in _nets():
        for phase in ("TRAIN", "TEST"):
            built = infer(net_of(text), NetState(phase), data=False)
            # Code that a net names, and layers of forks, are not there to be asked.
            if not built.layers or any(layer.type not in KNOWN or layer.type == "Python" for layer in built.layers):
                continue
            verdict = judge.net(text, phase=phase, timeout=120, log=True)
            where = f"{path} {phase}"
            if (verdict.result == "aborts") != bool(built.problems):
                disagreements.append(
                    f"{where}: Caffe {verdict.result} ({verdict.message}), we say {built.problems[:1]}"
                )
                continue
            if verdict.result == "aborts":
                aborts += 1
                continue
            nets += 1
            forced = bool(built.net.message.get("force_backward"))
            for index, (real, ours) in enumerate(zip(verdict.layers, built.layers)):
                layers += 1
                expected = [tuple(shape) for shape in (*real.top_shapes[: len(ours.tops)], *real.param_shapes)]
                got = [*built.top_shapes[index], *built.blobs[index]]
                blobs += len(expected)
                if expected != got:
                    disagreements.append(f"{where} {ours.name}: Caffe {expected}, we {got}")
                # Caffe logs its decision before force_backward overrides it.
                if not forced and real.need_backward is not None and real.need_backward != built.need_backward[index]:
                    disagreements.append(f"{where} {ours.name}: need_backward {real.need_backward} in Caffe")
            steps = [(step.name, step.bottoms, step.tops) for step in built.graph.steps]
            splits += sum(step.layer is None for step in built.graph.steps)
            if _logged_steps(verdict.log) != steps:
                disagreements.append(f"{where}: Caffe's Splits are others")
            memory = total([cost.activation_bytes for cost in layer_costs(built)])
            if memory != int(re.findall(r"Memory required for data: (\d+)", verdict.log)[-1]):
                disagreements.append(f"{where}: Caffe needs other memory than {memory}")
            if len(verdict.layers) != len(built.layers):
                disagreements.append(f"{where}: {len(verdict.layers)} layers in Caffe, {len(built.layers)} here")
    with capsys.disabled():
        print(
            f"\n{nets} nets, {layers} layers, {splits} Splits, {blobs} blobs compared, {aborts} aborts agreed,"
            f" {len(disagreements)} disagreements"
        )
    assert not disagreements, "\n".join(disagreements[:20])
    assert nets > 50


@pytest.mark.skipif(not os.path.isdir(CORPUS), reason="the shared corpus is not here (CAFFE_GUARD_SHARED)")
def test_no_error_on_a_public_net_that_caffe_builds(judge, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    judged = 0
    wrong: list[str] = []
    for path, text in _nets():
        settings = Settings()
        settings.dialect = "bvlc"
        result = lint(["net.prototxt"], settings, {"net.prototxt": text})
        errors = [one for one in result.diagnostics if one.severity == Severity.ERROR]
        builds = [judge.net(text, phase=phase, timeout=120).result == "builds" for phase in ("TRAIN", "TEST")]
        judged += 1
        if errors and all(builds):
            verdict = judge.forward(text, phase="TRAIN", timeout=300)
            if verdict.result == "finite":
                wrong.append(f"{path}: {errors[0].code} {errors[0].finding.message}")
    with capsys.disabled():
        print(f"\n{judged} public nets, {len(wrong)} wrong errors")
    assert not wrong, "\n".join(wrong)


@pytest.mark.skipif(not os.path.isdir(os.path.join(CORPUS, "oracle")), reason="the shared corpus is not here")
def test_nets_in_logs_of_other_caffes_have_the_shapes_and_gradients_that_the_logs_tell(capsys):
    nets = tops = 0
    wrong: list[str] = []
    folder = os.path.join(CORPUS, "oracle")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".tsv"):
            continue
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            rows = [line.rstrip("\n").split("\t") for line in stream][1:]
        path = os.path.join(folder, name[:-4] + ".prototxt")
        job = Job(Settings())
        job.add(path)
        job.run()
        # The log's text is that of the filtered net, with its state; one says none.
        (context,) = job.nets_of(path)
        built = context.built_for(NetState("TRAIN" if "-train" in name else "TEST"))
        places = {layer.name: index for index, layer in enumerate(built.layers)}
        splits = {step.name: step for step in built.graph.steps if step.layer is None}
        nets += 1
        for layer, top, shape, backward in rows:
            if layer in splits:
                if top not in splits[layer].tops:
                    wrong.append(f"{name}: {layer} has no top {top}")
                continue
            if layer not in places:
                wrong.append(f"{name}: no layer {layer}")
                continue
            index = places[layer]
            ours = dict(zip([value.value for value in built.layers[index].tops], built.top_shapes[index])).get(top)
            tops += 1
            logged = () if shape == "scalar" else tuple(int(extent) for extent in shape.split())
            # Logs of the first half of 2014 tell every blob with four axes.
            if ours is not None and (None in ours or _four(ours) != _four(logged)):
                if not all(one is None or one == other for one, other in zip(_four(ours), _four(logged))):
                    wrong.append(f"{name} {layer} {top}: logged {logged}, ours {ours}")
            # Caffe logs its decision before force_backward overrides it.
            forced = bool(context.message.get("force_backward"))
            if not forced and (backward == "yes") != built.need_backward[index]:
                wrong.append(f"{name} {layer}: needs_backward {backward}")
    with capsys.disabled():
        print(f"\n{nets} nets of logs, {tops} tops compared, {len(wrong)} disagreements")
    assert not wrong, "\n".join(wrong[:20])


def _four(shape: tuple) -> tuple:
    return (*shape, *([1] * (4 - len(shape))))
