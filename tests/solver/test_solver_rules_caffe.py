"""The solver rules against real Caffe on made-up solvers: what we say aborts does, and what aborts we say."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from caffe_guard.config import Settings
from caffe_guard.diagnostic import Diagnostic, Severity
from caffe_guard.engine import lint
from caffe_guard.rules.solver._example_net import NET

pytestmark = pytest.mark.caffe

#: The shortest run of the solvers below: poly is NaN past its max_iter.
STEPS = 3
#: field -> (how often it is written, its usual values, odd values)
FIELDS: dict[str, tuple[float, list[str], list[str]]] = {
    "test_interval": (0.95, ["1", "100"], ["0", "-1"]),
    "base_lr": (0.95, ["0.01", "0.1"], ["0", "1e-50", "-0.1"]),
    "lr_policy": (
        0.98,
        ['"poly"', '"step"', '"inv"', '"exp"', '"multistep"', '"sigmoid"', '"fixed"'],
        ['"Step"', '""'],
    ),
    "gamma": (0.8, ["0.1", "0.5"], ["0", "-0.5", "1e25"]),
    "power": (0.7, ["0.5", "1"], ["0", "-2"]),
    "stepsize": (0.8, ["1", "2", "100"], ["0", "-2"]),
    "max_iter": (0.8, ["3", "100"], ["0"]),
    "momentum": (0.6, ["0.9", "0"], ["1", "1.5", "-0.5"]),
    "type": (0.6, ['"SGD"', '"Adam"', '"AdaDelta"', '"Nesterov"', '"RMSProp"', '"AdaGrad"'], ['"adam"']),
    "solver_type": (0.03, ["ADAM", "SGD"], ["RMSPROP"]),
    "delta": (0.15, ["1e-8", "1e-3"], ["0", "-1"]),
    "momentum2": (0.15, ["0.999"], ["1", "1.5"]),
    "rms_decay": (0.2, ["0.9"], ["1", "-1", "0.02"]),
    "weight_decay": (0.4, ["0.0005", "0"], ["-1", "5", "inf"]),
    "regularization_type": (0.15, ['"L1"', '"L2"'], ['"l2"']),
    "iter_size": (0.1, ["1", "2"], ["0", "-1"]),
    "clip_gradients": (0.1, ["1", "-1"], ["0"]),
    "average_loss": (0.1, ["1", "5"], ["0"]),
    "display": (0.5, ["1"], ["0"]),
    "snapshot": (0.2, ["100"], ["0"]),
}
ODD = 0.08


def made_up(rng: random.Random) -> str:
    lines = ['net: "net.prototxt"' if rng.random() < 0.8 else 'train_net: "net.prototxt"']
    if rng.random() < 0.03:
        lines.append('train_net: "net.prototxt"' if lines[0].startswith("net") else 'net: "net.prototxt"')
    lines += ['test_net: "net.prototxt"'] * rng.choice([0] * 8 + [1, 2])
    lines += [f"test_iter: {rng.choice([1, 2, 0])}" for _ in range(rng.choice([0, 0, 1, 1, 2]))]
    lines += ["test_state { }"] * rng.choice([0] * 20 + [1, 2])
    lines += [f"stepvalue: {rng.choice([1, 2, 5, 100])}" for _ in range(rng.choice([0, 1, 2]))]
    for name, (often, usual, odd) in FIELDS.items():
        if rng.random() < often:
            lines.append(f"{name}: {rng.choice(odd if rng.random() < ODD else usual)}")
    rng.shuffle(lines)
    return "\n".join([*lines, 'snapshot_prefix: "x"', "solver_mode: CPU", ""])


def solver_findings(path: Path) -> list[Diagnostic]:
    settings = Settings()
    settings.select = ("CG1", "CG000")
    return [one for one in lint([str(path)], settings).diagnostics if one.code.startswith(("CG1", "CG000"))]


@pytest.mark.parametrize("seed", range(8))
def test_made_up_solvers(judge: Any, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    (tmp_path / "net.prototxt").write_text(NET)
    solver = tmp_path / "solver.prototxt"
    for _ in range(40):
        text = made_up(rng)
        solver.write_text(text)
        found = solver_findings(solver)
        told = [(one.code, one.severity.label, one.finding.message) for one in found]
        verdict = judge.solve(text, files={"net.prototxt": NET}, steps=STEPS)
        where = f"{text}\nCaffe: {verdict.result} {verdict.message}\n{told}"
        assert all(code != "CG000" for code, _, _ in told), where
        abort_told = any(level == "error" and "Caffe aborts" in message for _, level, message in told)
        assert abort_told == (verdict.result == "aborts"), where
        if verdict.result == "nan":
            assert any(one.severity >= Severity.WARNING for one in found), where
