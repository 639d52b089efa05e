"""The engine: rules in isolation, suppression comments, settings."""

from __future__ import annotations

import textwrap

import pytest

from caffe_guard.cli import main
from caffe_guard.config import ConfigError, Settings, find_settings_file, load_settings
from caffe_guard.diagnostic import Severity
from caffe_guard.engine import lint

DATA = 'layer { name: "d" type: "Input" top: "d" input_param { shape { dim: 1 dim: 2 } } }\n'


def _lint(text: str, **choices) -> list:
    """(code, line) of every finding in a net's text."""
    settings = Settings()
    for name, value in choices.items():
        setattr(settings, name, value)
    result = lint(["net.prototxt"], settings, {"net.prototxt": text})
    return [(one.code, one.source.line_column(one.finding.start)[0]) for one in result.diagnostics]


class TestRules:
    def test_a_rule_that_crashes_is_one_finding_and_the_others_go_on(self, monkeypatch):
        from caffe_guard.rules import find_rule

        def crash(context):
            raise RuntimeError("out of luck")

        rule = find_rule("CG010")
        monkeypatch.setattr(rule, "check", crash)
        result = lint(["net.prototxt"], Settings(), {"net.prototxt": DATA + 'foo: 1\nlayer { type: "Nonesuch" }\n'})
        crashed = [one for one in result.diagnostics if one.code == "CG000"]
        assert [one.finding.message for one in crashed] == [
            "the rule CG010 unknown-field failed: RuntimeError: out of luck"
        ]
        assert "CG201" in [one.code for one in result.diagnostics]

    def test_many_findings_of_one_rule_are_counted_not_listed(self):
        text = DATA + "".join(f'layer {{ name: "s{n}" type: "Silence" bottom: "x{n}" }}\n' for n in range(500))
        assert len(list(_lint(text, select=("CG202",)))) == 101

    def test_findings_come_in_the_order_of_the_text(self):
        lines = [line for _, line in _lint("a: 1\nb: 2\n" + DATA + "c: 3\n")]
        assert lines == sorted(lines)


class TestSuppression:
    def test_a_comment_speaks_for_its_own_line(self):
        text = DATA + "foo: 1  # caffe-guard: ignore[CG010] ours\nbar: 1\n"
        assert _lint(text) == [("CG010", 3)]

    def test_a_comment_on_a_line_of_its_own_speaks_for_what_follows(self):
        text = DATA + "# caffe-guard: ignore[CG010] ours\nfoo: 1\nbar: 1\n"
        assert _lint(text) == [("CG010", 4)]

    def test_a_comment_above_a_layer_speaks_for_the_whole_layer_and_no_other(self):
        layer = 'layer {\n  name: "s"\n  type: "Silence"\n  bottom: "d"\n  foo: 1\n}\n'
        text = DATA + "# caffe-guard: ignore[CG010] ours\n" + layer + layer.replace('"s"', '"t"')
        assert _lint(text) == [("CG010", 13)]

    def test_a_comment_inside_a_layer_speaks_for_the_next_statement(self):
        text = (
            DATA
            + 'layer {\n  name: "s"\n  type: "Silence"\n  # caffe-guard: ignore[CG010]\n  foo: 1\n  bottom: "d"\n}\n'
        )
        assert _lint(text) == []

    @pytest.mark.parametrize("words", ["[CG010]", "[CG0]", "[unknown-field]", "", "[CG301, CG010]", " [ cg010 ] why"])
    def test_rules_are_named_by_code_prefix_or_name_and_without_brackets_all_are_meant(self, words):
        found = _lint(DATA + f"foo: 1 # caffe-guard: ignore{words}\n")
        assert "CG010" not in [code for code, _ in found]

    def test_a_file_comment_speaks_for_the_file(self):
        assert _lint(DATA + "foo: 1\n# caffe-guard: ignore-file[CG010]\nbar: 2\n") == []

    def test_what_is_silenced_is_counted(self):
        text = DATA + "# caffe-guard: ignore-file[CG010]\nfoo: 1\nbar: 2\n"
        assert lint(["n.prototxt"], Settings(), {"n.prototxt": text}).suppressed == 2

    def test_a_comment_that_silences_nothing_is_told(self):
        assert _lint(DATA + "# caffe-guard: ignore[CG010] ours\n") == [("CG007", 2)]

    def test_a_comment_is_not_blamed_when_only_some_rules_run(self):
        assert _lint(DATA + "# caffe-guard: ignore[CG010] ours\n", select=("CG2",)) == []

    @pytest.mark.parametrize("comment", ["ignore[CG998]", "ignor[CG010]", "disable", ""])
    def test_a_comment_that_cannot_be_understood_is_told(self, comment):
        assert _lint(DATA + f"# caffe-guard: {comment}\n") == [("CG008", 2)]

    def test_a_comment_in_a_string_is_no_comment(self):
        assert _lint(DATA + 'name: "# caffe-guard: ignore-file"\nfoo: 1\n') == [("CG010", 3)]

    def test_line_ends_of_windows_change_nothing(self):
        text = (DATA + "# caffe-guard: ignore[CG010] ours\nfoo: 1\nbar: 1 # caffe-guard: ignore[CG010]\n").replace(
            "\n", "\r\n"
        )
        assert _lint(text) == []


