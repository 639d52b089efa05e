"""The text of guards: blocks between two marks, each put behind a layer's statement; and how to take them out.

A block carries in its first mark what else was written for it (the loss weights of the layer before), so that taking it
out gives back every byte. What a user changed inside a block goes with it; what was changed outside stays.
"""

from __future__ import annotations

import bisect
import json
import re

from caffe_guard.diagnostic import Edit
from caffe_guard.prototxt.edit import indent_at, line_ending

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.inject.places import Place
    from caffe_guard.net.model import Layer, Net

_BEGIN = "# >>> caffe-guard inject "
_END = "# <<< caffe-guard inject"
# Behind a block in the middle of a line, a line break of its own ends the comment.
_BROKEN = " (line broken here)"
_BLOCK = re.compile(
    r"\r?\n[ \t]*# >>> caffe-guard inject (?P<head>\{[^\r\n]*\})[^\r\n]*\r?\n(?:[^\n]*\n)*?"
    r"[ \t]*# <<< caffe-guard inject(?: \(line broken here\)\r?\n)?"
)


def guarded(text: str) -> set[tuple[str, str]]:
    """(layer, blob) of everything that is guarded in a text."""
    found: set[tuple[str, str]] = set()
    for head, _ in _blocks(text):
        tops = head.get("tops")
        found.update((str(head.get("after")), str(top)) for top in (tops if isinstance(tops, list) else ()))
    return found


def count_guards(text: str) -> int:
    """How many guards a text has."""
    return len(_blocks(text))


def _blocks(text: str) -> list[tuple[dict[str, object], re.Match[str]]]:
    found = []
    for match in _BLOCK.finditer(text):
        try:
            head = json.loads(match["head"])
        except ValueError:
            head = {}
        found.append((head, match))
    return found


def edits_for(text: str, place: Place, statements: str) -> list[Edit]:
    """The edits that put a guard's statements behind a layer, and its loss weights into it."""
    layer = place.layer
    ending = line_ending(text)
    head: dict[str, object] = {"after": layer.name, "tops": [layer.tops[top].value for top in place.tops]}
    edits: list[Edit] = []
    if place.is_loss:
        given = layer.message.values("loss_weight")
        # What the loss was given, by top; nothing when the weight was the type's own.
        head["loss"] = {str(top): weight for top, weight in zip(place.tops, place.weights)} if given else {}
        if given:
            edits.extend(Edit(given[top].start, given[top].end, "0") for top in place.tops)
        else:
            edits.append(_weights(text, layer, ["0"] * len(layer.tops), ending))
    position, broken = _behind(text, layer.end)
    indent = indent_at(text, layer.start)
    lines = [_BEGIN + json.dumps(head), *statements.strip("\n").split("\n"), _END + (_BROKEN if broken else "")]
    block = "".join(ending + (indent + line if line else line) for line in lines)
    edits.append(Edit(position, position, block + (ending if broken else "")))
    return edits


def _behind(text: str, end: int) -> tuple[int, bool]:
    """Where a block goes behind a statement: the end of its line, or right behind it when the line goes on."""
    separator = re.compile(r"[ \t]*[;,]").match(text, end)
    end = separator.end() if separator else end
    newline = text.find("\n", end)
    rest = text[end : newline if newline >= 0 else len(text)]
    if rest.strip() and not rest.lstrip().startswith("#"):
        return end, True
    return end + len(rest.rstrip("\r")), False


def _weights(text: str, layer: Layer, words: list[str], ending: str) -> Edit:
    """loss_weight behind the layer's last top, on lines of their own where the top has one."""
    last = layer.tops[-1]
    line_start = text.rfind("\n", 0, last.name_start) + 1
    position, goes_on = _behind(text, last.end)
    if text[line_start : last.name_start].strip() or goes_on:
        return Edit(last.end, last.end, "".join(f" loss_weight: {word}" for word in words))
    indent = indent_at(text, last.name_start)
    return Edit(position, position, "".join(f"{ending}{indent}loss_weight: {word}" for word in words))


def ejected(text: str, net: Net) -> tuple[str, list[str]]:
    """The text without blocks and what was written for them, and remarks about what was left."""
    edits = []
    remarks = []
    layers = [layer for layer in net.layers if not layer.from_input]
    ends = [layer.end for layer in layers]
    for head, match in _blocks(text):
        edits.append(Edit(match.start(), match.end(), ""))
        given = head.get("loss")
        if not isinstance(given, dict):
            continue
        # The layer before the block: names may repeat.
        place = bisect.bisect_right(ends, match.start()) - 1
        values = layers[place].message.values("loss_weight") if place >= 0 else []
        ours = [values[int(top)] for top in given if top.isdigit() and int(top) < len(values)] if given else values
        if not ours or any(text[value.start : value.end] != "0" for value in ours):
            remarks.append(f'the loss_weight of "{head.get("after")}" was changed since; it was left')
        elif given:
            edits.extend(Edit(value.start, value.end, str(weight)) for value, weight in zip(ours, given.values()))
        else:
            edits.extend(_removal(text, value.name_start, value.end) for value in ours)
    from caffe_guard.fixing import apply_edits

    return apply_edits(text, edits), remarks


def _removal(text: str, start: int, end: int) -> Edit:
    """What :func:`_weights` wrote: the statement and what stands before it."""
    line_start = text.rfind("\n", 0, start) + 1
    if text[line_start:start].strip() or line_start == 0:
        return Edit(start - 1, end, "")
    begin = line_start - 1
    if begin > 0 and text[begin - 1] == "\r":
        begin -= 1
    return Edit(begin, end, "")


def quoted(name: str) -> str:
    """A string literal of the text format."""
    out = []
    for character in name:
        if character in '"\\':
            out.append("\\" + character)
        elif character.isprintable() or "\udc80" <= character <= "\udcff":
            out.append(character)
        else:
            out.extend(f"\\{byte:03o}" for byte in character.encode("utf-8", "surrogateescape"))
    return '"' + "".join(out) + '"'
