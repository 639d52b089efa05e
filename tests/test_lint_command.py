"""`caffe-guard lint` as a user meets it: exit codes, choices, fixes, reports."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from caffe_guard import __version__
from caffe_guard.cli import main

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CLEAN = 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 2 } } }\n'
SOLVER = 'net: "net.prototxt"\nbase_lr: 0.1\nlr_policy: "fixed"\nmax_iter: 9\nrandom_seed: 1\nsolver_mode: CPU\n'
BROKEN = """\
# a net
layer {
  name: "d"   # the input
  typ: "Input"
  type: "Input"
  top: "d"
  input_param { shape { dim: 1 dim: 2 } }
}
"""
WARNED = CLEAN + '# caffe-guard: ignore[CG202] for nothing\nlayer { name: "s" type: "Silence" bottom: "d" }\n'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "clean.prototxt").write_text(CLEAN)
    (tmp_path / "broken.prototxt").write_text(BROKEN)
    (tmp_path / "warned.prototxt").write_text(WARNED)
    return tmp_path


@pytest.fixture
def lint(folder, capsys):
    """Runs lint and gives (exit code, standard output, standard error)."""

    def run(*words: str):
        code = main(["lint", *words])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run


def _process(folder, *words: str, data: bytes = b"", **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-m", "caffe_guard", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": ROOT, **environment},
        input=data,
        capture_output=True,
        check=False,
    )


class TestExitCodes:
    def test_a_clean_file_says_nothing_and_gives_0(self, lint):
        assert lint("clean.prototxt") == (0, "", "")

    def test_an_error_gives_1(self, lint):
        code, out, _ = lint("broken.prototxt")
        assert code == 1
        assert out.startswith("broken.prototxt:4:3: error CG010 ")

    def test_a_warning_gives_0_unless_it_is_asked_for(self, lint):
        assert lint("warned.prototxt")[0] == 0
        assert lint("--fail-on", "warning", "warned.prototxt")[0] == 1
        assert lint("--fail-on", "info", "clean.prototxt")[0] == 0

    def test_a_file_that_is_not_there_gives_2_and_one_line(self, lint):
        code, out, _ = lint("none.prototxt")
        assert code == 2
        assert out.startswith("none.prototxt:1:1: error CG006 cannot be read: no such file")

    def test_a_file_that_is_not_there_does_not_hide_the_others(self, lint):
        code, out, _ = lint("none.prototxt", "broken.prototxt", "clean.prototxt")
        assert code == 1
        assert "none.prototxt" in out and "broken.prototxt:4:3" in out

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--select", "CG999", "clean.prototxt"], "no rule is called 'CG999'"),
            (["--ignore", "bias-filer-missing", "clean.prototxt"], "did you mean bias-filler-missing?"),
            (["--dialect", "torch", "clean.prototxt"], "unknown dialect 'torch'"),
            (["--unsafe-fixes", "clean.prototxt"], "--unsafe-fixes needs --fix or --diff"),
            (["--jobs", "-1", "clean.prototxt"], "--jobs takes 0 or more"),
            (["--plugin", "no_such_module", "clean.prototxt"], "--plugin no_such_module: ModuleNotFoundError"),
            (["--config", "none.toml", "clean.prototxt"], "none.toml: no such file"),
        ],
    )
    def test_a_wrong_choice_gives_2_and_one_line(self, lint, words, said):
        code, out, err = lint(*words)
        assert (code, out) == (2, "")
        assert said in err and err.count("\n") == 1

    @pytest.mark.parametrize("words", [["lint"], ["lint", "--no-such", "x"], ["lnt"], []])
    def test_a_wrong_command_line_gives_2(self, words, capsys):
        assert main(words) == 2

    def test_an_unknown_command_suggests_one(self, capsys):
        main(["lnt"])
        assert "did you mean 'lint'?" in capsys.readouterr().err

    def test_version_is_that_of_the_package(self, capsys):
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"caffe-guard {__version__}\n"

    def test_a_closed_pipe_is_no_fault(self, folder):
        text = "".join(f"field{number}: 1\n" for number in range(5000))
        (folder / "long.prototxt").write_text(CLEAN + text)
        command = f'"{sys.executable}" -m caffe_guard lint --format json long.prototxt | head -1'
        done = subprocess.run(
            command, shell=True, cwd=folder, env={**os.environ, "PYTHONPATH": ROOT}, capture_output=True, check=False
        )
        assert done.stdout == b"{\n" and done.stderr == b""


class TestChoosing:
    def test_select_takes_codes_prefixes_and_names(self, lint):
        for word in ("CG010", "CG0", "unknown-field", "cg010"):
            assert "CG010" in lint("--select", word, "broken.prototxt")[1]
        assert lint("--select", "CG1,CG2", "broken.prototxt") == (0, "", "")

    def test_ignore_takes_away(self, lint):
        assert lint("--ignore", "CG010", "broken.prototxt") == (0, "", "")

    def test_quiet_leaves_infos_out(self, lint, folder):
        (folder / "net.prototxt").write_text(CLEAN)
        (folder / "solver.prototxt").write_text(SOLVER.replace("random_seed: 1\n", ""))
        assert "info CG601" in lint("solver.prototxt")[1]
        assert "info CG601" not in lint("--quiet", "solver.prototxt")[1]

    def test_colour_comes_when_asked_for_and_not_into_a_pipe(self, lint):
        assert "\x1b[" not in lint("broken.prototxt")[1]
        assert "\x1b[1;31merror" in lint("--color", "always", "broken.prototxt")[1]

    def test_a_named_dialect_judges_for_that_fork(self, lint):
        with open("ssd.prototxt", "w", encoding="utf-8") as stream:
            stream.write(CLEAN + 'layer { name: "n" type: "Normalize" bottom: "d" top: "n" norm_param { } }\n')
        assert "CG010" in lint("--dialect", "bvlc", "ssd.prototxt")[1]
        assert "CG010" not in lint("--dialect", "ssd", "ssd.prototxt")[1]


class TestPaths:
    def test_a_folder_is_searched_below_and_hidden_folders_are_not(self, lint, folder):
        for name in ("sub/deep", ".git"):
            (folder / name).mkdir(parents=True)
            (folder / name / "x.prototxt").write_text(BROKEN)
        out = lint("--format", "json", ".")[1]
        assert [file["path"] for file in json.loads(out)["files"]] == [
            "./broken.prototxt",
            "./clean.prototxt",
            "./sub/deep/x.prototxt",
            "./warned.prototxt",
        ]

    def test_a_folder_without_prototxt_gives_2(self, lint, folder):
        (folder / "empty").mkdir()
        code, out, _ = lint("empty")
        assert code == 2 and "holds no .prototxt file" in out

    def test_a_solver_brings_its_net(self, lint, folder):
        (folder / "solver.prototxt").write_text(SOLVER)
        (folder / "net.prototxt").write_text(BROKEN)
        assert "net.prototxt:4:3: error CG010" in lint("solver.prototxt")[1]

    def test_a_net_is_looked_for_from_the_solvers_folder_and_above(self, lint, folder):
        (folder / "a" / "b").mkdir(parents=True)
        (folder / "a" / "b" / "solver.prototxt").write_text(SOLVER.replace("net.prototxt", "a/net.prototxt"))
        (folder / "a" / "net.prototxt").write_text(BROKEN)
        assert "a/net.prototxt:4:3" in lint("a/b/solver.prototxt")[1]

    def test_a_net_that_two_solvers_name_is_judged_once(self, lint, folder):
        for name in ("one", "two"):
            (folder / f"{name}.prototxt").write_text(SOLVER)
        (folder / "net.prototxt").write_text(BROKEN)
        assert lint("one.prototxt", "two.prototxt", "net.prototxt")[1].count("error CG010") == 1

    def test_the_same_file_by_two_paths_is_judged_once(self, lint):
        assert lint("broken.prototxt", "./broken.prototxt")[1].count("error CG010") == 1

    def test_standard_input_has_the_name_that_is_given(self, folder):
        done = _process(folder, "lint", "-", "--stdin-filename", "sub/x.prototxt", data=BROKEN.encode())
        assert done.returncode == 1
        assert done.stdout.startswith(b"sub/x.prototxt:4:3: error CG010")

    def test_standard_input_stands_for_the_file_that_a_solver_names(self, folder):
        (folder / "solver.prototxt").write_text(SOLVER)
        (folder / "net.prototxt").write_text(CLEAN)
        done = _process(
            folder, "lint", "solver.prototxt", "-", "--stdin-filename", "net.prototxt", data=BROKEN.encode()
        )
        assert b"net.prototxt:4:3: error CG010" in done.stdout


class TestFixing:
    MENDED = BROKEN.replace('  typ: "Input"\n', "")

    def test_diff_shows_and_changes_nothing(self, lint, folder):
        (folder / "x.prototxt").write_text(CLEAN.replace("Input", "INPUT"))
        code, out, err = lint("--diff", "x.prototxt")
        assert code == 1
        assert out.startswith("--- a/x.prototxt\n+++ b/x.prototxt\n@@ -1 +1 @@\n-layer")
        assert "--fix would mend 1 finding" in err
        assert (folder / "x.prototxt").read_text() == CLEAN.replace("Input", "INPUT")

    def test_fix_mends_and_a_second_time_changes_nothing(self, lint, folder):
        path = folder / "x.prototxt"
        path.write_text(CLEAN.replace("Input", "INPUT"))
        code, _, err = lint("--fix", "x.prototxt")
        assert (code, path.read_text()) == (0, CLEAN)
        assert "mended 1 finding in 1 file" in err
        before = path.stat().st_mtime_ns
        assert lint("--fix", "x.prototxt") == (0, "", "")
        assert path.stat().st_mtime_ns == before

    def test_unsafe_fixes_wait_until_they_are_asked_for(self, lint, folder):
        text = CLEAN + '# caffe\nlayer { name: "s" type: "Silence" bottom: "d" debug: 1 }\n'
        text = text.replace("debug: 1", "botom: 1")
        (folder / "x.prototxt").write_text(text)
        lint("--fix", "x.prototxt")
        safe = (folder / "x.prototxt").read_text()
        lint("--fix", "--unsafe-fixes", "x.prototxt")
        assert safe == text or safe != (folder / "x.prototxt").read_text()

    def test_line_ends_odd_bytes_mode_and_links_stay(self, lint, folder):
        target = folder / "target.prototxt"
        text = b"# caf\xe9\r\n" + CLEAN.replace("Input", "INPUT").encode().replace(b"\n", b"\r\n") + b"# \xff end"
        target.write_bytes(text)
        target.chmod(0o640)
        (folder / "link.prototxt").symlink_to("target.prototxt")
        lint("--fix", "link.prototxt")
        assert target.read_bytes() == text.replace(b"INPUT", b"Input")
        assert (folder / "link.prototxt").is_symlink()
        assert target.stat().st_mode & 0o777 == 0o640
        assert sorted(path.name for path in folder.iterdir() if "tmp" in path.name) == []

    def test_standard_input_is_mended_to_standard_output(self, folder):
        text = CLEAN.replace("Input", "INPUT")
        done = _process(folder, "lint", "--fix", "-", data=text.encode())
        assert done.stdout.decode() == CLEAN
        assert sorted(path.name for path in folder.iterdir()) == [
            "broken.prototxt",
            "clean.prototxt",
            "warned.prototxt",
        ]

    def test_standard_input_that_needs_no_mending_comes_out_as_it_is(self, folder):
        done = _process(folder, "lint", "--fix", "-", data=CLEAN.encode() + b"# \xe9")
        assert done.stdout == CLEAN.encode() + b"# \xe9"

    def test_a_file_that_cannot_be_written_gives_2_and_one_line(self, lint, folder, monkeypatch):
        (folder / "x.prototxt").write_text(CLEAN.replace("Input", "INPUT"))

        def refuse(path, data):
            raise PermissionError(13, "Permission denied", path)

        monkeypatch.setattr("caffe_guard.files.replace_file", refuse)
        code, _, err = lint("--fix", "x.prototxt")
        assert code == 2 and err.strip().endswith("x.prototxt: cannot be written: Permission denied")
        assert (folder / "x.prototxt").read_text() == CLEAN.replace("Input", "INPUT")


class TestReports:
    @pytest.mark.parametrize("form", ["text", "json", "sarif", "github", "junit"])
    def test_two_processes_say_what_one_says(self, lint, folder, form):
        for number in range(12):
            (folder / f"n{number}.prototxt").write_text(BROKEN if number % 2 else WARNED)
        one = lint("--jobs", "1", "--format", form, ".")
        assert lint("--jobs", "2", "--format", form, ".") == one
        assert lint("--jobs", "1", "--format", form, ".") == one

    def test_findings_come_by_file_and_place(self, lint):
        data = json.loads(lint("--format", "json", "warned.prototxt", "broken.prototxt")[1])
        places = [(one["path"], one["line"], one["column"]) for one in data["diagnostics"]]
        assert places == sorted(places)

    def test_no_colour_is_kept(self, folder):
        done = _process(folder, "lint", "broken.prototxt", NO_COLOR="1")
        assert b"\x1b" not in done.stdout


class TestRulesAndExplain:
    def test_rules_lists_every_rule(self, capsys):
        assert main(["rules"]) == 0
        text = capsys.readouterr().out
        assert main(["rules", "--format", "json"]) == 0
        data = json.loads(capsys.readouterr().out)
        assert all(rule["code"] in text and rule["name"] in text for rule in data["rules"])

    @pytest.mark.parametrize("word", ["CG301", "cg301", "empty-pooling-window"])
    def test_explain_takes_code_or_name(self, word, capsys):
        assert main(["explain", word]) == 0
        out = capsys.readouterr().out
        assert out.startswith("CG301 empty-pooling-window\n") and "What happens" in out

    def test_explain_suggests_a_name(self, capsys):
        assert main(["explain", "empty-poling-window"]) == 2
        assert "did you mean empty-pooling-window?" in capsys.readouterr().err

    def test_every_page_can_be_printed(self, capsys):
        from caffe_guard.rules import all_rules

        for rule in all_rules():
            assert main(["explain", rule.code]) == 0
            assert main(["explain", rule.code, "--format", "json"]) == 0
        assert "CG000 the rule" not in capsys.readouterr().out
