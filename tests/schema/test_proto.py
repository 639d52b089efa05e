"""proto/caffe.proto, compiled by protobuf, against the facts and against the generated table."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from caffe_guard.schema.dialects import schema_for
from caffe_guard.schema.tables import bvlc
from tests.schema.facts import facts

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The file's descriptor, in a pool of its own: pycaffe claims the same names in the default pool."""
    protoc = pytest.importorskip("grpc_tools.protoc", reason="needs grpcio-tools, for protobuf's compiler")
    from google.protobuf import descriptor_pb2, descriptor_pool

    out = tmp_path_factory.mktemp("proto") / "caffe.desc"
    proto = os.path.join(ROOT, "proto")
    assert protoc.main(["protoc", f"-I{proto}", f"--descriptor_set_out={out}", "caffe.proto"]) == 0
    files = descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(files.file[0].SerializeToString())
    return pool.FindFileByName("caffe.proto")


def _messages(descriptors: Any) -> Iterator[Any]:
    for message in descriptors:
        yield message
        yield from _messages(message.nested_types)


def _short(name: str) -> str:
    return name[len("caffe.") :]


def _label(field: Any) -> str:
    if getattr(field, "is_repeated", None) is not None:
        return "repeated" if field.is_repeated else "required" if field.is_required else "optional"
    return {1: "optional", 2: "required", 3: "repeated"}[field.label]


_KINDS = {
    1: "double",
    2: "float",
    3: "int64",
    4: "uint64",
    5: "int32",
    8: "bool",
    9: "string",
    11: "message",
    12: "bytes",
    13: "uint32",
    14: "enum",
}


def _as_written(value: float) -> float:
    """The shortest decimal that gives a float default: protobuf rounds it to 32 bits, we keep it."""
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        if struct.unpack("<f", struct.pack("<f", short))[0] == value:
            return short
    return value


def _row(field: Any) -> dict[str, Any]:
    kind = _KINDS[field.type]
    named = field.message_type or field.enum_type
    default = field.default_value if field.has_default_value else None
    if default is not None and kind == "enum":
        default = field.enum_type.values_by_number[default].name
    elif default is not None and kind == "float":
        default = _as_written(default)
    options = field.GetOptions()
    repeated_number = _label(field) == "repeated" and kind not in ("string", "bytes", "message")
    return {
        "name": field.name,
        "number": field.number,
        "label": _label(field),
        "type": kind,
        "type_name": _short(named.full_name) if named is not None else None,
        "default": default,
        "packed": repeated_number and options.packed,
    }


def _compiled_messages(compiled: Any) -> dict[str, list[dict[str, Any]]]:
    found = _messages(compiled.message_types_by_name.values())
    return {_short(message.full_name): [_row(field) for field in message.fields] for message in found}


def _compiled_enums(compiled: Any) -> dict[str, dict[str, int]]:
    enums = list(compiled.enum_types_by_name.values())
    for message in _messages(compiled.message_types_by_name.values()):
        enums.extend(message.enum_types)
    return {_short(enum.full_name): {value.name: value.number for value in enum.values} for enum in enums}


def test_compiled_proto_is_what_caffe_has(compiled: Any) -> None:
    known = facts("schema-bvlc.json")
    messages = _compiled_messages(compiled)
    keys = ("name", "number", "label", "type", "type_name", "default", "packed")
    expected = {
        name: sorted(
            ({key: field.get(key) for key in keys} for field in message["fields"]),
            key=lambda row: row["number"],
        )
        for name, message in known["messages"].items()
    }
    assert {name: sorted(rows, key=lambda row: row["number"]) for name, rows in messages.items()} == expected
    enums = {name: {value["name"]: value["number"] for value in values} for name, values in known["enums"].items()}
    assert _compiled_enums(compiled) == enums
    # The first value is what an unset field gives.
    assert {name: next(iter(values)) for name, values in _compiled_enums(compiled).items()} == {
        name: next(iter(values)) for name, values in enums.items()
    }
    counts = {"messages": len(messages), "fields": sum(map(len, messages.values())), "enums": len(enums)}
    assert counts == known["counts"]


def test_table_is_the_compiled_proto(compiled: Any) -> None:
    keys = ("name", "number", "label", "type", "type_name", "default", "packed")
    expected = {
        name: tuple(tuple(row[key] for key in keys) for row in rows)
        for name, rows in _compiled_messages(compiled).items()
    }
    assert expected == bvlc.MESSAGES
    assert _compiled_enums(compiled) == bvlc.ENUMS


def test_defaults_are_those_of_protobuf(compiled: Any) -> None:
    schema = schema_for("bvlc")
    for message in _messages(compiled.message_types_by_name.values()):
        for field in message.fields:
            kind = _KINDS[field.type]
            if _label(field) == "repeated" or kind == "message":
                continue
            expected = field.default_value
            if kind == "enum":
                expected = field.enum_type.values_by_number[expected].name
            elif kind == "bytes":
                expected = expected.decode("latin-1")
            elif kind == "float":
                expected = _as_written(expected)
            ours = schema.message(_short(message.full_name)).fields[field.name].default_value()
            assert ours == expected, f"{message.full_name}.{field.name}"
            assert isinstance(ours, bool) == (kind == "bool")
            assert isinstance(ours, float) == (kind in ("float", "double"))


def test_required_fields_are_known() -> None:
    required = [f"{name}.{field}" for name in bvlc.MESSAGES for field in schema_for("bvlc").message(name).required]
    assert required == ["ClipParameter.min", "ClipParameter.max"]


def test_deprecated_fields_are_marked() -> None:
    expected = set()
    for entry in facts("schema-bvlc.json")["deprecated_by_convention"]:
        whole = entry["fields"] == ["(whole message)"]
        expected |= {entry["message"]} if whole else {f"{entry['message']}.{field}" for field in entry["fields"]}
    assert set(bvlc.DEPRECATED) == expected


def test_layer_types_are_those_that_caffe_registers() -> None:
    assert sorted(bvlc.LAYER_TYPES) == sorted(facts("layers.json")["layers"])
