"""The net as caffe-guard builds it, held against the net that real Caffe builds from the same text."""

from __future__ import annotations

import os

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint
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


@pytest.mark.skipif(not os.path.isdir(CORPUS), reason="the shared corpus is not here (CAFFE_GUARD_SHARED)")
def test_public_nets_have_the_shapes_and_gradients_that_caffe_gives_them(judge, capsys):
    nets = blobs = layers = aborts = 0
    disagreements: list[str] = []
    for path, text in _nets():
        for phase in ("TRAIN", "TEST"):
            built = infer(net_of(text), NetState(phase), data=False)
            # Code that a net names, and layers of forks, are not there to be asked.
            if not built.layers or any(layer.type not in KNOWN or layer.type == "Python" for layer in built.layers):
                continue
            verdict = judge.net(text, phase=phase, timeout=120)
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
            if len(verdict.layers) != len(built.layers):
                disagreements.append(f"{where}: {len(verdict.layers)} layers in Caffe, {len(built.layers)} here")
    with capsys.disabled():
        print(
            f"\n{nets} nets, {layers} layers, {blobs} blobs compared, {aborts} aborts agreed, {len(disagreements)} disagreements"
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
