"""Places the tree's fields under a message type of the schema, and reports what does not fit.

What protobuf's C++ text parser accepts decides (text_format.cc): enums by name or number, booleans as true, false,
True, False, t, f, 0 or 1, integers in decimal, hexadecimal or octal, one value for a singular field. Binding goes on
after every problem; a value that cannot be used is left out of the message.
"""

from __future__ import annotations

from caffe_guard.prototxt import tree
from caffe_guard.prototxt.values import float_value, integer_value, string_value
from caffe_guard.schema.message import Message, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caffe_guard.prototxt.tree import Field as Node
    from caffe_guard.prototxt.tree import File
    from caffe_guard.schema.types import Field, Schema

# Kinds of a problem.
UNKNOWN_FIELD = "unknown-field"
WRONG_TYPE = "wrong-type"
UNKNOWN_ENUM_VALUE = "unknown-enum-value"
OUT_OF_RANGE = "out-of-range"
DUPLICATE = "duplicate"
MISSING_REQUIRED = "missing-required"

_RANGES = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
    "uint64": (0, 2**64 - 1),
}
_BOOLEANS = {"true": True, "false": False, "True": True, "False": False, "t": True, "f": False, "1": True, "0": False}
_LAYER_TYPES = ("LayerParameter", "V1LayerParameter")
# The largest literal that int() reads in one go; longer ones take the careful way.
_SHORT = 18


class BindProblem:
    """Something in the text that the schema has no place for.

    ``type_name`` and ``field_name`` say where it was; ``path`` is the dotted path below the layer (or the root).
    ``raw`` is the value as written; ``expected`` names what the field takes, or the enum for an unknown value.
    ``first`` and ``second`` are the two values of a field that is given twice. ``lost`` tells that a value was refused
    and nothing stands in its place: what hangs on it is unknown.
    """

    __slots__ = (
        "end",
        "expected",
        "field_name",
        "first",
        "kind",
        "lost",
        "message",
        "node",
        "path",
        "raw",
        "second",
        "start",
        "type_name",
    )

    def __init__(
        self,
        kind: str,
        start: int,
        end: int,
        type_name: str,
        field_name: str,
        path: str,
        message: str = "",
        raw: str = "",
        expected: str = "",
        first: Value | None = None,
        second: Value | None = None,
        node: Node | None = None,
    ) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.type_name = type_name
        self.field_name = field_name
        self.path = path
        self.message = message
        self.raw = raw
        self.expected = expected
        self.first = first
        self.second = second
        self.node = node
        self.lost = kind in (WRONG_TYPE, OUT_OF_RANGE, UNKNOWN_ENUM_VALUE)

    def __repr__(self) -> str:
        return f"BindProblem({self.kind}, {self.type_name}.{self.field_name}, {self.start}..{self.end})"


class Bound:
    """The root message and every problem, in the text's order.

    ``lost`` are the places of values that are missing or were refused, where nobody knows what was meant: what hangs
    on them is unknown.
    """

    __slots__ = ("lost", "message", "problems")

    def __init__(self, message: Message, problems: list[BindProblem], lost: list[int]) -> None:
        self.message = message
        self.problems = problems
        self.lost = lost


