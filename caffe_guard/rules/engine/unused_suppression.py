"""A suppression comment silences nothing.

What happens
    `# caffe-guard: ignore[…]` names a rule that finds nothing where the comment speaks: the fault was mended, or the
    comment stands in the wrong place. A stale comment would hide the fault when it comes back.

How to fix
    Remove the comment or the code in it. On a line of its own it speaks for the statement that follows, at the end of
    a line for that line.

When it is fine
    When only some rules run (--select, --ignore) nothing is said.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.source import Source
    from caffe_guard.suppress import Suppression

CODE = "CG007"
NAME = "unused-suppression"
SEVERITY = Severity.WARNING
SCOPE = "engine"
SINCE = "0.1.0"
BAD = (
    Example(
        'name: "a net"\n# caffe-guard: ignore[CG010] until the fork is merged\nforce_backward: true\n',
        expect=[2],
        fixed='name: "a net"\nforce_backward: true\n',
    ),
)
GOOD = (Example('name: "a net"\n# caffe-guard: ignore[CG010] our own field\nour_field: 1\n'),)


def judge(suppression: Suppression, source: Source) -> Iterator[Finding]:
    """What is unused in one comment. Called by the engine once all rules have run."""
    from caffe_guard.rules import all_rules
    from caffe_guard.rules.engine.unknown_suppression import VERBS, names_a_rule

    if suppression.verb not in VERBS:
        return
    unused = [word for word in suppression.unused() if not word or names_a_rule(word, all_rules())]
    if not unused:
        return
    what = "nothing" if unused == [""] else f"nothing of {', '.join(unused)}"
    fix = None
    if len(unused) == max(1, len(suppression.rules)):
        fix = Fix("remove the comment", [_removal(suppression, source.text)], safe=True)
    yield Finding(
        f"this comment silences {what}",
        suppression.comment_start,
        suppression.comment_end,
        help="remove it, or move it to the line or layer it is meant for",
        fix=fix,
    )


def _removal(suppression: Suppression, text: str) -> Edit:
    start, end = suppression.comment_start, suppression.comment_end
    line_start = text.rfind("\n", 0, start) + 1
    newline = text.find("\n", end)
    if not text[line_start:start].strip():
        return Edit(line_start, len(text) if newline < 0 else newline + 1, "")
    return Edit(line_start + len(text[line_start:start].rstrip()), end, "")
