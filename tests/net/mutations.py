"""Nets with one fault put in at random: a field dropped, doubled or changed, a layer removed, a bottom renamed."""

from __future__ import annotations

import random

from caffe_guard.diagnostic import Edit
from caffe_guard.fixing import apply_edits
from caffe_guard.prototxt import parse, tree
from caffe_guard.prototxt.edit import remove

_NUMBERS = ("0", "1", "2", "3", "5", "7", "-1", "64", "1000", "2147483647", "2147483648", "0.5", "1e9")
_WORDS = ("data", "label", "loss", "conv1", "nowhere", "")
_TYPES = (
    "ReLU",
    "Pooling",
    "Convolution",
    "InnerProduct",
    "Softmax",
    "Concat",
    "Eltwise",
    "Flatten",
    "Split",
    "Nonesuch",
    "LRN",
)


def _fields(text: str) -> list:
    """Every field inside a layer that is not DummyData: those stand for data that are not here."""
    found = []
    for layer in parse(text).fields:
        if layer.name not in ("layer", "layers") or layer.children is None:
            continue
        if "DummyData" in text[layer.start : layer.end] or "DUMMY_DATA" in text[layer.start : layer.end]:
            continue
        stack = list(layer.children)
        while stack:
            field = stack.pop()
            found.append(field)
            stack.extend(field.children or ())
    return found


def _layers(text: str) -> list:
    return [field for field in parse(text).fields if field.name in ("layer", "layers")]


def _changed(r: random.Random, text: str, field) -> str:
    raw = text[field.start : field.end]
    if field.kind is tree.NUMBER:
        new = r.choice(_NUMBERS)
        if raw.isdigit() and r.random() < 0.6:
            new = str(max(0, int(raw) + r.choice((-1, 1, 2, int(raw)))))
    elif field.kind is tree.STRING:
        if field.name == "type" and "layer" not in raw:
            new = f'"{r.choice(_TYPES)}"'
        else:
            others = [one for one in _fields(text) if one.kind is tree.STRING and one.name in ("bottom", "top")]
            other = r.choice(others) if others else field
            new = text[other.start : other.end] if r.random() < 0.7 else f'"{r.choice(_WORDS)}"'
    elif field.kind is tree.NAME:
        new = r.choice(("true", "false", "MAX", "AVE", "TRAIN", "TEST", "SUM", "PROD"))
    else:
        return apply_edits(text, [remove(text, field.name_start, field.end)])
    return apply_edits(text, [Edit(field.start, field.end, new)])


def mutated(text: str, seed: int) -> str:
    """The text with one fault, or two."""
    r = random.Random(seed)
    for _ in range(r.choice((1, 1, 1, 2))):
        fields = _fields(text)
        if not fields:
            return text
        way = r.random()
        field = r.choice(fields)
        if way < 0.25:
            text = apply_edits(text, [remove(text, field.name_start, field.end)])
        elif way < 0.40:
            statement = text[field.name_start : field.end]
            text = apply_edits(text, [Edit(field.end, field.end, f" {statement}")])
        elif way < 0.75:
            text = _changed(r, text, field)
        elif way < 0.88:
            layer = r.choice(_layers(text))
            text = apply_edits(text, [remove(text, layer.name_start, layer.end)])
        else:
            bottoms = [one for one in fields if one.name == "bottom"]
            if bottoms:
                text = _changed(r, text, r.choice(bottoms))
    return text
