"""Does Caffe's own reader take this text? Calls caffe::ReadProtoFromTextFile (src/caffe/util/io.cpp) itself.

pycaffe does not expose it, and Python's text_format is a different reader with other tolerances; so the C++
functions are called through ctypes. Where their symbols are missing, protobuf's Python reader answers and the
answer says so ("reader": "python").
"""

from __future__ import annotations

import ctypes
import re

import caffe

_STRING = "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
_UPGRADE = {
    "NetParameter": "_ZN5caffe30ReadNetParamsFromTextFileOrDieE" + _STRING + "PNS_12NetParameterE",
    "SolverParameter": "_ZN5caffe33ReadSolverParamsFromTextFileOrDieE" + _STRING + "PNS_15SolverParameterE",
}
_PROBLEM = re.compile(r"text-format ([\w.]+): (?:(\d+):(\d+): )?(.*)")
_ROOM = 1 << 16  # bytes; the largest of Caffe's message objects is below 1 KiB


class _StdString(ctypes.Structure):
    """A std::string of libstdc++'s C++11 ABI, for passing by const reference."""

    _fields_ = [("data", ctypes.c_char_p), ("size", ctypes.c_size_t), ("local", ctypes.c_char * 16)]


def _construct(library, kind):
    """A new caffe::<kind>; protobuf changed the constructor's signature between releases."""
    room = ctypes.create_string_buffer(_ROOM)
    prefix = f"_ZN5caffe{len(kind)}{kind}C1E"
    for suffix, extra in (("PN6google8protobuf5ArenaE", (None,)), ("v", ())):
        try:
            constructor = getattr(library, prefix + suffix)
        except AttributeError:
            continue
        constructor(room, *extra)
        return room
    raise AttributeError(prefix)


def parse(request):
    """{"result": "parses"|"rejects", "reader", "text"}; "text" is what Caffe read, printed by Caffe (upgraded if asked)."""
    kind, path = request["kind"], "asked.prototxt"
    with open(path, "wb") as stream:
        stream.write(request["text"].encode("utf-8", "surrogateescape"))
    library = ctypes.CDLL(caffe._caffe.__file__)
    try:
        message = _construct(library, kind)
        read = library._ZN5caffe21ReadProtoFromTextFileEPKcPN6google8protobuf7MessageE
        write = library._ZN5caffe20WriteProtoToTextFileERKN6google8protobuf7MessageEPKc
    except AttributeError:
        return _parse_in_python(kind, request["text"])
    read.restype = ctypes.c_bool
    if not read(path.encode(), message):
        return {"result": "rejects", "reader": "caffe"}
    if request.get("upgrade"):
        message = _construct(library, kind)
        name = path.encode()
        getattr(library, _UPGRADE[kind])(ctypes.byref(_StdString(name, len(name), b"")), message)
    write(message, b"read.prototxt")
    with open("read.prototxt", "rb") as stream:
        return {"result": "parses", "reader": "caffe", "text": stream.read().decode("utf-8", "surrogateescape")}


def _parse_in_python(kind, text):
    from caffe.proto import caffe_pb2
    from google.protobuf import text_format

    message = getattr(caffe_pb2, kind)()
    try:
        text_format.Merge(text, message)
    except text_format.ParseError as error:
        return {"result": "rejects", "reader": "python", "problems": [_problem(str(error))]}
    return {"result": "parses", "reader": "python", "text": text_format.MessageToString(message)}


def _problem(text):
    match = re.match(r"(\d+):(\d+) : (.*)", text, re.S)
    if not match:
        return {"line": None, "column": None, "message": text}
    return {"line": int(match.group(1)), "column": int(match.group(2)), "message": match.group(3)}


def problems(log):
    """libprotobuf's complaints in the log: [{"line","column","message"}]; line and column count from 1, or are None."""
    found = []
    for match in _PROBLEM.finditer(log):
        line, column = match.group(2), match.group(3)
        found.append(
            {"line": int(line) if line else None, "column": int(column) if column else None, "message": match.group(4)}
        )
    return found
