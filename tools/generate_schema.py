"""Writes caffe_guard/schema/tables/ from proto/: run by `make schema`.

proto/caffe.proto is read by the small reader below, which knows the part of the language that the file uses; a test
compares the tables with what protobuf's own compiler makes of it. proto/forks/*.json are the forks' differences.
"""

from __future__ import annotations

import json
import os
import pprint
import re
import sys
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PROTO = os.path.join(ROOT, "proto")
TABLES = os.path.join(ROOT, "caffe_guard", "schema", "tables")
SCALARS = ("int32", "uint32", "int64", "uint64", "float", "double", "bool", "string", "bytes")
HEADER = '"""{what} Written by tools/generate_schema.py from proto/; do not edit."""\n\nfrom __future__ import annotations\n\n'

IMPORT_ANY = "TYPE_CHECKING = False\nif TYPE_CHECKING:\n    from typing import Any\n\n"

FIELD = re.compile(
    r"(?P<label>optional|required|repeated) (?P<type>[\w.]+) (?P<name>\w+) = (?P<number>\d+)(?: \[(?P<options>.*)\])?$"
)


def read_field(line: str) -> dict[str, Any]:
    """One field declaration without its semicolon."""
    match = FIELD.match(line)
    if match is None:
        raise SystemExit(f"not a field: {line}")
    field: dict[str, Any] = {
        "name": match["name"],
        "number": int(match["number"]),
        "label": match["label"],
        "type": match["type"],
        "default": None,
        "packed": False,
    }
    for option in filter(None, (match["options"] or "").split(", ")):
        key, _, value = option.partition(" = ")
        if key == "packed":
            field["packed"] = value == "true"
        elif key == "default":
            field["default"] = value
        else:
            raise SystemExit(f"unknown option {key} in: {line}")
    return field


def read_proto(text: str) -> tuple[dict[str, list[dict[str, Any]]], dict[str, dict[str, int]], dict[str, str]]:
    """Messages (fields in order), enums, and what deprecated fields gave way to, by dotted names."""
    messages: dict[str, list[dict[str, Any]]] = {}
    enums: dict[str, dict[str, int]] = {}
    deprecated: dict[str, str] = {}
    scope: list[tuple[str, str]] = []
    comment = ""
    for raw in text.split("\n"):
        code, _, remark = raw.partition("//")
        code = code.strip()
        instead = remark.partition("deprecated:")[2].strip()
        if not code:
            comment = instead or comment if remark else ""
            continue
        name = ".".join(part for _, part in scope)
        if code == "}":
            scope.pop()
        elif code.startswith(("message ", "enum ")):
            kind, part, _ = code.split()
            scope.append((kind, part))
            full = f"{name}.{part}" if name else part
            (messages if kind == "message" else enums)[full] = [] if kind == "message" else {}  # type: ignore[index]
            if comment:
                deprecated[full] = comment
        elif scope and scope[-1][0] == "enum":
            value, number = code.rstrip(";").split(" = ")
            enums[name][value] = int(number)
        elif scope:
            field = read_field(code.rstrip(";"))
            messages[name].append(field)
            if instead:
                deprecated[f"{name}.{field['name']}"] = instead
        elif not code.startswith(("syntax", "package")):
            raise SystemExit(f"not understood: {code}")
        comment = ""
    return messages, enums, deprecated


def resolve(type_name: str, scope: str, messages: Any, enums: Any) -> tuple[str, str | None]:
    """Kind and full name of a field's type as seen from inside a message."""
    if type_name in SCALARS:
        return type_name, None
    parts = scope.split(".")
    for depth in range(len(parts), -1, -1):
        full = ".".join([*parts[:depth], type_name])
        if full in enums:
            return "enum", full
        if full in messages:
            return "message", full
    raise SystemExit(f"{scope}: unknown type {type_name}")


def default_value(kind: str, literal: str | None) -> Any:
    """A default as a Python value; enums by name."""
    if literal is None:
        return None
    if kind in ("float", "double"):
        return float(literal)
    if kind == "bool":
        return literal == "true"
    if kind in ("string", "bytes"):
        return json.loads(literal)
    return literal if kind == "enum" else int(literal)


def row(field: dict[str, Any], scope: str, messages: Any, enums: Any) -> tuple[Any, ...]:
    """(name, number, label, kind, type name, default, packed)."""
    kind, full = resolve(field["type"], scope, messages, enums)
    default = field["default"]
    if not isinstance(default, str):
        value = default
    else:
        value = default_value(kind, default)
    return (field["name"], field["number"], field["label"], kind, full, value, field["packed"])


def literal(value: Any) -> str:
    return pprint.pformat(value, width=118, sort_dicts=False)


def bvlc_table() -> str:
    """The text of tables/bvlc.py."""
    with open(os.path.join(PROTO, "caffe.proto"), encoding="utf-8") as stream:
        messages, enums, deprecated = read_proto(stream.read())
    with open(os.path.join(PROTO, "layer_types.json"), encoding="utf-8") as stream:
        layer_types = json.load(stream)
    rows = {name: tuple(row(field, name, messages, enums) for field in fields) for name, fields in messages.items()}
    return (
        HEADER.format(what="BVLC's schema.")
        + "# message -> its fields: (name, number, label, kind, type name, default, packed)\n"
        + f"MESSAGES: dict[str, tuple[tuple[object, ...], ...]] = {literal(rows)}\n\n"
        + f"ENUMS: dict[str, dict[str, int]] = {literal(enums)}\n\n"
        + "# field (or whole message) -> what it gave way to\n"
        + f"DEPRECATED: dict[str, str] = {literal(deprecated)}\n\n"
        + "# the layer types that BVLC registers\n"
        + f"LAYER_TYPES: tuple[str, ...] = {literal(tuple(layer_types))}\n"
    )


