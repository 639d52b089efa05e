"""A suppression comment cannot be understood: it names no rule that exists, or its verb is unknown.

What happens
    The comment silences nothing, or not what was meant.

How to fix
    Write `# caffe-guard: ignore[CODE] reason` with a code, the beginning of a code, or a rule's name;
    `ignore-file[CODE]` speaks for the whole file. `caffe-guard rules` lists the codes.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from caffe_guard.rules.rule import Rule
    from caffe_guard.source import Source
    from caffe_guard.suppress import Suppression

CODE = "CG008"
NAME = "unknown-suppression"
SEVERITY = Severity.WARNING
SCOPE = "engine"
SINCE = "0.1.0"
BAD = (
    Example('# caffe-guard: ignore[CG999]\nname: "a net"\n', expect=[1]),
    Example('# caffe-guard: disable=CG010\nname: "a net"\n', expect=[1]),
)
GOOD = (Example('# caffe-guard: ignore-file[CG010] a fork of our own\nname: "a net"\nour_field: 1\n'),)
VERBS = ("ignore", "ignore-file")


def names_a_rule(word: str, rules: Iterable[Rule]) -> bool:
    """Whether a word of a comment is a rule's code, the beginning of one, or a name."""
    return any(rule.code.startswith(word.upper()) or rule.name == word.lower() for rule in rules)


def judge(suppression: Suppression, source: Source) -> Iterator[Finding]:
    """What cannot be understood in one comment. Called by the engine."""
    from caffe_guard.rules import all_rules

    start, end = suppression.comment_start, suppression.comment_end
    if suppression.verb not in VERBS:
        yield Finding(
            f"caffe-guard does not know {suppression.verb!r}",
            start,
            end,
            help="write ignore[CODE] or ignore-file[CODE]",
        )
        return
    rules = all_rules()
    for word in suppression.rules:
        if not names_a_rule(word, rules):
            yield Finding(f"no rule is called {word!r}", start, end, help="caffe-guard rules lists them")
