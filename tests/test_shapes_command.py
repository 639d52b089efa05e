"""`caffe-guard shapes`: the net in every format."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from caffe_guard.cli import main

NET = """\
name: "tiny <&> net"
layer {
  name: "data"
  type: "Input"
  top: "data"
  top: "label"
  input_param { shape { dim: 8 dim: 3 dim: 20 dim: 20 } shape { dim: 8 } }
}
layer {
  name: "conv1"
  type: "Convolution"
  bottom: "data"
  top: "conv1"
  convolution_param { num_output: 16 kernel_size: 3 pad: 1 weight_filler { type: "xavier" } }
}
layer { name: "relu1" type: "ReLU" bottom: "conv1" top: "conv1" }
layer { name: "conv2" type: "Convolution" bottom: "conv1" top: "conv2" convolution_param { num_output: 16 kernel_size: 1 } }
layer { name: "sum" type: "Eltwise" bottom: "conv1" bottom: "conv2" top: "sum" }
layer { name: "<script>" type: "Pooling" bottom: "sum" top: "pool" pooling_param { pool: AVE kernel_size: 3 stride: 5 } }
layer { name: "fc" type: "InnerProduct" bottom: "pool" top: "fc" inner_product_param { num_output: 10 } }
layer { name: "acc" type: "Accuracy" bottom: "fc" bottom: "label" top: "acc" include { phase: TEST } }
layer { name: "loss" type: "SoftmaxWithLoss" bottom: "fc" bottom: "label" top: "loss" }
"""
SOLVER = 'net: "net.prototxt"\nbase_lr: 0.1\nlr_policy: "fixed"\nmax_iter: 9\ntest_iter: 1\ntest_interval: 5\n'


@pytest.fixture
def shapes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.prototxt").write_text(NET)
    (tmp_path / "solver.prototxt").write_text(SOLVER)

    def run(*words: str):
        code = main(["shapes", *words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


def test_the_table_tells_layers_shapes_and_totals(shapes):
    code, out, err = shapes("net.prototxt")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].split() == ["layer", "type", "top", "shape", "params", "MACs", "memory", "backward"]
    assert re.search(r"^conv1 +Convolution +conv1 +8×16×20×20 +448 +1\.38 M +200 KiB +yes$", out, re.MULTILINE)
    assert "acc" not in out.split()
    assert lines[-1].startswith("8 layers, 7 of them with backward · ")


def test_json_keeps_the_contract(shapes):
    data = json.loads(shapes("net.prototxt", "--format", "json", "--phase", "TEST")[1])
    assert data["phase"] == "TEST"
    assert [layer["name"] for layer in data["layers"]][-2:] == ["acc", "loss"]
    for layer in data["layers"]:
        assert {"name", "type", "bottoms", "tops", "params", "need_backward"} <= set(layer)
    assert data["layers"][1]["params"] == [[16, 3, 3, 3], [16]]
    assert data["layers"][0]["tops"] == [{"blob": "data", "shape": [8, 3, 20, 20]}, {"blob": "label", "shape": [8]}]
    assert set(data["totals"]) == {"params", "macs", "activation_bytes"}
    assert data["splits"][0] == {
        "name": "label_data_1_split",
        "bottom": "label",
        "tops": ["label_data_1_split_0", "label_data_1_split_1"],
    }


def test_an_unknown_extent_is_null(shapes, tmp_path):
    (tmp_path / "net.prototxt").write_text(
        'layer { name: "d" type: "Data" top: "d" data_param { source: "x" batch_size: 4 } }\n'
        'layer { name: "r" type: "ReLU" bottom: "d" top: "d" }\n'
    )
    data = json.loads(shapes("net.prototxt", "--format", "json")[1])
    assert data["layers"][1]["tops"][0]["shape"] == [4, None, None, None]
    assert data["totals"]["activation_bytes"] is None


def test_a_solver_stands_for_its_nets_in_their_states(shapes):
    assert "acc" not in shapes("solver.prototxt")[1].split()
    assert "acc" in shapes("solver.prototxt", "--phase", "test")[1].split()


def test_levels_and_stages_choose_layers(shapes, tmp_path):
    (tmp_path / "net.prototxt").write_text(
        NET + 'layer { name: "extra" type: "Silence" bottom: "sum" include { stage: "more" min_level: 2 } }\n'
    )
    assert "extra" not in shapes("net.prototxt")[1]
    assert "extra" not in shapes("net.prototxt", "--stage", "more")[1]
    assert "extra" in shapes("net.prototxt", "--stage", "more", "--level", "2")[1]


def test_dot_has_a_node_a_box_and_an_edge_a_reading(shapes):
    out = shapes("net.prototxt", "--format", "dot")[1]
    assert out.startswith('digraph "tiny <&> net (TRAIN)" {')
    assert 'label="conv1 · Convolution\\nrelu1 · ReLU"' in out
    assert len(re.findall(r"^  n\d+ \[", out, re.MULTILINE)) == 7
    assert len(re.findall(r"^  n\d+ -> n\d+ ", out, re.MULTILINE)) == 8


def test_the_picture_is_xml_with_every_layer_and_no_box_on_another(shapes):
    root = ElementTree.fromstring(shapes("net.prototxt", "--format", "svg")[1])
    space = "{http://www.w3.org/2000/svg}"
    texts = {text.text for text in root.iter(f"{space}text")}
    assert {"conv1 · Convolution", "relu1 · ReLU", "<script> · Pooling", "8×16×20×20"} <= texts
    boxes = [[float(rect.get(name)) for name in ("x", "y", "width", "height")] for rect in root.iter(f"{space}rect")]
    for index, (x, y, width, height) in enumerate(boxes):
        assert x >= 0 and y >= 0
        assert x + width <= float(root.get("width")) and y + height <= float(root.get("height"))
        for other_x, other_y, other_width, other_height in boxes[index + 1 :]:
            apart_x = x + width <= other_x or other_x + other_width <= x
            apart_y = y + height <= other_y or other_y + other_height <= y
            assert apart_x or apart_y
    # The layer that lint finds fault with is outlined.
    strokes = [rect.get("stroke") for rect in root.iter(f"{space}rect")]
    assert "#c0392b" in strokes


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list = []
        self.links: list = []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.links.extend(value for name, value in attrs if name in ("src", "href"))


def test_the_page_holds_picture_findings_and_table_and_loads_nothing(shapes, tmp_path):
    code, out, _ = shapes("net.prototxt", "-o", "net.html")
    assert (code, out) == (0, "")
    text = (tmp_path / "net.html").read_text(encoding="utf-8")
    page = _Page()
    page.feed(text)
    assert page.tags.count("script") == 1 and "svg" in page.tags and "table" in page.tags
    assert all(link.startswith("#") for link in page.links)
    assert "CG301" in text and "&lt;script&gt;" in text and "tiny &lt;&amp;&gt; net" in text


def test_where_caffe_aborts_the_net_is_shown_as_far_as_it_is_known(shapes, tmp_path):
    (tmp_path / "net.prototxt").write_text(NET.replace("kernel_size: 1 }", "kernel_size: 99 }"))
    code, out, err = shapes("net.prototxt")
    assert code == 1
    assert "conv1" in out and "?" in out
    assert "net.prototxt:17:" in err and "Caffe aborts" in err


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("none.prototxt", None, "cannot be read: no such file"),
        ("labels.prototxt", "item { }", "neither a net nor a solver"),
        ("page.prototxt", "<!DOCTYPE html><html>", "web page"),
        ("alone.prototxt", SOLVER.replace("net.prototxt", "nowhere"), "net was not found"),
    ],
)
def test_what_cannot_be_shown_is_told_in_one_line(shapes, tmp_path, name, text, said):
    if text is not None:
        (tmp_path / name).write_text(text)
    code, out, err = shapes(name)
    assert (code, out) == (2, "")
    assert said in err and err.count("\n") == 1


def test_a_long_chain_is_drawn_in_reasonable_time(shapes, tmp_path):
    text = NET + "".join(
        f'layer {{ name: "s{n}" type: "Sigmoid" bottom: "{f"s{n - 1}" if n else "fc"}" top: "s{n}" }}\n'
        for n in range(800)
    )
    (tmp_path / "net.prototxt").write_text(text)
    assert shapes("net.prototxt", "--format", "svg")[0] == 0
