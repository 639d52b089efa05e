"""A net and its layers in the current format, every value still at its place in the text."""

from __future__ import annotations

import bisect

from caffe_guard.schema.message import Message

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.problem import Problem
    from caffe_guard.schema.message import Value


class Layer:
    """One layer.

    ``message`` is a LayerParameter (for an old file: the upgraded view of it). ``start``/``end`` is the whole
    statement in the text, ``anchor`` where to point when something is missing: the name, else the word ``layer``.
    ``from_input`` marks the Input layer that Caffe makes of a net's ``input`` fields.
    """

    __slots__ = ("anchor", "bottoms", "end", "from_input", "index", "message", "name", "start", "tops", "type")

    def __init__(self, index: int, message: Message, start: int, end: int, from_input: bool = False) -> None:
        fields = message.fields
        names = fields.get("name")
        types = fields.get("type")
        self.index = index
        self.message = message
        self.start = start
        self.end = end
        self.from_input = from_input
        self.name: str = names[-1].value if names else ""
        self.type: str = types[-1].value if types else ""
        self.bottoms: list[Value] = fields.get("bottom", [])
        self.tops: list[Value] = fields.get("top", [])
        if names:
            self.anchor = (names[0].name_start, names[0].end)
        else:
            self.anchor = (message.name_start, message.name_end)

    def param(self, name: str) -> Message:
        """The layer's message of that name, such as ``pooling_param``; empty when the text has none.

        Raises KeyError when the dialect has no such field.
        """
        values = self.message.fields.get(name)
        if values:
            message: Message = values[-1].value
            return message
        field = self.message.type.fields.get(name)
        if field is None:
            raise KeyError(name)
        return Message(field.message_type(), {}, self.anchor[0], self.anchor[1], self.anchor[0], self.anchor[1])

    def __repr__(self) -> str:
        return f"Layer({self.name!r}, {self.type})"


class Net:
    """A net: its layers of all phases in the file's order. ``syntax`` is ``V0``, ``V1`` or ``V2``.

    ``problems`` are what Caffe's upgrade would refuse.
    """

    __slots__ = ("_starts", "layers", "message", "name", "problems", "syntax")

    def __init__(self, message: Message, layers: list[Layer], syntax: str, problems: list[Problem]) -> None:
        self.message = message
        self.layers = layers
        self.syntax = syntax
        self.problems = problems
        self.name: str = message.get("name") or ""
        self._starts: list[int] | None = None

    def layer_name_at(self, offset: int) -> str | None:
        """The name of the layer whose text holds an offset; None outside layers and for one without a name."""
        layer = self.layer_at(offset)
        return None if layer is None else layer.name or None

    def layer_at(self, offset: int) -> Layer | None:
        """The layer whose text holds an offset."""
        if self._starts is None:
            self._starts = [layer.start for layer in self.layers]
        index = bisect.bisect_right(self._starts, offset) - 1
        if index < 0 or offset >= self.layers[index].end:
            return None
        return self.layers[index]
