"""The schema as objects: message types, fields, enums, made from the tables on first use."""

from __future__ import annotations

from caffe_guard.schema.tables import bvlc

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_ZEROS = {"string": "", "bytes": "", "bool": False, "float": 0.0, "double": 0.0}


class Field:
    """A field of a message type.

    ``kind`` is a scalar type of protobuf, ``enum`` or ``message``; ``type_name`` names the enum or message,
    nested names dotted. ``default`` is the explicit default of the proto, None when there is none; enum
    values are names. ``absent`` marks a field of BVLC that this dialect's Caffe lacks: its default is known,
    its use is a fault.
    """

    __slots__ = (
        "_schema",
        "absent",
        "default",
        "kind",
        "label",
        "name",
        "number",
        "packed",
        "repeated",
        "type_name",
    )

    def __init__(self, schema: Schema, row: tuple[Any, ...], absent: bool = False) -> None:
        self._schema = schema
        self.name: str
        self.number: int
        self.label: str
        self.kind: str
        self.type_name: str | None
        self.default: Any
        self.packed: bool
        self.name, self.number, self.label, self.kind, self.type_name, self.default, self.packed = row
        self.repeated = self.label == "repeated"
        self.absent = absent

    def message_type(self) -> MessageType:
        """The type of a message field."""
        assert self.type_name is not None
        return self._schema.message(self.type_name)

    def enum_values(self) -> dict[str, int]:
        """The values of an enum field: name to number."""
        assert self.type_name is not None
        return self._schema.enum(self.type_name)

    def default_value(self) -> Any:
        """What protobuf's accessor gives when the text gives nothing (proto2).

        The explicit default, else zero, the empty string, false, or the enum's first value.
        """
        if self.default is not None:
            return self.default
        if self.kind == "enum":
            return next(iter(self.enum_values()))
        return _ZEROS.get(self.kind, 0)

    def __repr__(self) -> str:
        return f"Field({self.label} {self.type_name or self.kind} {self.name} = {self.number})"


class MessageType:
    """A message type of a dialect: its fields by name in the proto's order, and which are required."""

    __slots__ = ("dialect", "fields", "name", "required")

    def __init__(self, name: str, fields: dict[str, Field], dialect: str) -> None:
        self.name = name
        self.dialect = dialect
        self.fields = fields
        self.required = tuple(field.name for field in fields.values() if field.label == "required")

    def __repr__(self) -> str:
        return f"MessageType({self.name}, {len(self.fields)} fields)"


class Schema:
    """All message types of one dialect. ``fork`` is the fork's entry of the table, None for BVLC itself."""

    __slots__ = ("_enums", "_fork", "_messages", "dialect")

    def __init__(self, dialect: str, fork: dict[str, Any] | None = None) -> None:
        self.dialect = dialect
        self._fork = fork
        self._messages: dict[str, MessageType] = {}
        self._enums: dict[str, dict[str, int]] = {}

    def message(self, name: str) -> MessageType:
        """The message type of that name. Raises KeyError when the dialect has none."""
        found = self._messages.get(name)
        if found is None:
            found = MessageType(name, self._fields(name), self.dialect)
            self._messages[name] = found
        return found

    def message_names(self) -> list[str]:
        """The names of all message types, BVLC's first."""
        names = dict.fromkeys(bvlc.MESSAGES)
        if self._fork is not None:
            names.update(dict.fromkeys(self._fork["fields"]))
        return list(names)

    def enum(self, name: str) -> dict[str, int]:
        """The values of an enum, name to number. Raises KeyError when the dialect has none of that name."""
        found = self._enums.get(name)
        if found is None:
            found = self._enum_values(name)
            self._enums[name] = found
        return found

    def _fields(self, name: str) -> dict[str, Field]:
        fork = self._fork
        if fork is None:
            return {row[0]: Field(self, row) for row in bvlc.MESSAGES[name]}  # type: ignore[misc]
        if name not in bvlc.MESSAGES and name not in fork["fields"]:
            raise KeyError(name)
        rows = [*bvlc.MESSAGES.get(name, ()), *fork["fields"].get(name, ())]
        fields = {}
        for row in rows:
            full = f"{name}.{row[0]}"
            field = Field(self, row, absent=full in fork["absent"])
            _change(field, fork["changed"].get(full, {}))
            fields[field.name] = field
        return fields

    def _enum_values(self, name: str) -> dict[str, int]:
        fork = self._fork
        if fork is None:
            return bvlc.ENUMS[name]
        if name in fork["enums"]:
            return dict(fork["enums"][name])
        absent = fork["absent_enum_values"]
        values = {key: number for key, number in bvlc.ENUMS[name].items() if f"{name}.{key}" not in absent}
        values.update(fork["enum_values"].get(name, {}))
        values.update(fork["changed_enum_values"].get(name, {}))
        return values


def _change(field: Field, change: dict[str, Any]) -> None:
    """Apply what a fork changes in a field of BVLC.

    A field that was made repeated in BVLC later stays repeated here: one value is a list of one, and rules
    need to know one form only. Two values in such an old fork go unnoticed.
    """
    field.number = change.get("number", field.number)
    field.kind = change.get("type", field.kind)
    field.type_name = change.get("type_name", field.type_name)
    if "default" in change and not field.repeated:
        field.default = change["default"]
    if change.get("label") == "repeated":
        field.label = "repeated"
        field.repeated = True
