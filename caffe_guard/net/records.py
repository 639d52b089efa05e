"""Sizes of the pictures and means that a net names, read from the first bytes of files: read-only, bounded, no library.

Nothing here raises for a file that is missing, foreign or broken: the answer is then None, unknown.
"""

from __future__ import annotations

import os
import struct

# A list of pictures is looked at up to its first line, a picture up to its header, a mean as a whole.
_LIST_BYTES = 64 * 1024
_PICTURE_BYTES = 512 * 1024
_MEAN_BYTES = 64 * 1024 * 1024


def _open_beside(written: str, base_dirs: tuple[str, ...], most: int) -> bytes | None:
    """The first bytes of a file, tried as written and then from each folder; None when there is none."""
    if not written or "\0" in written:
        return None
    candidates = [written]
    if not os.path.isabs(written):
        candidates += [os.path.join(folder, written) for folder in base_dirs]
    for candidate in candidates:
        try:
            if os.path.isfile(candidate):
                with open(candidate, "rb") as stream:
                    return stream.read(most)
        except (OSError, ValueError):
            continue
    return None


def first_picture_size(source: str, root: str, base_dirs: tuple[str, ...]) -> tuple[int, int] | None:
    """Height and width of the first picture of an ImageData list (a path and a label a line)."""
    listed = _open_beside(source, base_dirs, _LIST_BYTES)
    if listed is None:
        return None
    line = listed.split(b"\n", 1)[0].decode("utf-8", "surrogateescape").strip()
    path = line.rsplit(None, 1)[0] if " " in line or "\t" in line else line
    head = _open_beside(root + path, base_dirs, _PICTURE_BYTES)
    return None if head is None else picture_size(head)


def picture_size(head: bytes) -> tuple[int, int] | None:
    """Height and width of a PNG, JPEG, BMP or GIF picture from its first bytes."""
    try:
        if head.startswith(b"\x89PNG\r\n\x1a\n"):
            wide, high = struct.unpack(">II", head[16:24])
            return high, wide
        if head.startswith(b"BM"):
            wide, high = struct.unpack("<ii", head[18:26])
            return abs(high), wide
        if head.startswith(b"GIF8"):
            wide, high = struct.unpack("<HH", head[6:10])
            return high, wide
        if head.startswith(b"\xff\xd8"):
            return _jpeg_size(head)
    except struct.error:
        return None
    return None


def _jpeg_size(head: bytes) -> tuple[int, int] | None:
    """From the frame header (markers SOF0 to SOF15, without DHT, JPG and DAC)."""
    position = 2
    while position + 9 < len(head):
        if head[position] != 0xFF:
            return None
        marker = head[position + 1]
        if marker == 0xFF:
            position += 1
            continue
        if marker == 0x01 or 0xD0 <= marker <= 0xD8:
            position += 2
            continue
        length = struct.unpack(">H", head[position + 2 : position + 4])[0]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            high, wide = struct.unpack(">HH", head[position + 5 : position + 9])
            return high, wide
        position += 2 + length
    return None


def mean_shape(path: str, base_dirs: tuple[str, ...]) -> tuple[int, ...] | None:
    """The extents of the BlobProto in a mean file; None when the file is not there or is no BlobProto.

    Always at least three: channels, height, width last.
    """
    data = _open_beside(path, base_dirs, _MEAN_BYTES)
    if data is None:
        return None
    try:
        shape = _blob_shape(data)
    except (IndexError, ValueError):
        return None
    return shape if len(shape) >= 3 else None


def _blob_shape(data: bytes) -> tuple[int, ...]:
    """Extents from the wire format of BlobProto: fields num, channels, height, width (1 to 4) or shape (7)."""
    legacy = {1: 0, 2: 0, 3: 0, 4: 0}
    dims: list[int] = []
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, position = _varint(data, position)
            if number in legacy:
                legacy[number] = value
        elif kind == 1:
            position += 8
        elif kind == 5:
            position += 4
        elif kind == 2:
            length, position = _varint(data, position)
            if number == 7:
                dims = _dims(data[position : position + length])
            position += length
        else:
            raise ValueError("not a BlobProto")
    return tuple(dims) if dims else tuple(legacy.values())


def _dims(data: bytes) -> list[int]:
    """BlobShape.dim, packed or not."""
    dims = []
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        if key == 0x0A:
            length, position = _varint(data, position)
            end = position + length
            while position < end:
                value, position = _varint(data, position)
                dims.append(value)
        elif key == 0x08:
            value, position = _varint(data, position)
            dims.append(value)
        else:
            raise ValueError("not a BlobShape")
    return dims


def _varint(data: bytes, position: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result, position
        shift += 7
        if shift > 63:
            raise ValueError("not a varint")
