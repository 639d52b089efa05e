"""The facts about Caffe's schema that the tests hold proto/ against; not part of this repository."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

_BESIDE = os.path.join(os.path.dirname(__file__), "..", "..", "..", "shared")
FACTS = os.path.join(os.path.abspath(os.environ.get("CAFFE_GUARD_SHARED", _BESIDE)), "facts")


def facts(name: str) -> Any:
    """A file of facts; the test is skipped where it is not."""
    path = os.path.join(FACTS, name)
    if not os.path.exists(path):
        pytest.skip(f"no {path}: set CAFFE_GUARD_SHARED")
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


def field_facts(field: dict[str, Any]) -> dict[str, Any]:
    """What is compared of a field."""
    return {key: field.get(key) for key in ("number", "label", "type", "type_name", "default")}


def messages_of(given: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, dict[str, Any]]]:
    """Lists of fields by message as message -> field -> facts."""
    return {message: {field["name"]: field_facts(field) for field in fields} for message, fields in given.items()}


def enums_of(given: dict[str, list[dict[str, Any]]]) -> dict[str, dict[str, int]]:
    """Lists of enum values as enum -> value -> number."""
    return {enum: {value["name"]: value["number"] for value in values} for enum, values in given.items()}
