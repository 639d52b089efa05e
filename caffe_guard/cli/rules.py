"""``caffe-guard rules``: the list of all rules."""

from __future__ import annotations

import sys

from caffe_guard.cli import OK, add_format

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

DESCRIPTION = "Lists every rule: code, severity, name, whether --fix mends it, and what it finds."


def configure(parser: argparse.ArgumentParser) -> None:
    add_format(parser, "text", "json", "markdown")


def run(args: argparse.Namespace) -> int:
    from caffe_guard.rules import all_rules

    rules = all_rules()
    if args.format == "json":
        import json

        data = [
            {
                "code": rule.code,
                "name": rule.name,
                "severity": rule.severity.label,
                "scope": rule.scope,
                "fixable": rule.fixable,
                "since": rule.since,
                "summary": rule.summary,
            }
            for rule in rules
        ]
        sys.stdout.write(json.dumps({"version": 1, "rules": data}, indent=2) + "\n")
    elif args.format == "markdown":
        sys.stdout.write(markdown_table())
    else:
        width = max(len(rule.name) for rule in rules)
        for rule in rules:
            fix = "fix" if rule.fixable else "   "
            sys.stdout.write(f"{rule.code}  {rule.severity.label:7}  {fix}  {rule.name:{width}}  {rule.summary}\n")
    return OK


def markdown_table() -> str:
    """The table that stands in the README."""
    from caffe_guard.rules import all_rules

    lines = ["| code | name | severity | fix | finds |", "|---|---|---|---|---|"]
    for rule in all_rules():
        fix = "yes" if rule.fixable else ""
        lines.append(f"| {rule.code} | {rule.name} | {rule.severity.label} | {fix} | {rule.summary} |")
    return "\n".join(lines) + "\n"
