"""Each fork's schema is BVLC's with the differences that the facts list."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from caffe_guard.net.upgrade import V1_LAYER_TYPES
from caffe_guard.schema.dialects import (
    DIALECTS,
    REPOSITORIES,
    layer_types,
    layer_types_known,
    owners_of_enum_value,
    owners_of_field,
    owners_of_layer_type,
    schema_for,
)
from tests.schema.facts import enums_of, facts, messages_of

FORKS = [name for name in DIALECTS if name != "bvlc"]
V1 = "V1LayerParameter"
_LATER_REPEATED = ("pad", "kernel_size", "stride", "dilation")


def _bvlc() -> tuple[dict[str, dict[str, dict[str, Any]]], dict[str, dict[str, int]]]:
    known = facts("schema-bvlc.json")
    return messages_of({name: message["fields"] for name, message in known["messages"].items()}), enums_of(
        known["enums"]
    )


def _expected(fork: str) -> tuple[dict[str, dict[str, dict[str, Any]]], dict[str, dict[str, int]]]:
    """Messages and enums of a fork: the facts' differences applied to BVLC's."""
    given = facts("schema-forks.json")["forks"][fork]
    messages, enums = copy.deepcopy(_bvlc())
    for message, names in given["absent_fields"].items():
        for name in names:
            del messages[message][name]
    for message, changes in given["changed_fields"].items():
        for name, change in changes.items():
            for key, values in change.items():
                if key != "implicit_default":
                    messages[message][name][key] = values["fork"]
    for message, fields in messages_of(given["new_fields"]).items():
        assert not set(fields) & set(messages[message])
        messages[message].update(fields)
    for name in given["absent_messages"]:
        del messages[name]
    for name, fields in messages_of(given["new_messages"]).items():
        assert name not in messages
        messages[name] = fields
    for name in given["absent_enums"]:
        del enums[name]
    enums.update(enums_of(given["new_enums"]))
    for enum, values in given["absent_enum_values"].items():
        for value in values:
            del enums[enum][value]
    for enum, numbers in given["changed_enum_values"].items():
        for value, change in numbers.items():
            enums[enum][value] = change["fork"]
    for enum, numbers_by_name in enums_of(given["new_enum_values"]).items():
        enums[enum].update(numbers_by_name)
    if fork == "deeplab":
        _rename_layers(messages, enums)
    return messages, enums


def _rename_layers(messages: dict[str, dict[str, dict[str, Any]]], enums: dict[str, dict[str, int]]) -> None:
    """DeepLab v1 is older than the V2 format: its LayerParameter is BVLC's V1LayerParameter."""
    messages[V1] = messages.pop("LayerParameter")
    for fields in messages.values():
        for field in fields.values():
            name = field["type_name"] or ""
            if name == "LayerParameter" or name.startswith("LayerParameter."):
                field["type_name"] = f"V1{name}"
    for name in [name for name in enums if name.startswith("LayerParameter.")]:
        enums[f"V1{name}"] = enums.pop(name)


def _made_repeated_later(fork: str, message: str, field: str) -> bool:
    """Fields that BVLC made repeated stay so in an older fork's schema (schema/types.py says why)."""
    old = ("fast_rcnn", "segnet", "yjxiong", "deeplab")
    return fork in old and message == "ConvolutionParameter" and field in _LATER_REPEATED


def test_forks_are_those_of_the_facts() -> None:
    known = facts("schema-forks.json")["forks"]
    assert set(FORKS) == set(known)
    assert {name: REPOSITORIES[name] for name in FORKS} == {name: given["repo"] for name, given in known.items()}
    assert all(DIALECTS.values())


@pytest.mark.parametrize("fork", FORKS)
def test_messages(fork: str) -> None:
    schema = schema_for(fork)
    messages, _enums = _expected(fork)
    assert set(messages) <= set(schema.message_names())
    for message, expected in messages.items():
        fields = {name: field for name, field in schema.message(message).fields.items() if not field.absent}
        assert set(fields) == set(expected), message
        for name, wanted in expected.items():
            field = fields[name]
            if _made_repeated_later(fork, message, name):
                assert (field.label, field.default, field.kind, field.number) == (
                    "repeated",
                    None,
                    wanted["type"],
                    wanted["number"],
                )
                continue
            have = {
                "number": field.number,
                "label": field.label,
                "type": field.kind,
                "type_name": field.type_name,
                "default": field.default,
            }
            assert have == wanted, f"{message}.{name}"
            assert field.repeated == (field.label == "repeated")


