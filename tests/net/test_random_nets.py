"""Each layer type in small nets drawn at random, half of them odd: real Caffe and caffe-guard must agree on every one.

CAFFE_GUARD_RANDOM_NETS sets how many nets a type are drawn (12 unless it says otherwise).
"""

from __future__ import annotations

import os

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint
from caffe_guard.net.phase import NetState
from caffe_guard.net.shapes import infer
from tests.net.random_nets import DRAWS, random_net
from tests.net.swap_data import net_of

pytestmark = pytest.mark.caffe
NETS = int(os.environ.get("CAFFE_GUARD_RANDOM_NETS", "12"))


@pytest.mark.parametrize("kind", sorted(DRAWS))
def test_random_nets_build_or_abort_as_caffe_builds_them(judge, kind):
    wrong = []
    for seed in range(NETS):
        text = random_net(kind, seed)
        settings = Settings()
        settings.dialect = "bvlc"
        result = lint(["net.prototxt"], settings, {"net.prototxt": text})
        said = [one.finding.message for one in result.diagnostics if one.severity == Severity.ERROR]
        # A setting that kills the first forward is as bad as one that kills the set-up. MemoryData, and an
        # Input without a shape, get their data from a script.
        ask = judge.net if kind in ("Input", "MemoryData") else judge.forward
        verdict = ask(text, phase="TRAIN", timeout=60)
        died = verdict.result == "aborts"
        if (died and not said) or (said and verdict.result not in ("aborts", "nan", "garbage")):
            wrong.append(f"{text}Caffe {verdict.result}: {verdict.message}; caffe-guard: {said or 'nothing'}")
            continue
        if died:
            continue
        net = net_of(text)
        assert net is not None, text
        built = infer(net, NetState("TRAIN"), data=False)
        real = judge.net(text, phase="TRAIN").layers[-1]
        ours = [*built.top_shapes[-1], *built.blobs[-1]]
        theirs = [tuple(shape) for shape in (*real.top_shapes[: len(built.top_shapes[-1])], *real.param_shapes)]
        if theirs != ours:
            wrong.append(f"{text}Caffe {theirs}; caffe-guard {ours}")
    assert not wrong, f"{len(wrong)} of {NETS} differ:\n" + "\n".join(wrong[:5])
