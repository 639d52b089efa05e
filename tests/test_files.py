"""Files are read as they are and replaced at once or not at all."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from caffe_guard.files import InputError, find_beside, read_source, replace_file

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def test_a_new_file_gets_the_usual_mode_and_an_old_one_keeps_its_own(tmp_path):
    path = tmp_path / "new"
    replace_file(str(path), b"one")
    plain = tmp_path / "plain"
    plain.write_bytes(b"")
    assert path.read_bytes() == b"one" and path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o604)
    replace_file(str(path), b"two")
    assert path.read_bytes() == b"two" and path.stat().st_mode & 0o777 == 0o604


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "target").write_bytes(b"old")
    (tmp_path / "link").symlink_to("target")
    replace_file(str(tmp_path / "link"), b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "target").read_bytes() == b"new"


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError):
        replace_file(str(path), b"new")
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL here")
def test_a_process_killed_while_it_writes_leaves_the_old_or_the_new_file_whole(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"0" * 500_000)
    script = (
        "import sys; from caffe_guard.files import replace_file\n"
        "n = 0\n"
        "while True:\n    n = (n + 1) % 10; replace_file(sys.argv[1], str(n).encode() * 500_000)\n"
    )
    chance = random.Random(1)
    for _ in range(8):
        process = subprocess.Popen([sys.executable, "-c", script, str(path)], env={**os.environ, "PYTHONPATH": ROOT})
        time.sleep(0.1 + chance.random() / 5)
        process.send_signal(signal.SIGKILL)
        process.wait()
        data = path.read_bytes()
        assert len(data) == 500_000 and data == data[:1] * 500_000


@pytest.mark.parametrize(
    ("name", "reason"), [("none", "no such file or directory"), (".", "is a folder"), ("a\0b", "is not a path")]
)
def test_what_cannot_be_read_is_told_with_its_reason(tmp_path, monkeypatch, name, reason):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError) as caught:
        read_source(name)
    assert caught.value.reason == reason


def test_a_path_is_tried_as_caffe_does_then_beside_the_solver_and_above(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "net").write_text("")
    assert find_beside("net", "a/b")[0] == os.path.join("a", "net")
    (tmp_path / "a" / "b" / "net").write_text("")
    assert find_beside("net", "a/b")[0] == os.path.join("a", "b", "net")
    (tmp_path / "net").write_text("")
    assert find_beside("net", "a/b")[0] == "net"
    assert find_beside("none", "a/b")[0] is None
    assert find_beside("", "a/b") == (None, [])
