"""The lossless tree: fields over extents of the text, and what could not be read.

Nodes hold offsets only; the text itself is never copied, changed or normalised. Nothing here is changed after parsing.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

# Kinds of a field's value.
STRING = "string"
NUMBER = "number"
NAME = "name"
MESSAGE = "message"
LIST = "list"
MISSING = "missing"

# Kinds of a syntax problem.
BAD_SYNTAX = "syntax"
UNBALANCED = "unbalanced"
MERGE_CONFLICT = "merge-conflict"
BYTE_ORDER_MARK = "byte-order-mark"


class Field:
    """One ``name: value`` or ``name { … }`` of the text.

    ``start``/``end`` is the value (adjacent strings together, a message with its braces); the statement itself runs
    from ``name_start`` to ``end``. ``children`` are a message's fields, or a list's items: fields again, with the name
    of the list. A message that is never closed ends where its last child ends. ``name`` is empty for a ``{`` that
    stands alone, and in brackets for an extension.
    """

    __slots__ = ("children", "end", "kind", "name", "name_end", "name_start", "start")

    def __init__(
        self, name: str, name_start: int, name_end: int, kind: str, start: int, end: int, children: list[Field] | None
    ) -> None:
        self.name = name
        self.name_start = name_start
        self.name_end = name_end
        self.kind = kind
        self.start = start
        self.end = end
        self.children = children

    def __repr__(self) -> str:
        return f"Field({self.name!r}, {self.kind}, {self.name_start}..{self.end})"


class SyntaxProblem:
    """A place that protobuf's parser would refuse. ``related`` is a second place with a word about it."""

    __slots__ = ("end", "help", "kind", "message", "related", "replacement", "start")

    def __init__(
        self,
        kind: str,
        start: int,
        end: int,
        message: str,
        help: str | None = None,
        related: tuple[str, int, int] | None = None,
        replacement: str | None = None,
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.message = message
        self.help = help
        self.related = related
        self.replacement = replacement

    def __repr__(self) -> str:
        return f"SyntaxProblem({self.kind}, {self.start}..{self.end}, {self.message!r})"


class File:
    """A parsed text: its top-level fields and its syntax problems, both in the text's order."""

    __slots__ = ("fields", "problems", "text")

    def __init__(self, text: str, fields: list[Field], problems: list[SyntaxProblem]) -> None:
        self.text = text
        self.fields = fields
        self.problems = problems

    def walk(self) -> Iterator[Field]:
        """Every field of the tree, a parent before its children, without recursion."""
        stack = [iter(self.fields)]
        while stack:
            for field in stack[-1]:
                yield field
                if field.children:
                    stack.append(iter(field.children))
                    break
            else:
                stack.pop()

    def print(self) -> str:
        """The text again, put together from the nodes and what lies between them.

        Each piece is taken from its node's own extent, so a wrong extent shows as a wrong text.
        """
        pieces = []
        position = 0
        for field in self.walk():
            # A list's items share the list's name, which is printed already.
            if field.name_start >= position:
                pieces.append(self.text[position : field.name_start])
                pieces.append(self.text[field.name_start : field.name_end])
                position = field.name_end
            end = field.start if field.children else field.end
            if end > position:
                pieces.append(self.text[position:end])
                position = end
        pieces.append(self.text[position:])
        return "".join(pieces)
