"""The text of one file: bytes to characters and back, offsets to lines and columns."""

from __future__ import annotations

import bisect

BYTE_ORDER_MARK = "\ufeff"


class Source:
    """A decoded file.

    Bytes that are not UTF-8 become lone surrogates (``surrogateescape``), so that :meth:`encode` gives back exactly
    the bytes that were read. Line ends are not translated; a line ends at ``\\n``.
    """

    __slots__ = ("_line_starts", "path", "text")

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._line_starts: list[int] | None = None

    @classmethod
    def from_bytes(cls, path: str, data: bytes) -> Source:
        """Decode the content of a file. Never fails: odd bytes are kept as surrogates."""
        return cls(path, data.decode("utf-8", "surrogateescape"))

    def encode(self) -> bytes:
        """The bytes of the text; equal to what :meth:`from_bytes` was given."""
        return self.text.encode("utf-8", "surrogateescape")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Source) and self.path == other.path and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.path)

    def __repr__(self) -> str:
        return f"Source({self.path!r}, {len(self.text)} characters)"

    def _starts(self) -> list[int]:
        if self._line_starts is None:
            starts = [0]
            find = self.text.find
            position = find("\n")
            while position >= 0:
                starts.append(position + 1)
                position = find("\n", position + 1)
            self._line_starts = starts
        return self._line_starts

    def line_column(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1, the column in characters."""
        starts = self._starts()
        line = bisect.bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line_text(self, line: int) -> str:
        """The text of a line (from 1) without its line end."""
        starts = self._starts()
        start = starts[line - 1]
        end = starts[line] if line < len(starts) else len(self.text)
        return self.text[start:end].rstrip("\r\n")

    def line_start(self, line: int) -> int:
        """Offset of the first character of a line (from 1)."""
        return self._starts()[line - 1]

    def line_count(self) -> int:
        """Number of lines; a text without a newline has one."""
        return len(self._starts())