@pytest.mark.parametrize("fork", FORKS)
def test_enums(fork: str) -> None:
    schema = schema_for(fork)
    for enum, values in _expected(fork)[1].items():
        assert schema.enum(enum) == values, enum


@pytest.mark.parametrize("fork", FORKS)
def test_what_is_absent_is_marked(fork: str) -> None:
    """What BVLC has and the fork lacks is known, with its default, but marked; no field leads to nowhere."""
    schema = schema_for(fork)
    given = facts("schema-forks.json")["forks"][fork]
    for message, names in given["absent_fields"].items():
        if (fork, message) == ("deeplab", "LayerParameter"):
            continue  # the V2 format: its one way in, NetParameter.layer, is absent
        for name in names:
            assert schema.message(message).fields[name].absent, f"{message}.{name}"
    for name in schema.message_names():
        for field in schema.message(name).fields.values():
            if field.kind == "message":
                assert field.message_type().name == field.type_name
            elif field.kind == "enum":
                assert field.default is None or field.default in field.enum_values()
    gone = set(given["absent_messages"]) - ({V1} if fork == "deeplab" else set())
    reached = _reachable(fork)
    assert not reached & gone


def _reachable(fork: str) -> set[str]:
    """The messages that a net or a solver of the fork can hold."""
    schema = schema_for(fork)
    found = {"NetParameter", "SolverParameter"}
    waiting = list(found)
    while waiting:
        for field in schema.message(waiting.pop()).fields.values():
            if field.kind == "message" and not field.absent and field.type_name not in found:
                assert field.type_name is not None
                found.add(field.type_name)
                waiting.append(field.type_name)
    return found


@pytest.mark.parametrize("fork", FORKS)
def test_layer_types(fork: str) -> None:
    registered = facts("schema-forks.json")["forks"][fork].get("layer_types_added")
    layers = facts("layers.json")
    missing = layers["bvlc_types_missing_in_forks"]["forks"].get(fork, [])
    bvlc = layer_types("bvlc")
    ours = layer_types(fork)
    assert layer_types_known(fork) == (registered is not None)
    if fork == "deeplab":  # registers enum names; those of BVLC's types stand here under BVLC's names
        names = _expected(fork)[1][f"{V1}.LayerType"]
        assert ours == {V1_LAYER_TYPES.get(name, name) for name in names if name != "NONE"}
        assert set(registered or ()) <= set(names)
        return
    also = {entry["type"] for entry in layers["fork_layers"] if fork in entry.get("name_registered_by", ())}
    added = set(registered or ()) | also
    v1_values = set(_expected(fork)[1][f"{V1}.LayerType"]) - set(_bvlc()[1][f"{V1}.LayerType"])
    assert ours == (bvlc - set(missing)) | added | v1_values


@pytest.mark.parametrize("fork", FORKS)
def test_owners(fork: str) -> None:
    """Whoever adds a field, value or layer type is among its owners, and nobody else is."""
    bvlc_messages, bvlc_enums = _bvlc()
    messages, enums = _expected(fork)
    schema = schema_for(fork)
    for message, fields in messages.items():
        for field in fields:
            owners = owners_of_field(message, field)
            assert owners == ("bvlc",) if field in bvlc_messages.get(message, ()) else fork in owners
    for enum, values in enums.items():
        for value in values:
            owners = owners_of_enum_value(enum, value)
            assert owners == ("bvlc",) if value in bvlc_enums.get(enum, ()) else fork in owners
    for layer_type in layer_types(fork):
        owners = owners_of_layer_type(layer_type)
        assert owners == ("bvlc",) if layer_type in layer_types("bvlc") else fork in owners
    from caffe_guard.schema.tables.owners import ENUM_VALUE_OWNERS, FIELD_OWNERS, LAYER_TYPE_OWNERS

    for name, owners in FIELD_OWNERS.items():
        message, _, field = name.rpartition(".")
        if fork in owners:
            assert field in schema.message(message).fields
        assert len(set(owners)) == len(owners)
    for name, owners in ENUM_VALUE_OWNERS.items():
        enum, _, value = name.rpartition(".")
        if fork in owners:
            assert value in schema.enum(enum)
    for name, owners in LAYER_TYPE_OWNERS.items():
        assert (fork in owners) == (name in layer_types(fork) and name not in layer_types("bvlc")), name
        assert len(set(owners)) == len(owners)
