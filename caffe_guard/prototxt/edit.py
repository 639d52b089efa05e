"""Edits of a text at the level of fields: where a new field goes, what goes with one that is removed.

An edit is (start, end, text) in the offsets of the unchanged text. Indentation and line ends follow what is there;
comments stay unless they stand on the line of what is removed.
"""

from __future__ import annotations

import re

from caffe_guard.diagnostic import Edit
from caffe_guard.prototxt.lexer import TRIVIA

# Compiled on first use: most runs edit nothing.
_BLANKS = r"[ \t]*"
# Blanks, lines and comments may stand before the separator of a statement.
_SEPARATOR = rf"({TRIVIA})[;,]"


def line_ending(text: str) -> str:
    """The line end the text uses: that of its first line."""
    newline = text.find("\n")
    return "\r\n" if newline > 0 and text[newline - 1] == "\r" else "\n"


def indent_at(text: str, offset: int) -> str:
    """The blanks at the start of the line that holds the offset."""
    line_start = text.rfind("\n", 0, offset) + 1
    match = re.compile(_BLANKS).match(text, line_start)
    assert match is not None
    return match.group()


def insert_after(text: str, name_start: int, end: int, new: str) -> Edit:
    """A new statement on the line after the one that runs from ``name_start`` to ``end``.

    A comment at the end of that line stays with it. When other statements share the line, the new one follows on it.
    """
    separator = re.compile(_SEPARATOR).match(text, end)
    end = separator.end() if separator else end
    newline = text.find("\n", end)
    rest = text[end : newline if newline >= 0 else len(text)]
    line_start = text.rfind("\n", 0, name_start) + 1
    alone = not text[line_start:name_start].strip() and (not rest.strip() or rest.lstrip().startswith("#"))
    if not alone:
        return Edit(end, end, " " + new)
    position = end + len(rest.rstrip("\r")) if newline >= 0 else len(text)
    ending = line_ending(text)
    return Edit(position, position, ending + _reindent(new, indent_at(text, name_start), ending))


def insert_into(text: str, start: int, end: int, new: str) -> Edit:
    """A new statement at the end of the message whose braces run from ``start`` to ``end``.

    In a message on one line it goes before the closing brace, else on a line of its own, indented as the message's
    first statement is.
    """
    close = end - 1 if text[end - 1 : end] in ("}", ">") else end
    body = text[start + 1 : close]
    if "\n" not in body:
        before = " " if body[-1:] not in (" ", "\t") else ""
        return Edit(close, close, f"{before}{new} ")
    content_end = start + 1 + len(body.rstrip(" \t"))
    first = start + 1 + body.index("\n") + 1
    while (
        first < close
        and text[first : first + 1] in "\r\n \t"
        and not text[first:close].lstrip(" \t\r\n").startswith("#")
    ):
        first += 1
    indent = indent_at(text, first) if text[first:close].strip() else indent_at(text, start) + "  "
    ending = line_ending(text)
    lead = "" if text[content_end - 1 : content_end] == "\n" else ending
    tail = ending + (indent_at(text, start) if lead else "")
    # A closing brace behind the last statement goes to a line of its own, its blanks with it.
    return Edit(
        content_end, close if lead else content_end, lead + indent + _reindent(new, indent, ending).lstrip() + tail
    )


def remove(text: str, name_start: int, end: int) -> Edit:
    """The statement from ``name_start`` to ``end`` and its separator, and its line when nothing else is on it."""
    separator = re.compile(_SEPARATOR).match(text, end)
    if separator and "\n" in separator.group(1):
        # The separator goes, what stands before it stays.
        return Edit(name_start, separator.end(), separator.group(1))
    end = separator.end() if separator else end
    line_start = text.rfind("\n", 0, name_start) + 1
    newline = text.find("\n", end)
    line_end = newline + 1 if newline >= 0 else len(text)
    rest = text[end:line_end].strip()
    if not text[line_start:name_start].strip() and (not rest or rest.startswith("#")):
        return Edit(line_start, line_end, "")
    blanks = re.compile(_BLANKS).match(text, end)
    assert blanks is not None
    return Edit(name_start, blanks.end(), "")


def _reindent(new: str, indent: str, ending: str) -> str:
    return ending.join(indent + line if line else line for line in new.split("\n"))
