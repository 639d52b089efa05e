"""Text of the user's files as reports may show it: it must not drive a terminal, nor break XML or an encoding."""

from __future__ import annotations


def printable(text: str, also: str = "") -> str:
    """The text with U+FFFD for control characters and lone surrogates, but for those in ``also``."""
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() or character in also else "\ufffd" for character in text)
