"""caffe-guard lr."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from caffe_guard.cli import main

STEP = 'net: "n"\nbase_lr: 0.01\nlr_policy: "step"\ngamma: 0.1\nstepsize: 100\nmax_iter: 250\n'
POLY = 'net: "n"\nbase_lr: 0.01\nlr_policy: "poly"\npower: 0.5\nmax_iter: 100\n'


@pytest.fixture
def lr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Write a solver and run `lr` on it: (exit code, stdout, stderr)."""

    def run(text: str | bytes, *options: str) -> tuple[int, str, str]:
        path = tmp_path / "solver.prototxt"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        code = main(["lr", str(path), *options])
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def test_the_table(lr: Any) -> None:
    code, out, err = lr(STEP)
    assert (code, err) == (0, "")
    lines = [line.split(None, 2) for line in out.splitlines()[2:]]
    assert lines == [
        ["0", "0.01", "start"],
        ["100", "0.001", "step 1: times 0.1"],
        ["200", "0.0001", "step 2: times 0.1"],
        ["249", "0.0001", "last iteration"],
    ]
    assert 'lr_policy "step", base_lr 0.01, gamma 0.1, stepsize 100' in out


def test_a_bad_schedule_is_a_finding(lr: Any) -> None:
    code, out, _ = lr(POLY, "--max-iter", "200")
    assert code == 1
    assert "101           nan  the rate is NaN" in out
    code, out, _ = lr('base_lr: 1\nlr_policy: "step"\n')
    assert code == 1
    assert "Caffe aborts: it needs stepsize > 0" in out


def test_at(lr: Any) -> None:
    code, out, _ = lr(STEP, "--at", "99", "--at", "100")
    assert code == 0
    assert [line.split() for line in out.splitlines()[2:]] == [["99", "0.01"], ["100", "0.001"]]
    assert lr(POLY, "--at", "150")[0] == 1


def test_json(lr: Any) -> None:
    code, out, _ = lr(POLY, "--format", "json", "--max-iter", "200", "--at", "150")
    answer = json.loads(out)
    assert code == 1
    assert answer["version"] == 1
    assert answer["policy"] == "poly"
    assert answer["iterations"] == 200
    assert answer["points"][0] == {"iteration": 0, "rate": 0.00999999978, "event": "start"}
    assert answer["points"][-1]["rate"] == "nan"
    assert answer["first_bad"] == {"iteration": 100, "rate": 0.0, "reason": "zero"}
    assert answer["at"] == [{"iteration": 150, "rate": "nan"}]
    assert (answer["diagnostics"][0]["line"], answer["diagnostics"][0]["column"]) == (3, 1)


def test_json_of_a_sound_schedule(lr: Any) -> None:
    code, out, _ = lr(STEP, "--format", "json")
    answer = json.loads(out)
    assert (code, answer["first_bad"], answer["diagnostics"]) == (0, None, [])


def test_text_plot(lr: Any) -> None:
    code, out, _ = lr(STEP, "--plot")
    assert code == 0
    plot = out[out.index("\n\n") + 2 :].splitlines()
    assert "0.01 |***" in plot[0]
    assert plot[-1].split() == ["0", "249"]
    assert "!" in lr(POLY, "--plot", "-", "--max-iter", "300")[1]


def test_plot_of_a_flat_and_a_short_run(lr: Any) -> None:
    assert "0.5 |***" in lr('base_lr: 0.5\nlr_policy: "fixed"\nmax_iter: 40\n', "--plot")[1]
    assert "0.5 |*" in lr('base_lr: 0.5\nlr_policy: "fixed"\nmax_iter: 1\n', "--plot")[1]
    assert "no rate |!!!" in lr('base_lr: 0\nlr_policy: "fixed"\nmax_iter: 40\n', "--plot")[1]


def test_plot_before_the_solver(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "solver.prototxt"
    path.write_text(STEP)
    assert main(["lr", "--plot", str(path)]) == 0
    assert "|***" in capsys.readouterr().out


@pytest.mark.parametrize("ending", ["png", "svg"])
def test_picture(lr: Any, tmp_path: Path, ending: str) -> None:
    pytest.importorskip("matplotlib")
    picture = tmp_path / f"rate.{ending}"
    assert lr(POLY, "--plot", str(picture), "--max-iter", "200")[0] == 1
    head = picture.read_bytes()[:200]
    assert head.startswith(b"\x89PNG") if ending == "png" else b"<?xml" in head


def test_picture_without_matplotlib(lr: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    code, out, err = lr(STEP, "--plot", str(tmp_path / "rate.png"))
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "pip install 'caffe-guard[report]'" in err


def test_no_max_iter(lr: Any) -> None:
    code, out, _ = lr('base_lr: 0.5\nlr_policy: "fixed"\n')
    assert code == 0
    assert "no max_iter" in out


def test_a_policy_that_follows_the_loss(lr: Any) -> None:
    code, out, _ = lr('base_lr: 0.5\nlr_policy: "plateau"\nmax_iter: 10\n')
    assert code == 0
    assert "cannot be known" in out


def test_an_unknown_field_does_not_matter(lr: Any) -> None:
    assert lr(STEP + "no_such_field: 3\n")[0] == 0


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STEP.encode())))
    assert main(["lr", "-"]) == 0
    assert capsys.readouterr().out.startswith("<stdin>: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no solver (empty file)"),
        ('layer { name: "x" }', "is no solver (net)"),
        ('base_lr: "x"', ":1:10: base_lr"),
        ("base_lr: 1\nbase_lr: 2", ":2:1: base_lr is given twice"),
        ("base_lr: 1 {", ":1:"),
        (b"\x89HDF\r\n\x1a\n", "HDF5"),
        ("version https://git-lfs.github.com/spec/v1\n", "LFS"),
    ],
)
def test_bad_input_is_one_line(lr: Any, text: str | bytes, said: str) -> None:
    code, out, err = lr(text)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "options",
    [
        ["/no/such/file"],
        ["/"],
        [],
        ["SOLVER", "--max-iter", "0"],
        ["SOLVER", "--max-iter", "99999999999"],
        ["SOLVER", "--at", "-1"],
        ["SOLVER", "--plot", "x.gif"],
        ["SOLVER", "--at", "x"],
        ["SOLVER", "--format", "yaml"],
    ],
)
def test_bad_use(tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str]) -> None:
    path = tmp_path / "solver.prototxt"
    path.write_text(STEP)
    assert main(["lr", *(str(path) if option == "SOLVER" else option for option in options)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
