"""``caffe-guard lint``: judge solvers and nets, report, mend."""

from __future__ import annotations

import os
import sys

from caffe_guard.cli import FOUND, OK, UNUSABLE, fail
from caffe_guard.config import (
    ConfigError,
    Settings,
    check_dialect,
    find_settings_file,
    load_settings,
)
from caffe_guard.diagnostic import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from caffe_guard.engine import Result

DESCRIPTION = """\
Judges solver and net prototxt files as Caffe would read them, without Caffe.

A PATH is a file, a folder (searched for *.prototxt), or - for standard input. A solver brings its nets along.
Exit code: 0 nothing at or above --fail-on, 1 findings, 2 nothing could be judged."""
FORMATS = ("text", "json", "sarif", "github", "junit")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", metavar="PATH", help="file, folder, or - for standard input")
    add("--select", metavar="RULES", action="append", default=[], help="report only these codes, prefixes or names")
    add("--ignore", metavar="RULES", action="append", default=[], help="do not report these codes, prefixes or names")
    add("--fail-on", choices=("error", "warning", "info"), help="the least severity that gives exit code 1 (error)")
    add("--dialect", metavar="NAME", help="the Caffe the files are for: auto (default), bvlc, ssd, nvcaffe, intel, …")
    add("--format", choices=FORMATS, default="text", help="the form of the report (default: text)")
    add("--fix", action="store_true", help="make the safe fixes in the files")
    add("--unsafe-fixes", action="store_true", help="with --fix or --diff: also fixes that change what Caffe computes")
    add("--diff", action="store_true", help="show what --fix would change, and change nothing")
    add("--stdin-filename", metavar="PATH", help="the path that standard input stands for")
    add("--config", metavar="FILE", help="use this settings file")
    add("--no-config", action="store_true", help="use no settings file")
    add("--no-data", action="store_true", help="do not look at mean files, image lists and records that the net names")
    add("--plugin", metavar="MODULE", action="append", default=[], help="load a rule module of your own")
    add("--jobs", type=int, default=0, metavar="N", help="number of processes (default: by the amount of work)")
    add("--quiet", "-q", action="store_true", help="report errors and warnings only")
    add("--color", choices=("auto", "always", "never"), default="auto", help="colour the text report")


def run(args: argparse.Namespace) -> int:
    # Plugins first: options and settings may name their rules.
    for plugin in args.plugin:
        problem = _load_plugin(plugin)
        if problem is not None:
            return fail(problem)
    try:
        settings = _settings(args)
    except ConfigError as error:
        return fail(str(error))
    return _lint(args, settings)


def _settings(args: argparse.Namespace) -> Settings:
    path = args.config
    if path is None and not args.no_config:
        path = find_settings_file(os.getcwd())
    settings = load_settings(None if args.no_config else path)
    if args.select:
        settings.select = _words(args.select)
    if args.ignore:
        settings.ignore = settings.ignore + _words(args.ignore)
    for word in (*settings.select, *settings.ignore, *settings.severities):
        _check_rule_word(word)
    if args.fail_on:
        settings.fail_on = Severity.parse(args.fail_on)
    if args.dialect:
        settings.dialect = check_dialect(args.dialect, "--dialect")
    if args.no_data:
        settings.data = False
    if args.unsafe_fixes and not (args.fix or args.diff):
        raise ConfigError("--unsafe-fixes needs --fix or --diff")
    if args.jobs < 0:
        raise ConfigError("--jobs takes 0 or more")
    return settings


def _words(options: list[str]) -> tuple[str, ...]:
    return tuple(word.strip() for option in options for word in option.split(",") if word.strip())


def _check_rule_word(word: str) -> None:
    from caffe_guard.config import matches
    from caffe_guard.rules import all_rules

    if not any(matches(word, rule.code, rule.name) for rule in all_rules()):
        import difflib

        names = [name for rule in all_rules() for name in (rule.code, rule.name)]
        close = difflib.get_close_matches(word, names, 1)
        hint = f", did you mean {close[0]}?" if close else ""
        raise ConfigError(f"no rule is called {word!r}{hint}; see caffe-guard rules")


