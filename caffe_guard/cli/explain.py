"""``caffe-guard explain``: a rule's page, with an example and what lint says of it."""

from __future__ import annotations

import sys

from caffe_guard.cli import OK, add_format, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from caffe_guard.rules.rule import Example, Rule

DESCRIPTION = (
    "Explains a rule, named by its code (CG301) or its name: what happens, why, how to fix it, when it is fine."
)
_CAFFE = {
    "aborts": "Real Caffe aborts on it.",
    "nan": "In real Caffe it gives NaN.",
    "garbage": "In real Caffe it gives meaningless numbers.",
    "finite": "Real Caffe runs it without NaN.",
}


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="CODE", help="a rule's code or name")
    add_format(parser, "text", "json")


def run(args: argparse.Namespace) -> int:
    from caffe_guard.rules import all_rules, find_rule

    rule = find_rule(args.rule)
    if rule is None:
        import difflib

        words = [word for known in all_rules() for word in (known.code, known.name)]
        close = difflib.get_close_matches(args.rule.lower(), words, 1) or difflib.get_close_matches(
            args.rule.upper(), words, 1
        )
        hint = f", did you mean {close[0]}?" if close else ""
        return fail(f"no rule is called {args.rule!r}{hint}; see caffe-guard rules")
    if args.format == "json":
        import json

        data = {
            "version": 1,
            "code": rule.code,
            "name": rule.name,
            "severity": rule.severity.label,
            "fixable": rule.fixable,
            "since": rule.since,
            "page": page_body(rule),
        }
        sys.stdout.write(json.dumps(data, indent=2) + "\n")
    else:
        sys.stdout.write(page(rule))
    return OK


def page_body(rule: Rule) -> str:
    """The docstring with its common indentation removed."""
    import textwrap

    first, _, rest = rule.page.strip().partition("\n")
    return f"{first.strip()}\n{textwrap.dedent(rest)}".strip()


def page(rule: Rule) -> str:
    """The whole page: heading, docstring, the first bad example, its findings, and the mended text."""
    fix = "yes" if rule.fixable else "no"
    parts = [
        f"{rule.code} {rule.name}",
        f"{rule.severity.label} · fix: {fix} · since {rule.since}",
        "",
        page_body(rule),
    ]
    if rule.bad:
        example = rule.bad[0]
        parts += ["", "Example", "", _indented(example.text)]
        said = _lint_example(rule, example)
        if said:
            parts += ["", "caffe-guard lint says", "", _indented(said)]
        if example.caffe is not None:
            parts += ["", _CAFFE[example.caffe]]
        if example.fixed is not None:
            parts += ["", "Mended", "", _indented(example.fixed)]
    parts += ["", f"To silence it: # caffe-guard: ignore[{rule.code}] and the reason", ""]
    return "\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.strip("\n").split("\n"))


def _lint_example(rule: Rule, example: Example) -> str:
    """What lint says of an example, a line a finding. The files exist in memory only."""
    import os

    from caffe_guard.config import Settings
    from caffe_guard.engine import lint
    from caffe_guard.rules.examples import entry_file, example_files

    folder = os.path.join(os.getcwd(), "example")
    overlay = {os.path.join(folder, name): text for name, text in example_files(rule, example).items()}
    settings = Settings()
    settings.dialect = example.dialect
    settings.select = (rule.code,)
    result = lint([os.path.join(folder, entry_file(rule, example))], settings, overlay)
    lines = []
    for diagnostic in result.diagnostics:
        line, column = diagnostic.source.line_column(diagnostic.finding.start)
        name = os.path.basename(diagnostic.source.path)
        lines.append(
            f"{name}:{line}:{column}: {diagnostic.severity.label} {diagnostic.code} {diagnostic.finding.message}"
        )
        if diagnostic.finding.help:
            lines.append(f"  help: {diagnostic.finding.help}")
    return "\n".join(lines)
