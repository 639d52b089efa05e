"""`caffe-guard inject` and `eject` as a user meets them."""

from __future__ import annotations

import glob
import os

import pytest

from caffe_guard.cli import main
from caffe_guard.config import Settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint as judge_text
from caffe_guard.prototxt import parse
from tests.net.test_against_caffe import CORPUS

NET = """\
name: "net"  # a comment
layer {
  name: "data"
  type: "DummyData"
  top: "data"
  top: "label"
  dummy_data_param { shape { dim: 4 dim: 3 } shape { dim: 4 } }
}
layer { name: "fc1" type: "InnerProduct" bottom: "data" top: "fc1" inner_product_param { num_output: 5 } } # one line
layer { name: "relu1" type: "ReLU" bottom: "fc1" top: "fc1" } layer { name: "fc2" type: "InnerProduct" bottom: "fc1" top: "fc2" inner_product_param { num_output: 2 } }
layer {
    name: "loss"
    type: "SoftmaxWithLoss"
    bottom: "fc2"
    bottom: "label"
    top: "loss"   # the loss
}
"""


@pytest.fixture
def guard(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train_val.prototxt").write_text(NET)

    def run(*words: str):
        code = main(list(words))
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


def _text(tmp_path, name="train_val.prototxt") -> str:
    return (tmp_path / name).read_bytes().decode("utf-8", "surrogateescape")


def test_a_guard_stands_behind_the_layer_and_is_that_of_the_contract(guard, tmp_path):
    code, out, err = guard("inject", "--after", "fc2")
    assert (code, out) == (0, "")
    assert "1 guard put into train_val.prototxt" in err and "WITH_PYTHON_LAYER" in err and "PYTHONPATH" in err
    text = _text(tmp_path)
    assert parse(text).problems == []
    block = text[text.index("# >>> caffe-guard inject") : text.index("# <<< caffe-guard inject")]
    for line in (
        'bottom: "fc2"',
        'top: "fc2"',
        'module: "check_finite_layer"',
        'layer: "checkFiniteLayer"',
        'param_str: "fc2"',
    ):
        assert line in block
    assert text.index('name: "fc2"') < text.index("# >>>") < text.index('name: "loss"')


@pytest.mark.parametrize(
    "words", [["--all"], ["--after", "fc*"], ["--losses"], ["--inputs", "--losses"], ["--after", "label"]]
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("tail", ["", "# \udce9 end"])
def test_eject_gives_back_every_byte_and_a_second_inject_changes_nothing(guard, tmp_path, words, ending, tail):
    before = (NET.replace("\n", ending) + tail).encode("utf-8", "surrogateescape")
    path = tmp_path / "train_val.prototxt"
    path.write_bytes(before)
    assert guard("inject", *words)[0] == 0
    once = path.read_bytes()
    assert once != before and parse(_text(tmp_path)).problems == []
    assert guard("inject", *words)[0] == 0
    assert path.read_bytes() == once
    assert guard("eject")[0] == 0
    assert path.read_bytes() == before


def test_a_file_without_a_last_line_end_comes_back_too(guard, tmp_path):
    (tmp_path / "train_val.prototxt").write_text(NET.rstrip("\n"))
    guard("inject", "--all")
    guard("eject")
    assert _text(tmp_path) == NET.rstrip("\n")


def test_lint_has_nothing_against_a_guarded_net(guard, tmp_path):
    guard("inject", "--all")
    settings = Settings()
    settings.ignore = ("CG403",)
    found = judge_text(["n.prototxt"], settings, {"n.prototxt": _text(tmp_path)}).diagnostics
    plain = judge_text(["n.prototxt"], settings, {"n.prototxt": NET}).diagnostics
    assert {one.code for one in found if one.severity > Severity.INFO} <= {one.code for one in plain}


def test_a_name_is_a_layer_else_the_blob_behind_its_last_writer(guard):
    assert guard("inject", "--after", "relu1", "--dry-run")[1] == "relu1: fc1\n"
    assert guard("inject", "--after", "label", "--dry-run")[1] == "data: label\n"
    assert guard("inject", "--after", "fc1", "--dry-run")[1] == "fc1: fc1\n"


def test_the_blob_of_an_in_place_chain_is_guarded_behind_the_chain(guard, tmp_path):
    (tmp_path / "train_val.prototxt").write_text(NET.replace('name: "fc1"', 'name: "ip1"'))
    assert guard("inject", "--after", "fc1", "--dry-run")[1] == "relu1: fc1\n"


def test_phases_of_the_layer_are_those_of_the_guard(guard, tmp_path):
    (tmp_path / "train_val.prototxt").write_text(NET.replace('top: "loss"', 'top: "loss" include { phase: TRAIN }'))
    guard("inject", "--losses")
    assert _text(tmp_path).count("include { phase: TRAIN }") == 2


def test_options_make_the_param_str_json(guard, tmp_path):
    guard("inject", "--after", "fc2", "--every", "10", "--action", "warn")
    assert r'''param_str: "{\"prefix\": \"fc2\", \"every\": 10, \"action\": \"warn\"}"''' in _text(tmp_path)
    assert guard("lint", "--select", "CG405", "train_val.prototxt") == (0, "", "")


def test_a_template_of_the_users_own_is_used(guard, tmp_path):
    (tmp_path / "mine.j2").write_text('layer { name: {{ name }} type: "Silence" bottom: {{ blobs[0] }} }\n')
    assert guard("inject", "--after", "fc2", "--template", "mine.j2")[0] == 0
    assert 'layer { name: "check_fc2" type: "Silence" bottom: "fc2" }' in _text(tmp_path)


def test_diff_and_output_leave_the_file(guard, tmp_path):
    assert guard("inject", "--after", "fc2", "--diff")[1].startswith("--- a/train_val.prototxt\n")
    assert guard("inject", "--after", "fc2", "-o", "guarded.prototxt")[0] == 0
    assert _text(tmp_path) == NET and "check_fc2" in _text(tmp_path, "guarded.prototxt")


def test_a_solver_stands_for_its_train_net(guard, tmp_path):
    (tmp_path / "solver.prototxt").write_text(
        'net: "train_val.prototxt"\nbase_lr: 1\nlr_policy: "fixed"\nmax_iter: 1\n'
    )
    assert guard("inject", "--after", "fc2", "solver.prototxt")[0] == 0
    assert guard("eject", "solver.prototxt")[0] == 0
    assert guard("inject", "--after", "fc2")[0] == 0
    assert "check_fc2" in _text(tmp_path)


def test_a_changed_loss_weight_is_left_and_told(guard, tmp_path):
    guard("inject", "--losses")
    path = tmp_path / "train_val.prototxt"
    path.write_text(path.read_text().replace("loss_weight: 0", "loss_weight: 0.3"))
    assert 'loss_weight of "loss" was changed since' in guard("eject")[2]
    assert "loss_weight: 0.3" in _text(tmp_path) and ">>>" not in _text(tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["inject"], "say where"),
        (["inject", "--after", "fc3"], 'no layer and no blob is called "fc3"; near it: "fc2", "fc1"'),
        (["inject", "--after", "fc2", "none.prototxt"], "no such file"),
        (["inject", "--after", "x", "v1.prototxt"], "old format V1"),
        (["inject", "--after", "x", "broken.prototxt"], "mend it first"),
        (["inject", "--after", "fc2", "--template", "none.j2"], "none.j2"),
        (["eject", "none.prototxt"], "no such file"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line_and_changes_nothing(guard, tmp_path, words, said):
    (tmp_path / "v1.prototxt").write_text('layers { name: "x" type: RELU bottom: "y" top: "x" }\n')
    (tmp_path / "broken.prototxt").write_text(NET + "layer {")
    code, out, err = guard(*words)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1
    assert _text(tmp_path) == NET


def test_layers_tells_the_folder_for_pythonpath(guard):
    code, out, _ = guard("layers", "--path")
    assert code == 0 and os.path.isfile(os.path.join(out.strip(), "check_finite_layer.py"))
    assert "check_finite_layer: checkFiniteLayer" in guard("layers")[1]


@pytest.mark.skipif(not os.path.isdir(CORPUS), reason="the shared corpus is not here (CAFFE_GUARD_SHARED)")
def test_every_public_net_comes_back_byte_for_byte(guard, tmp_path):
    done = 0
    for path in sorted(glob.glob(os.path.join(CORPUS, "**", "*.prototxt"), recursive=True)):
        with open(path, "rb") as stream:
            before = stream.read()
        target = tmp_path / "train_val.prototxt"
        target.write_bytes(before)
        if guard("inject", "--all", "train_val.prototxt")[0] != 0:
            assert target.read_bytes() == before
            continue
        guarded = target.read_bytes()
        assert parse(_text(tmp_path)).problems == []
        assert guard("inject", "--all", "train_val.prototxt")[0] == 0
        assert target.read_bytes() == guarded, path
        assert guard("eject", "train_val.prototxt")[0] == 0
        assert target.read_bytes() == before, path
        done += guarded != before
    assert done > 80
