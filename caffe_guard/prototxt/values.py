"""What a scalar of the text means: integers, floats, strings with their escapes, as protobuf reads them."""

from __future__ import annotations

import re

from caffe_guard.prototxt.lexer import STRING_PATTERN

# Patterns are compiled by `re` on first use: most files have no escapes.
_ESCAPE = (
    rb"""(?s)\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([abfnrtv\\?'"])|(.?))"""
)
_SIMPLE = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b"?": b"?",
    b"'": b"'",
    b'"': b'"',
}
_NON_FINITE = {"inf": float("inf"), "infinity": float("inf"), "nan": float("nan")}
# Longer literals cannot fit any integer type, and int() of millions of digits takes quadratic time.
_MOST_DIGITS = 400


def string_value(raw: str) -> str:
    """The text of a string literal, or of several adjacent ones, escapes resolved.

    Bytes that are not UTF-8 come out as surrogates. Raises ValueError for an escape that protobuf does not know.
    """
    if "\\" not in raw and raw.count(raw[0]) == 2 and raw[-1] == raw[0]:
        return raw[1:-1]
    parts = []
    for match in re.finditer(STRING_PATTERN, _without_comments(raw)):
        body = match.group()[1:-1]
        if "\\" in body:
            data = re.sub(_ESCAPE, _unescape, body.encode("utf-8", "surrogateescape"))
            body = data.decode("utf-8", "surrogateescape")
        parts.append(body)
    return "".join(parts)


def _without_comments(raw: str) -> str:
    """Adjacent strings with the comments between them blanked; a ``#`` inside a string stays."""
    if "#" not in raw:
        return raw
    return re.sub(rf"({STRING_PATTERN})|#[^\n]*", lambda match: match.group(1) or "", raw)


def _unescape(match: re.Match[bytes]) -> bytes:
    octal, hexadecimal, short, long, simple, unknown = match.groups()
    if octal is not None:
        return bytes([int(octal, 8) & 0xFF])
    if hexadecimal is not None:
        return bytes([int(hexadecimal, 16)])
    if short is not None or long is not None:
        code = int(short or long, 16)
        if code > 0x10FFFF:
            raise ValueError(f"\\U{long.decode()} is beyond Unicode")
        return chr(code).encode("utf-8", "surrogatepass")
    if simple is not None:
        return _SIMPLE[simple]
    raise ValueError(f"\\{unknown.decode('utf-8', 'replace')} is not an escape that protobuf knows")


def integer_value(raw: str) -> int:
    """A decimal, hexadecimal (0x) or octal (leading 0) integer, blanks allowed after a minus sign.

    Raises ValueError when the text is not an integer (``3.0`` and ``1e3`` are not) or absurdly long.
    """
    negative = raw.startswith("-")
    digits = raw[1:].lstrip(" \t\r\n\v\f") if negative else raw
    if len(digits) > _MOST_DIGITS:
        raise ValueError("an integer of that many digits fits no type")
    if digits[:2] in ("0x", "0X"):
        number = int(digits[2:], 16)
    elif not digits.isdigit():
        raise ValueError(f"{digits} is not an integer")
    elif digits[0] == "0":
        number = int(digits, 8)
    else:
        number = int(digits)
    return -number if negative else number


def float_value(raw: str) -> float:
    """A float as protobuf reads it: ``1``, ``.5``, ``1.``, ``1e-3``, ``1.5f``, ``-inf``, ``nan`` in any case.

    Raises ValueError when the text is not a float.
    """
    negative = raw.startswith("-")
    digits = raw[1:].lstrip(" \t\r\n\v\f") if negative else raw
    if digits[:1].isdigit() or digits[:1] == ".":
        if digits[:2] in ("0x", "0X"):
            raise ValueError("a float cannot be written in hexadecimal")
        if digits[0] == "0" and digits.isdigit() and len(digits) > 1:
            raise ValueError("a leading 0 makes it octal, and a float cannot be octal")
        if digits[-1] in "fF":
            digits = digits[:-1]
        number = float(digits)
    else:
        word = digits.lower()
        if word not in _NON_FINITE:
            raise ValueError(f"{digits} is not a number")
        number = _NON_FINITE[word]
    return -number if negative else number
