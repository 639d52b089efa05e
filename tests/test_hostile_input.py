"""Files that no prototxt should be: a clear line each, no traceback, and the other files are still judged."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys

import pytest

from caffe_guard.cli import main

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLEAN = b'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 2 } } }\n'
SOLVER = b'net: "%b"\nbase_lr: 0.1\nlr_policy: "fixed"\nmax_iter: 9\nrandom_seed: 1\nsolver_mode: CPU\n'

# The file's content, the exit code, and a word of what is said.
FILES = {
    "empty": (b"", 0, "CG009"),
    "only comments": (b"# nothing\n", 0, "CG009"),
    "NUL bytes": (CLEAN + b"\0\0\0", 1, "control character"),
    "random bytes": (random.Random(1).randbytes(4000), 2, "CG005"),
    "a caffemodel": (b"\n\x05lenet\xa2\x06\x80\x01\n\x04data\x00\x00\x12\x04Data\x00\x00\x00\x00\x00\xfb\xff", 2, "binary"),
    "UTF-16": ("name: 'x'".encode("utf-16"), 2, "UTF-16"),
    "a byte order mark": (b"\xef\xbb\xbf" + CLEAN, 1, "CG003"),
    "invalid UTF-8 in a name": (b'name: "\xff\xfe"\n' + CLEAN, 0, ""),
    "invalid UTF-8 outside strings": (b"\xff\xfe\xfd: 1\n" + CLEAN, 1, "CG001"),
    "a web page": (b"<!DOCTYPE html>\n<html><body>layer { }</body></html>", 2, "web page"),
    "an LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", 2, "git lfs pull"),
    "an archive": (b"PK\x03\x04" + b"\0" * 40, 2, "archive"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + b"\0" * 40, 2, "HDF5"),
    "JSON": (b'{"net": 1, "layers": [1, 2, {"a": null}]}', 1, "CG001"),
    "Python": (b"import caffe\nnet = caffe.Net('a', 'b', caffe.TEST)\n", 1, "CG001"),
    "a very long line": (b'name: "' + b"x" * 2_000_000 + b'"\n' + CLEAN, 0, ""),
    "a very long number": (b"force_backward: " + b"9" * 300_000 + b"\n" + CLEAN, 1, "CG0"),
    "a very long float": (b"base_lr: 1" + b"0" * 100_000 + b"\nnet: 'n'\n", 1, "CG"),
    "huge numbers": (b'net: "n"\nbase_lr: 1e400\nmax_iter: 99999999999999999999\nlr_policy: "exp"\ngamma: 1e38\n', 1, "CG014"),
    "many open braces": (b"layer {" * 50_000, 1, "CG004"),
    "many closing braces": (b"}" * 50_000, 1, "CG004"),
    "deep and closed": (b"layer {" * 50_000 + b"}" * 50_000, 1, "CG"),
    "terminal control": (b'name: "\x1b[2J\x1b]0;owned\x07"\nfoo\x1b[31m: 1\n' + CLEAN, 1, "CG001"),
    "a huge blob": (CLEAN.replace(b"dim: 2", b"dim: 4611686018427387904 dim: 4611686018427387904"), 1, "CG223"),
    "a huge kernel": (
        CLEAN.replace(b"dim: 2", b"dim: 2 dim: 9 dim: 9")
        + b'layer { name: "p" type: "Pooling" bottom: "d" top: "p" pooling_param { kernel_size: 4294967295 } }',
        1,
        "CG2",
    ),
    "a huge count of levels": (
        CLEAN.replace(b"dim: 2", b"dim: 2 dim: 9 dim: 9")
        + b'layer { name: "p" type: "SPP" bottom: "d" top: "p" spp_param { pyramid_height: 4294967295 } }',
        1,
        "CG2",
    ),
    "a slice into many": (
        CLEAN + b'layer { name: "s" type: "Slice" bottom: "d" top: "a" top: "b" slice_param { slice_point: 4294967295 } }',
        1,
        "CG2",
    ),
    "no type": (b'layer { name: "a" }\n', 1, "CG201"),
    "no name": (b'layer { type: "ReLU" bottom: "" top: "" }\n', 1, "CG202"),
    "layers in layers": (b"layer { layer { layer { } } }", 1, "CG010"),
    "a net of nets": (b"net_param { layer { } }\nlr_policy: 'fixed'\nbase_lr: 1\n", 1, "CG"),
}  # fmt: skip


@pytest.fixture
def lint(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def run(*words: str):
        code = main(["lint", *words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err and "CG000" not in captured.out
        return code, captured.out, captured.err

    return run


@pytest.mark.parametrize("name", FILES)
def test_an_odd_file_is_told_in_one_line_and_does_not_hide_the_next(lint, tmp_path, name):
    data, code, said = FILES[name]
    (tmp_path / "odd.prototxt").write_bytes(data)
    told, out, err = lint("odd.prototxt")
    assert (told, err) == (code, "")
    assert said in out
    assert "\x1b" not in out
    (tmp_path / "next.prototxt").write_bytes(CLEAN + b"nonsense: 1\n")
    assert "next.prototxt:2:1: error CG010" in lint("odd.prototxt", "next.prototxt")[1]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("form", ["json", "sarif", "github", "junit"])
def test_every_report_survives_it(lint, tmp_path, name, form):
    if len(FILES[name][0]) > 1_000_000:
        pytest.skip("long, and told in the text report")
    (tmp_path / "odd.prototxt").write_bytes(FILES[name][0])
    _, out, _ = lint("--format", form, "odd.prototxt")
    if form in ("json", "sarif"):
        json.loads(out)
    if form == "junit":
        from xml.etree import ElementTree

        ElementTree.fromstring(out)


@pytest.mark.parametrize("name", FILES)
def test_fixing_it_loses_nothing(lint, tmp_path, name):
    """Whatever --fix does, what it leaves can be judged again and is left alone."""
    path = tmp_path / "odd.prototxt"
    path.write_bytes(FILES[name][0])
    lint("--fix", "--unsafe-fixes", "odd.prototxt")
    once = path.read_bytes()
    assert len(once) >= len(FILES[name][0]) // 2
    lint("--fix", "--unsafe-fixes", "odd.prototxt")
    assert path.read_bytes() == once


NETS = {
    "itself": b"solver.prototxt",
    "a folder": b"folder",
    "nothing": b"",
    "a NUL": b"net\\000.prototxt",
    "a very long path": b"x" * 5000,
    "a device": b"/dev/zero",
    "no file": b"none.prototxt",
    "a loop of links": b"loop.prototxt",
    "a web address": b"http://localhost:9/net.prototxt",
    "odd bytes": b"\xff\xfe",
    "upwards": b"../" * 300 + b"etc/passwd",
}


@pytest.mark.parametrize("name", NETS)
def test_a_net_path_that_leads_nowhere_is_told_at_its_line(lint, tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop.prototxt").symlink_to("loop.prototxt")
    (tmp_path / "solver.prototxt").write_bytes(SOLVER % NETS[name])
    code, out, _ = lint("solver.prototxt")
    assert code in (1, 2)
    assert "solver.prototxt:1:" in out or "passwd" in out


def test_solvers_that_name_each_other_come_to_an_end(lint, tmp_path):
    (tmp_path / "a.prototxt").write_bytes(SOLVER % b"b.prototxt")
    (tmp_path / "b.prototxt").write_bytes(SOLVER % b"a.prototxt")
    assert lint("a.prototxt")[0] == 1


def test_a_folder_of_odd_files_is_judged_in_one_run(lint, tmp_path):
    for number, name in enumerate(FILES):
        if len(FILES[name][0]) < 100_000:
            (tmp_path / f"{number}.prototxt").write_bytes(FILES[name][0])
    code, out, _ = lint(".")
    assert code == 1 and out.count("CG005") == sum(1 for _, told, _ in FILES.values() if told == 2)


@pytest.mark.skipif(os.name != "posix", reason="devices and pipes of POSIX")
@pytest.mark.parametrize("path", ["/dev/null", "/dev/zero", "/proc/self/mem"])
def test_what_is_no_file_is_refused(lint, path):
    if not os.path.exists(path):
        pytest.skip(f"no {path} here")
    assert lint(path)[0] in (0, 2)


def test_nothing_is_written_and_nothing_imported_that_a_net_names(tmp_path):
    (tmp_path / "evil.py").write_text("open('ran', 'w').close()\nclass L: pass\n")
    (tmp_path / "net.prototxt").write_bytes(
        CLEAN + b'layer { name: "p" type: "Python" bottom: "d" top: "p" python_param { module: "evil" layer: "L" } }\n'
    )
    (tmp_path / "solver.prototxt").write_bytes(SOLVER % b"net.prototxt")
    before = sorted(os.listdir(tmp_path))
    done = subprocess.run(
        [sys.executable, "-m", "caffe_guard", "lint", "solver.prototxt"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": ROOT, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
    assert sorted(os.listdir(tmp_path)) == before
