"""Tokens of protobuf's text format: every character of any text belongs to exactly one token.

The pieces of the grammar (blanks, names, numbers, strings) stand here once; the parser builds its own patterns from
them. What C++'s tokenizer accepts decides, since that is what Caffe runs (protobuf, io/tokenizer.cc): ASCII blanks,
``#`` comments, no line break inside a string, no letter directly after a number.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

WHITESPACE = "whitespace"
COMMENT = "comment"
NAME = "name"
NUMBER = "number"
STRING = "string"
PUNCTUATION = "punctuation"
CONFLICT_MARKER = "conflict marker"
BAD_NUMBER = "bad number"
BAD_STRING = "unterminated string"
OTHER = "other"
END = "end"

BLANK = r"[ \t\r\n\v\f]"
# One comment an iteration, blanks in between. No two parts can match the same character in two ways: a pattern that
# could would take exponential time to fail.
TRIVIA = rf"{BLANK}*(?:\#[^\n]*(?:\n{BLANK}*|\Z))*"
NAME_PATTERN = r"[A-Za-z_][A-Za-z0-9_]*"
# A leading 0 makes a number octal: 08 is none, and 01.5 is neither octal nor decimal.
_DECIMAL = r"(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fF]?"
NUMBER_PATTERN = rf"(?:0[xX][0-9a-fA-F]+|0[0-7]+|{_DECIMAL})(?![A-Za-z0-9_.])"
_IN_DOUBLE = r"""[^"\\\n\0]*(?:\\[^\n\0][^"\\\n\0]*)*"""
_IN_SINGLE = r"""[^'\\\n\0]*(?:\\[^\n\0][^'\\\n\0]*)*"""
STRING_PATTERN = rf"""(?:"{_IN_DOUBLE}"|'{_IN_SINGLE}')"""
# Git writes seven of a kind at the start of a line, alone or before a blank.
CONFLICT_PATTERN = r"^(?:<{7}|\|{7}|={7}|>{7})(?:[ \t][^\n]*|(?=[\r\n])|\Z)"

_TOKEN = rf"""(?P<space>{BLANK}+)
    |(?P<comment>\#[^\n]*)
    |(?P<name>{NAME_PATTERN})
    |(?P<number>{NUMBER_PATTERN})
    |(?P<string>{STRING_PATTERN})
    |(?P<conflict>{CONFLICT_PATTERN})
    |(?P<punctuation>[{{}}<>\[\]:;,\-])
    |(?P<badnumber>\.?[0-9](?:[eE][+-][A-Za-z0-9_.]|[A-Za-z0-9_.])*)
    |(?P<badstring>"{_IN_DOUBLE}|'{_IN_SINGLE})
    |(?P<other>[^\x00-\x7f]+|//[^\n]*|.)"""

_KINDS = {
    "space": WHITESPACE,
    "comment": COMMENT,
    "name": NAME,
    "number": NUMBER,
    "string": STRING,
    "conflict": CONFLICT_MARKER,
    "punctuation": PUNCTUATION,
    "badnumber": BAD_NUMBER,
    "badstring": BAD_STRING,
    "other": OTHER,
}


class Token:
    """A token's kind and its half-open extent in the text."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Token({self.kind}, {self.start}, {self.end})"


_compiled: list[re.Pattern[str]] = []


def _token_pattern() -> re.Pattern[str]:
    """The pattern of all tokens, compiled when it is first needed: many files never leave the parser's fast path."""
    if not _compiled:
        _compiled.append(re.compile(_TOKEN, re.VERBOSE | re.DOTALL | re.MULTILINE))
    return _compiled[0]


def token_at(text: str, position: int) -> Token:
    """The token that begins at ``position``; kind END (empty) at the end of the text."""
    match = _token_pattern().match(text, position)
    if match is None:
        return Token(END, position, position)
    assert match.lastgroup is not None
    return Token(_KINDS[match.lastgroup], position, match.end())


def significant_token_at(text: str, position: int) -> Token:
    """The first token at or after ``position`` that is neither blank nor comment."""
    token = token_at(text, position)
    while token.kind is WHITESPACE or token.kind is COMMENT:
        token = token_at(text, token.end)
    return token


def tokens(text: str) -> Iterator[Token]:
    """All tokens of the text, blanks and comments included; joined they are the text."""
    position = 0
    while position < len(text):
        token = token_at(text, position)
        yield token
        position = token.end


def comments(text: str) -> Iterator[Token]:
    """The comments of the text in order."""
    for token in tokens(text):
        if token.kind is COMMENT:
            yield token
