"""Help for words the schema does not know: the nearest name, and where a misplaced field belongs."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from caffe_guard.schema.types import MessageType

_MOST_NAMED = 3


def nearest(word: str, names: Iterable[str]) -> str | None:
    """The name that a mistyped word most likely means; None when none is near.

    Words that differ by case, hyphens or underscores only are the same word; otherwise difflib decides.
    """
    import difflib

    names = list(names)
    plain = _plain(word)
    for name in names:
        if _plain(name) == plain:
            return name
    close = difflib.get_close_matches(word, names, 1, cutoff=0.75)
    return close[0] if close else None


def same_word(one: str, other: str) -> bool:
    """Whether two words differ by case, hyphens and underscores only."""
    return _plain(one) == _plain(other)


def _plain(word: str) -> str:
    return word.lower().replace("_", "").replace("-", "")


def submessages_with(field_name: str, type: MessageType) -> list[str]:
    """The fields of a message whose own message has the field: where one that stands too far out belongs."""
    found = []
    for field in type.fields.values():
        if field.kind == "message" and field_name in field.message_type().fields:
            found.append(field.name)
    return found


def listed(words: Iterable[str], last: str = "or") -> str:
    """``a``, ``a or b``, ``a, b or c``; more than a few are cut with an ellipsis."""
    words = list(words)
    if len(words) > _MOST_NAMED:
        return ", ".join(words[:_MOST_NAMED]) + ", …"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"