class TestSettings:
    def _file(self, folder, text: str, name: str = ".caffe-guard.toml") -> str:
        path = folder / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    def test_every_setting_is_read(self, tmp_path):
        settings = load_settings(
            self._file(
                tmp_path,
                """\
                select = ["CG0", "CG1"]
                ignore = ["CG017"]
                exclude = ["old/*"]
                dialect = "ssd"
                data = false
                fail-on = "warning"
                [severity]
                CG010 = "warning"
                no-random-seed = "error"
                """,
            )
        )
        assert settings.select == ("CG0", "CG1") and settings.ignore == ("CG017",)
        assert settings.exclude == ("old/*",) and settings.dialect == "ssd"
        assert settings.data is False and settings.fail_on == Severity.WARNING
        assert settings.severity_of("CG010", "unknown-field") == Severity.WARNING
        assert settings.severity_of("CG601", "no-random-seed") == Severity.ERROR
        assert settings.severity_of("CG101", "poly-without-max-iter") is None

    @pytest.mark.parametrize(
        "text",
        [
            "nonsense",
            "selct = []",
            'select = "CG0"',
            "ignore = [1]",
            'dialect = "torch"',
            'data = "yes"',
            'fail-on = "fatal"',
            "severity = 1",
            '[severity]\nCG010 = "loud"',
            '"\\ud800" = 1',
        ],
    )
    def test_a_setting_that_cannot_be_used_is_one_line(self, tmp_path, text):
        path = self._file(tmp_path, text)
        with pytest.raises(ConfigError) as caught:
            load_settings(path)
        assert str(caught.value).startswith(path) and "\n" not in str(caught.value)

    def test_the_nearest_file_upwards_counts(self, tmp_path):
        below = tmp_path / "a" / "b"
        below.mkdir(parents=True)
        own = self._file(tmp_path, "")
        assert find_settings_file(str(below)) == own
        project = self._file(tmp_path / "a", "[tool.caffe-guard]\n", "pyproject.toml")
        assert find_settings_file(str(below)) == project

    def test_a_project_file_without_our_table_does_not_count(self, tmp_path):
        own = self._file(tmp_path, "")
        (tmp_path / "a").mkdir()
        self._file(tmp_path / "a", "[tool.ruff]\n", "pyproject.toml")
        assert find_settings_file(str(tmp_path / "a")) == own

    def test_the_command_line_reads_them_and_can_do_without(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        self._file(tmp_path, 'exclude = ["old/*"]\n[severity]\nCG010 = "warning"\n')
        (tmp_path / "old").mkdir()
        (tmp_path / "old" / "net.prototxt").write_text("foo: 1\n")
        (tmp_path / "net.prototxt").write_text(DATA + "foo: 1\n")
        assert main(["lint", "."]) == 0
        out = capsys.readouterr().out
        assert "net.prototxt:2:1: warning CG010" in out and "old/" not in out
        assert main(["lint", "--no-config", "."]) == 1
        assert "old/net.prototxt" in capsys.readouterr().out
        other = self._file(tmp_path, 'ignore = ["CG0"]\n', "other.toml")
        assert main(["lint", "--config", other, "net.prototxt"]) == 0

    def test_a_settings_file_cannot_load_code(self, tmp_path):
        with pytest.raises(ConfigError):
            load_settings(self._file(tmp_path, 'plugin = ["evil"]'))


class TestPlugins:
    RULE = """\
        \"\"\"A layer is called Bob.

        What happens
            Nothing.

        How to fix
            Call it otherwise.
        \"\"\"
        from caffe_guard.diagnostic import Finding, Severity
        CODE = "CG999"
        NAME = "no-bob"
        SEVERITY = Severity.WARNING
        SCOPE = "net"
        SINCE = "1"
        BAD = GOOD = ()
        def check(ctx):
            for layer in ctx.layers:
                if layer.name == "Bob":
                    yield Finding("a layer is called Bob", *layer.anchor)
        """

    def test_a_rule_of_the_users_own_is_run_and_can_be_chosen(self, tmp_path, monkeypatch, capsys):
        import caffe_guard.rules as rules

        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(rules, "_plugins", [])
        (tmp_path / "bob_rule.py").write_text(textwrap.dedent(self.RULE))
        (tmp_path / "net.prototxt").write_text(DATA.replace('"d" type', '"Bob" type'))
        assert main(["lint", "--plugin", "bob_rule", "--select", "CG999", "--fail-on", "warning", "net.prototxt"]) == 1
        assert "warning CG999 a layer is called Bob" in capsys.readouterr().out

    def test_a_module_that_is_no_rule_is_refused(self, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(tmp_path))
        (tmp_path / "no_rule.py").write_text("x = 1\n")
        assert main(["lint", "--plugin", "no_rule", "."]) == 2
        assert capsys.readouterr().err.startswith("caffe-guard: --plugin no_rule: ")
