"""Bound messages: what the text says, in the schema's words, every value with its place in the text."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caffe_guard.schema.types import MessageType


class Value:
    """One value of one field as written.

    ``value`` is an int, float, bool, str (strings, and the *names* of enum values) or a :class:`Message`.
    ``name_start``/``name_end`` is the field's name in the text, ``start``/``end`` the value itself
    (for a message its braces included).
    """

    __slots__ = ("end", "name_end", "name_start", "start", "value")

    def __init__(self, value: Any, name_start: int, name_end: int, start: int, end: int) -> None:
        self.value = value
        self.name_start = name_start
        self.name_end = name_end
        self.start = start
        self.end = end

    def __repr__(self) -> str:
        return f"Value({self.value!r} at {self.start})"


class Message:
    """A message of the text under a type of the schema.

    ``fields`` holds only what could be placed and converted; everything else is a problem that the binder reported.
    The root message spans the whole text.
    """

    __slots__ = ("end", "fields", "name_end", "name_start", "start", "type")

    def __init__(
        self,
        type: MessageType,
        fields: dict[str, list[Value]],
        name_start: int = 0,
        name_end: int = 0,
        start: int = 0,
        end: int = 0,
    ) -> None:
        self.type = type
        self.fields = fields
        self.name_start = name_start
        self.name_end = name_end
        self.start = start
        self.end = end

    @property
    def type_name(self) -> str:
        """The message's name in the schema, such as ``PoolingParameter``."""
        return self.type.name

    def has(self, name: str) -> bool:
        """Whether the text gives the field."""
        return name in self.fields

    def get(self, name: str) -> Any:
        """The field's value, or the schema's default when the text does not give it.

        A repeated field gives the list of its values (empty when absent). A message field that is absent gives an
        empty message of its type, as protobuf does. A field that this dialect does not know gives None.
        """
        values = self.fields.get(name)
        field = self.type.fields.get(name)
        if values:
            if field is not None and field.repeated:
                return [value.value for value in values]
            return values[-1].value
        if field is None:
            return None
        if field.repeated:
            return []
        if field.kind == "message":
            return Message(field.message_type(), {}, self.name_start, self.name_end, self.start, self.end)
        return field.default_value()

    def at(self, name: str) -> Value | None:
        """The field's first occurrence, for its place; None when absent."""
        values = self.fields.get(name)
        return values[0] if values else None

    def values(self, name: str) -> list[Value]:
        """Every occurrence of the field, in the text's order."""
        return self.fields.get(name, [])

    def __repr__(self) -> str:
        return f"Message({self.type.name}: {', '.join(self.fields)})"