def _load_plugin(name: str) -> str | None:
    from caffe_guard.rules import load_plugin

    try:
        load_plugin(name)
    except Exception as error:  # the user's own code may fail in any way
        return f"--plugin {name}: {type(error).__name__}: {error}"
    return None


def _lint(args: argparse.Namespace, settings: Settings) -> int:
    from caffe_guard.engine import lint

    paths: list[str] = list(args.paths)
    overlay: dict[str, str] = {}
    if "-" in paths:
        name = args.stdin_filename or "<stdin>"
        overlay[name] = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
        paths = [name if path == "-" else path for path in paths]
    result = lint(paths, settings, overlay, args.jobs)
    if args.fix or args.diff:
        return _fix(args, settings, paths, overlay, result)
    _report(args, settings, result)
    return _exit_code(result, settings)


def _fix(
    args: argparse.Namespace, settings: Settings, paths: list[str], overlay: dict[str, str], result: Result
) -> int:
    from caffe_guard import files, fixing
    from caffe_guard.engine import lint

    originals = dict(result.sources)
    try:
        fixed = fixing.fix(
            result, lambda texts: lint(paths, settings, {**overlay, **texts}, args.jobs), args.unsafe_fixes
        )
    except fixing.FixError as error:
        return fail(str(error))
    if args.diff:
        # The findings stay what they are: nothing has been mended.
        for path in sorted(fixed.texts):
            _write_exactly(fixing.unified_diff(path, originals[path].text, fixed.texts[path]))
        count = len(fixed.applied)
        sys.stderr.write(f"caffe-guard: --fix would mend {count} {'finding' if count == 1 else 'findings'}\n")
        _report(args, settings, result, to_stderr=args.format == "text")
        return _exit_code(result, settings)
    for path, text in overlay.items():
        # Who pipes a text through wants it back, mended or not.
        _write_exactly(fixed.texts.get(path, text))
    written = 0
    for path in sorted(fixed.texts):
        if path in overlay:
            continue
        try:
            if files.read_source(path).text != originals[path].text:
                return fail(f"{path}: was changed by somebody else meanwhile; it was left alone")
            files.replace_file(path, fixed.texts[path].encode("utf-8", "surrogateescape"))
        except (OSError, files.InputError) as error:
            return fail(f"{path}: cannot be written: {getattr(error, 'strerror', None) or error}")
        written += 1
    count = len(fixed.applied)
    if written:
        sys.stderr.write(
            f"caffe-guard: mended {count} {'finding' if count == 1 else 'findings'}"
            f" in {written} {'file' if written == 1 else 'files'}\n"
        )
    _report(args, settings, fixed.result, to_stderr=bool(overlay))
    return _exit_code(fixed.result, settings)


def _write_exactly(text: str) -> None:
    """A text of the user's to standard output, with the bytes it was read from."""
    sys.stdout.flush()
    sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
    sys.stdout.buffer.flush()


def _report(args: argparse.Namespace, settings: Settings, result: Result, to_stderr: bool = False) -> None:
    stream = sys.stderr if to_stderr else sys.stdout
    if args.quiet:
        result.diagnostics = [one for one in result.diagnostics if one.severity > Severity.INFO]
    if args.format == "text":
        from caffe_guard.report.text import render

        safe = unsafe = 0
        if not args.fix:
            fixes = [one.finding.fix for one in result.diagnostics if one.finding.fix is not None]
            safe = sum(1 for fix in fixes if fix.safe)
            unsafe = len(fixes) - safe
        stream.write(render(result, _colour(args.color, stream), safe, unsafe))
    elif args.format == "json":
        from caffe_guard.report.json import render as render_json

        stream.write(render_json(result))
    elif args.format == "sarif":
        from caffe_guard.report.sarif import render as render_sarif

        stream.write(render_sarif(result))
    elif args.format == "github":
        from caffe_guard.report.github import render as render_github

        stream.write(render_github(result))
    else:
        from caffe_guard.report.junit import render as render_junit

        stream.write(render_junit(result, settings.fail_on))


def _colour(choice: str, stream: object) -> bool:
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(getattr(stream, "isatty", lambda: False)())


def _exit_code(result: Result, settings: Settings) -> int:
    if result.judged == 0:
        return UNUSABLE
    return FOUND if any(one.severity >= settings.fail_on for one in result.diagnostics) else OK