def read_forks() -> dict[str, dict[str, Any]]:
    """proto/forks/*.json by name, in the order of `order.json`."""
    with open(os.path.join(PROTO, "forks", "order.json"), encoding="utf-8") as stream:
        order = json.load(stream)
    forks = {}
    for name in order:
        with open(os.path.join(PROTO, "forks", f"{name}.json"), encoding="utf-8") as stream:
            forks[name] = json.load(stream)
    return forks


def read_fork_table() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, list[str]]]]:
    """Each fork's entry, and by kind of word the forks that own it."""
    with open(os.path.join(PROTO, "caffe.proto"), encoding="utf-8") as stream:
        bvlc_messages, bvlc_enums, _ = read_proto(stream.read())
    table: dict[str, dict[str, Any]] = {}
    fields: dict[str, list[str]] = {}
    values: dict[str, list[str]] = {}
    types: dict[str, list[str]] = {}
    for fork, given in read_forks().items():
        own_messages = given.get("messages", {})
        own_enums = given.get("enums", {})
        messages = {**bvlc_messages, **own_messages}
        enums = {**bvlc_enums, **own_enums}
        added = {}
        for name, lines in {**own_messages, **given.get("fields", {})}.items():
            added[name] = tuple(row(read_field(line), name, messages, enums) for line in lines)
            for line in lines:
                fields.setdefault(f"{name}.{read_field(line)['name']}", []).append(fork)
        for name, more in {**own_enums, **given.get("enum_values", {})}.items():
            for value in more:
                values.setdefault(f"{name}.{value}", []).append(fork)
        for layer_type in given.get("layer_types", ()):
            types.setdefault(layer_type, []).append(fork)
        changed = {}
        for message, changes in given.get("changed_fields", {}).items():
            for field, change in changes.items():
                change = dict(change)
                if "type" in change or "type_name" in change:
                    kind, full = resolve(change.get("type_name") or change["type"], message, messages, enums)
                    change["type"], change["type_name"] = kind, full
                changed[f"{message}.{field}"] = change
        table[fork] = {
            "fields": added,
            "changed": changed,
            "absent": tuple(f"{message}.{field}" for message, names in given.get("absent_fields", {}).items() for field in names),
            "enums": own_enums,
            "enum_values": given.get("enum_values", {}),
            "changed_enum_values": given.get("changed_enum_values", {}),
            "absent_enum_values": tuple(
                f"{enum}.{value}" for enum, names in given.get("absent_enum_values", {}).items() for value in names
            ),
            "layer_types": tuple(given.get("layer_types", ())),
            "missing_layer_types": tuple(given.get("missing_layer_types", ())),
        }
    return table, {
        "FIELD_OWNERS": fields,
        "ENUM_VALUE_OWNERS": values,
        "LAYER_TYPE_OWNERS": types,
    }


def fork_tables() -> dict[str, str]:
    """The texts of tables/fork_*.py, one a fork, and of tables/owners.py."""
    table, owners = read_fork_table()
    out = {}
    for fork, entry in table.items():
        what = f"What the Caffe of {fork} adds to BVLC's schema, changes in it, or lacks."
        out[f"fork_{fork}.py"] = (
            HEADER.format(what=what) + IMPORT_ANY + f"FORK: dict[str, Any] = {literal(entry)}\n"
        )
    parts = [HEADER.format(what="What BVLC lacks, and the forks that have it.")]
    for name, found in owners.items():
        rows = {key: tuple(names) for key, names in found.items()}
        parts.append(f"{name}: dict[str, tuple[str, ...]] = {literal(rows)}\n")
    out["owners.py"] = "\n".join(parts)
    return out


def names_table() -> str:
    """The text of tables/names.py: the dialects' titles, which the command line needs without the big tables."""
    titles = {"bvlc": "BVLC Caffe"}
    repositories = {"bvlc": "BVLC/caffe"}
    for name, given in read_forks().items():
        titles[name] = given["title"]
        repositories[name] = given["repository"]
    return (
        HEADER.format(what="The dialects: BVLC and its forks.")
        + f"TITLES: dict[str, str] = {literal(titles)}\n\n"
        + f"REPOSITORIES: dict[str, str] = {literal(repositories)}\n"
    )


def texts() -> dict[str, str]:
    """Every generated file by path."""
    return {
        os.path.join(TABLES, "__init__.py"): '"""Generated tables; see tools/generate_schema.py."""\n',
        os.path.join(TABLES, "bvlc.py"): bvlc_table(),
        **{os.path.join(TABLES, name): text for name, text in fork_tables().items()},
        os.path.join(TABLES, "names.py"): names_table(),
    }


def main() -> int:
    os.makedirs(TABLES, exist_ok=True)
    for path, text in texts().items():
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
