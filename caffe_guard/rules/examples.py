"""Lints a rule's examples: for `explain`, and for the tests."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.rules.rule import Example, Rule


def main_file(rule: Rule) -> str:
    """The name of the file that an example's text stands for."""
    return "solver.prototxt" if rule.scope == "solver" else "net.prototxt"


def example_files(rule: Rule, example: Example) -> dict[str, str]:
    """The files of an example by name, the judged one among them."""
    return {main_file(rule): example.text, **example.files}


def entry_file(rule: Rule, example: Example) -> str:
    """The name of the file that linting an example starts at: its solver when there is one."""
    return "solver.prototxt" if "solver.prototxt" in example_files(rule, example) else main_file(rule)
