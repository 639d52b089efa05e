"""Nets with a fault put in: where real Caffe aborts lint gives an error on that layer, where Caffe builds it gives none.

The nets are public ones (where the shared corpus is) and the rules' own examples. CAFFE_GUARD_MUTATED_NETS sets how many
mutated nets are tried (120 unless it says otherwise).
"""

from __future__ import annotations

import collections
import os

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint
from caffe_guard.net.states import meant_states
from caffe_guard.rules import all_rules
from caffe_guard.schema.dialects import layer_types
from tests.net.mutations import mutated
from tests.net.swap_data import net_of
from tests.net.test_against_caffe import CORPUS, _nets

pytestmark = pytest.mark.caffe
NETS = int(os.environ.get("CAFFE_GUARD_MUTATED_NETS", "120"))
# Larger nets take Caffe too long to build thousands of times.
_LONGEST = 25_000


def _bases() -> list[str]:
    texts = []
    if os.path.isdir(CORPUS):
        texts += [text for _, text in _nets()]
    for rule in all_rules():
        if rule.scope == "net":
            texts += [
                example.text for example in rule.good if example.dialect in ("auto", "bvlc") and not example.files
            ]
    known = layer_types("bvlc")
    good = []
    for text in texts:
        net = net_of(text)
        if net is None or len(text) > _LONGEST or not net.layers:
            continue
        if any(
            layer.type not in known or layer.type in ("Python", "HDF5Output", "Data", "ImageData")
            for layer in net.layers
        ):
            continue
        good.append(text)
    return good


def _errors(text: str) -> list:
    """(code, layer, message) of what lint says that Caffe refuses."""
    settings = Settings()
    settings.dialect = "bvlc"
    result = lint(["net.prototxt"], settings, {"net.prototxt": text})
    return [
        (one.code, one.finding.layer, one.finding.message)
        for one in result.diagnostics
        # A proven NaN, or -FLT_MAX, is an error too, and no abort.
        if one.severity == Severity.ERROR and one.code != "CG301" and "NaN" not in one.finding.message
    ]


def test_mutated_nets_are_refused_where_caffe_refuses_them(judge, capsys):
    bases = _bases()
    counts: collections.Counter[str] = collections.Counter()
    wrong: list[str] = []
    for seed in range(NETS):
        text = mutated(bases[seed % len(bases)], seed)
        net = net_of(text)
        # Where the text can be read, the phases that its data layers speak of: a TEST net may lack what only TRAIN has.
        phases = {state.phase for state in meant_states(net)} if net is not None else {"TRAIN"}
        verdicts = {phase: judge.net(text, phase=phase, timeout=120) for phase in sorted(phases)}
        if any(verdict.result == "timeout" for verdict in verdicts.values()):
            counts["not built in time"] += 1
            continue
        errors = _errors(text)
        aborted = [verdict for verdict in verdicts.values() if verdict.result == "aborts"]
        if not aborted:
            counts["build"] += 1
            if errors and not _dies_later(judge, text, phases):
                wrong.append(f"seed {seed}: Caffe builds, lint says {errors[:2]}")
                counts["wrong errors"] += 1
            continue
        counts["abort"] += 1
        layers = {verdict.creating_layer for verdict in aborted}
        messages = {str(verdict.message)[:150] for verdict in aborted}
        if not errors:
            counts["missed"] += 1
            wrong.append(f"seed {seed}: lint says nothing, Caffe aborts at {layers}: {messages}")
        elif layers == {None} or any(layer in layers for _, layer, _ in errors) or _unregistered(errors, aborted):
            counts["on the layer"] += 1
        else:
            counts["elsewhere"] += 1
            wrong.append(
                f"seed {seed}: {_why(text, errors, layers)}: lint says {errors[:2]}, Caffe aborts at {layers}: {messages}"
            )
    with capsys.disabled():
        print(f"\n{NETS} mutated nets of {len(bases)}: {dict(counts)}")
        for one in wrong:
            print("  " + one[:500])
    assert counts["wrong errors"] == 0
    assert counts["on the layer"] >= 0.98 * counts["abort"]


def _why(text: str, errors: list, layers: set) -> str:
    """In words, why lint and Caffe name different layers."""
    names = [layer.name for layer in _layers(text)]
    theirs = [names.index(layer) for layer in layers if layer in names]
    ours = [names.index(layer) for _, layer, _ in errors if layer in names]
    if any(layer is not None and layer.endswith("_split") for layer in layers):
        return "Caffe's log names the Split behind the layer"
    if theirs and ours and min(ours) < min(theirs):
        return "lint names a layer before, which makes what the later one stumbles over"
    if theirs and ours and min(ours) > min(theirs):
        return "lint names a layer behind"
    return "unexplained"


def _layers(text: str) -> list:
    net = net_of(text)
    return net.layers if net is not None else []


def _dies_later(judge, text: str, phases: set) -> bool:
    """Some faults kill the first forward, not the set-up."""
    return any(judge.forward(text, phase=phase, timeout=120).result == "aborts" for phase in phases)


def _unregistered(errors: list, aborted: list) -> bool:
    """Caffe asks its registry for a type before it logs the layer's name: the log names the layer before."""
    return any("registry.count(type)" in str(verdict.message) for verdict in aborted) and any(
        code == "CG201" for code, _, _ in errors
    )
