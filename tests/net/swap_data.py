"""A net with its data layers swapped for DummyData, so that real Caffe can build it without the data."""

from __future__ import annotations

from caffe_guard.diagnostic import Edit
from caffe_guard.fixing import apply_edits
from caffe_guard.net.phase import NetState
from caffe_guard.net.shapes import infer
from caffe_guard.net.upgrade import build_net
from caffe_guard.prototxt import parse
from caffe_guard.schema.bind import bind
from caffe_guard.schema.dialects import schema_for

DATA_TYPES = ("Data", "ImageData", "WindowData", "HDF5Data", "MemoryData", "AnnotatedData")
# What stands in for an extent that the text does not tell.
GUESSES = (2, 3, 227, 227)


def net_of(text: str):
    """The net of a text by BVLC's schema; None when the text has problems."""
    tree = parse(text)
    bound = bind(tree, "NetParameter", schema_for("bvlc"))
    if tree.problems or bound.problems:
        return None
    return build_net(bound.message)


def swap_data(text: str, batch: int | None = 2) -> str | None:
    """The text with every data layer replaced; None when that cannot be done."""
    net = net_of(text)
    if net is None or net.problems:
        return None
    edits = []
    for layer in net.layers:
        if layer.type not in DATA_TYPES:
            continue
        alone = type(net)(net.message, [layer], net.syntax, [])
        phase = (
            "TEST"
            if any(rule.get("phase") == "TEST" for rule in layer.message.get("include") if rule.has("phase"))
            else "TRAIN"
        )
        built = infer(alone, NetState(phase), data=False)
        shapes = []
        for index, shape in enumerate(built.top_shapes[0] if built.top_shapes else []):
            if shape is None:
                shape = (None, None, None, None) if index == 0 else (None,)
            filled = tuple(
                batch if place == 0 and batch else GUESSES[place] if extent is None else extent
                for place, extent in enumerate(shape)
            )
            shapes.append(filled)
        if len(shapes) != len(layer.tops):
            return None
        edits.append(Edit(layer.start, layer.end, _dummy(layer, shapes, net.syntax)))
    return apply_edits(text, edits)


def _dummy(layer, shapes, syntax: str) -> str:
    word, kind = ("layer", '"DummyData"') if syntax == "V2" else ("layers", "DUMMY_DATA")
    lines = [f'{word} {{ name: "{layer.name}" type: {kind}']
    lines += [f'top: "{top.value}"' for top in layer.tops]
    for field in ("include", "exclude"):
        for rule in layer.message.get(field):
            conditions = []
            for name in ("phase", "min_level", "max_level"):
                if rule.has(name):
                    conditions.append(f"{name}: {rule.get(name)}")
            for name in ("stage", "not_stage"):
                conditions += [f'{name}: "{stage}"' for stage in rule.get(name)]
            lines.append(f"{field} {{ {' '.join(conditions)} }}")
    lines.append("dummy_data_param {")
    for shape in shapes:
        lines.append(f"shape {{ {' '.join(f'dim: {extent}' for extent in shape)} }}")
    lines.append("} }")
    return " ".join(lines)