class _Refused(Exception):
    """A value that its field does not take: the problem's kind and sentence."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


def bind(file: File, type_name: str, schema: Schema) -> Bound:
    """The text as a message of the named type (``NetParameter``, ``SolverParameter``, …)."""
    text = file.text
    problems: list[BindProblem] = []
    missing: list[int] = []
    root = Message(schema.message(type_name), {}, 0, 0, 0, len(text))
    # One entry an open message: its children still to be read, and what it is.
    stack: list[tuple[Any, Message, str]] = [(iter(file.fields), root, "")]
    while stack:
        nodes, message, path = stack[-1]
        values = message.fields
        known = message.type.fields
        for node in nodes:
            name = node.name
            field = known.get(name)
            if field is None or field.absent:
                if name:
                    problems.append(
                        BindProblem(
                            UNKNOWN_FIELD,
                            node.name_start,
                            node.name_end,
                            message.type.name,
                            name,
                            _join(path, name),
                            node=node,
                        )
                    )
                continue
            kind = field.kind
            node_kind = node.kind
            if kind == "message" and node_kind is tree.MESSAGE:
                child = Message(field.message_type(), {}, node.name_start, node.name_end, node.start, node.end)
                _add(
                    values,
                    field,
                    Value(child, node.name_start, node.name_end, node.start, node.end),
                    message,
                    path,
                    problems,
                )
                stack.append(
                    (iter(node.children or ()), child, "" if name in ("layer", "layers") else _join(path, name))
                )
                break
            if node_kind is tree.MISSING:
                missing.append(node.name_start)
                continue
            if node_kind is tree.LIST:
                if not field.repeated:
                    problems.append(
                        _refusal(node, field, message, path, text, "takes one value, not a list", WRONG_TYPE)
                    )
                elif kind == "message":
                    if _open_list_of_messages(node, field, message, path, text, stack, problems):
                        break
                else:
                    if ":" not in text[node.name_end : node.start]:
                        words = "needs a colon before its list"
                        problems.append(_refusal(node, field, message, path, text, words, WRONG_TYPE))
                    for item in node.children or ():
                        _bind_scalar(item, field, message, path, text, problems)
                continue
            # The plain cases of the commonest kinds, without a call; everything else takes the careful way below.
            raw = text[node.start : node.end]
            if kind == "string":
                if node_kind is not tree.STRING or "\\" in raw or raw.count(raw[0]) != 2 or raw[-1] != raw[0]:
                    _bind_scalar(node, field, message, path, text, problems)
                    continue
                value: object = raw[1:-1]
            elif node_kind is tree.NUMBER and len(raw) < 10 and raw.isdigit() and (raw[0] != "0" or raw == "0"):
                if kind in _RANGES:
                    value = int(raw)
                elif kind == "float":
                    value = float(raw)
                else:
                    _bind_scalar(node, field, message, path, text, problems)
                    continue
            else:
                _bind_scalar(node, field, message, path, text, problems)
                continue
            bound = Value(value, node.name_start, node.name_end, node.start, node.end)
            if name in values:
                _add(values, field, bound, message, path, problems)
            else:
                values[name] = [bound]
        else:
            stack.pop()
            _check_required(message, path, problems)
    problems.sort(key=lambda problem: problem.start)
    missing.extend(problem.start for problem in problems if problem.lost)
    return Bound(root, problems, missing)


def _open_list_of_messages(
    node: Node,
    field: Field,
    message: Message,
    path: str,
    text: str,
    stack: list[tuple[Any, Message, str]],
    problems: list[BindProblem],
) -> bool:
    """Open every message of ``name: [{…}, {…}]``; whether there was one."""
    opened = []
    for item in node.children or ():
        if item.kind is not tree.MESSAGE:
            _bind_scalar(item, field, message, path, text, problems)
            continue
        child = Message(field.message_type(), {}, item.name_start, item.name_end, item.start, item.end)
        value = Value(child, item.name_start, item.name_end, item.start, item.end)
        message.fields.setdefault(field.name, []).append(value)
        opened.append((iter(item.children or ()), child, _join(path, field.name)))
    stack.extend(reversed(opened))
    return bool(opened)


def _bind_scalar(node: Node, field: Field, message: Message, path: str, text: str, problems: list[BindProblem]) -> None:
    raw = text[node.start : node.end]
    try:
        value = _convert(field, node.kind, raw)
    except _Refused as refused:
        problems.append(_refusal(node, field, message, path, raw, refused.message, refused.kind))
        # Where it is plain what was meant, the rest of the file is judged with that.
        meant = _meant(field, message, raw)
        if meant is None:
            return
        problems[-1].lost = False
        value = meant
    bound = Value(value, node.name_start, node.name_end, node.start, node.end)
    existing = message.fields.get(field.name)
    if existing is None:
        message.fields[field.name] = [bound]
    else:
        _add(message.fields, field, bound, message, path, problems)


def _meant(field: Field, message: Message, raw: str) -> str | None:
    """What a refused value certainly means: an enum's name in quotes or small letters, the word of a layer's type."""
    word = raw.strip("\"'")
    if field.kind == "enum" and word.upper() in field.enum_values():
        return word.upper()
    if field.name == "type" and message.type.name in _LAYER_TYPES:
        return word
    return None


def _add(
    values: dict[str, list[Value]],
    field: Field,
    value: Value,
    message: Message,
    path: str,
    problems: list[BindProblem],
) -> None:
    existing = values.get(field.name)
    if existing is None:
        values[field.name] = [value]
        return
    existing.append(value)
    if not field.repeated:
        problems.append(
            BindProblem(
                DUPLICATE,
                value.name_start,
                value.end if not isinstance(value.value, Message) else value.name_end,
                message.type.name,
                field.name,
                _join(path, field.name),
                first=existing[0],
                second=value,
            )
        )


def _convert(field: Field, node_kind: str, raw: str) -> object:
    """The value of a literal under a field. Raises _Refused."""
    kind = field.kind
    if kind in _RANGES:
        return _integer(field, node_kind, raw)
    if kind == "string" or kind == "bytes":
        if node_kind is not tree.STRING:
            raise _Refused(WRONG_TYPE, "takes a string, and a string stands in quotes")
        if "\\" not in raw and raw.count(raw[0]) == 2 and raw[-1] == raw[0]:
            return raw[1:-1]
        try:
            return string_value(raw)
        except ValueError as error:
            raise _Refused(WRONG_TYPE, f"holds a string that cannot be read: {error}") from None
    if kind == "float" or kind == "double":
        if node_kind is tree.NUMBER or node_kind is tree.NAME:
            try:
                return float_value(raw)
            except ValueError:
                if raw.isdigit():
                    raise _Refused(WRONG_TYPE, f"takes a {kind}; with a leading 0 this is an octal integer") from None
        raise _Refused(WRONG_TYPE, f"takes a {kind}")
    if kind == "enum":
        return _enum(field, node_kind, raw)
    if kind == "bool":
        if node_kind is not tree.STRING and raw in _BOOLEANS:
            return _BOOLEANS[raw]
        if node_kind is tree.NUMBER and not raw.strip("0xX1") and raw.isalnum() and integer_value(raw) in (0, 1):
            return bool(integer_value(raw))  # 00, 0x1: read as integers
        raise _Refused(WRONG_TYPE, "takes true or false")
    raise _Refused(WRONG_TYPE, "takes a message, { … }")


def _integer(field: Field, node_kind: str, raw: str) -> int:
    if node_kind is tree.NUMBER:
        if len(raw) < _SHORT and raw.isdigit() and (raw[0] != "0" or raw == "0"):
            value = int(raw)
        else:
            try:
                value = integer_value(raw)
            except ValueError:
                if raw.lstrip("-").isdigit():
                    raise _Refused(OUT_OF_RANGE, f"takes an {field.kind}") from None
                raise _Refused(WRONG_TYPE, f"takes a whole number ({field.kind})") from None
        low, high = _RANGES[field.kind]
        if low <= value <= high:
            return value
        raise _Refused(OUT_OF_RANGE, f"takes {low} to {high} ({field.kind})")
    raise _Refused(WRONG_TYPE, f"takes a whole number ({field.kind})")


def _enum(field: Field, node_kind: str, raw: str) -> str:
    names = field.enum_values()
    if node_kind is tree.NAME:
        if raw in names:
            return raw
        raise _Refused(UNKNOWN_ENUM_VALUE, "does not know this value")
    if node_kind is tree.NUMBER:
        try:
            number = integer_value(raw)
        except ValueError:
            number = None
        if number is not None:
            for name, known in names.items():
                if known == number:
                    return name
        raise _Refused(UNKNOWN_ENUM_VALUE, "does not know this number")
    raise _Refused(UNKNOWN_ENUM_VALUE, "takes a name without quotes")


def _refusal(node: Node, field: Field, message: Message, path: str, raw: str, words: str, kind: str) -> BindProblem:
    expected = field.type_name if field.kind in ("enum", "message") else field.kind
    return BindProblem(
        kind,
        node.start,
        node.end if node.kind is not tree.MESSAGE else node.start + 1,
        message.type.name,
        field.name,
        _join(path, field.name),
        message=words,
        raw=raw,
        expected=expected or "",
        node=node,
    )


def _check_required(message: Message, path: str, problems: list[BindProblem]) -> None:
    required = message.type.required
    if required:
        for name in required:
            if name not in message.fields:
                problems.append(
                    BindProblem(
                        MISSING_REQUIRED,
                        message.name_start,
                        message.name_end,
                        message.type.name,
                        name,
                        _join(path, name),
                    )
                )


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
