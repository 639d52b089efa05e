"""Texts for the property tests: made from the format's pieces, mutated, or of any characters at all."""

from __future__ import annotations

from hypothesis import strategies as st

_NAMES = st.sampled_from(
    [
        "name",
        "layer",
        "layers",
        "top",
        "bottom",
        "type",
        "param",
        "lr_mult",
        "net",
        "base_lr",
        "pool",
        "x",
        "inf",
        "nan",
    ]
)
_SPACE = st.sampled_from(["", " ", "\n", "\t", "  ", "\r\n", " # said\n", "\n\n", "#\n", "# \udce9\u4e2d\n"])
_SCALARS = st.sampled_from(
    [
        "1", "-1", "0", "007", "0x1F", "1.5", ".5", "1.", "1e-3", "1.5f", "-inf", "nan", "- 2", "true", "f", "MAX", "TRAIN",
        '"x"', "'x'", '""', '"a" \'b\'', r'"\n\t\x41\101\""', '"a#b"', '"\u4e2d"', '"\udcff"', "99999999999999999999",
    ]
)  # fmt: skip
_FAULTS = st.sampled_from(
    ["}", "{", ">", "<", "]", "[", ";", ",", ":", "=", "\"open", "'open", "1x", "0x", "//", "\0", "\ufeff", "$", "-", "\\",
     "<<<<<<< HEAD\n", "\n=======\n", "\n>>>>>>> x\n", "\n||||||| y\n", "\udc80", "é", "\x1b[31m", "e", "."]
)  # fmt: skip


@st.composite
def _field(draw, inner):
    name, value = draw(_NAMES), draw(st.one_of(_SCALARS, inner))
    colon = ":" if not value.startswith(("{", "<")) or draw(st.booleans()) else ""
    separator = draw(st.sampled_from(["", "", "", ";", ","]))
    return f"{draw(_SPACE)}{name}{draw(_SPACE)}{colon}{draw(_SPACE)}{value}{draw(_SPACE)}{separator} "


def _message(inner):
    fields = st.lists(_field(inner), max_size=4).map("".join)
    braced = st.one_of(fields.map(lambda text: "{" + text + "}"), fields.map(lambda text: "<" + text + ">"))
    listed = st.lists(_SCALARS, max_size=3).map(lambda items: "[" + ", ".join(items) + "]")
    return st.one_of(braced, listed)


_VALUES = st.recursive(_SCALARS, _message, max_leaves=12)
# Whole texts that follow the format.
well_formed = st.lists(_field(_VALUES), max_size=6).map("".join)


@st.composite
def _mutated(draw):
    text = draw(well_formed)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(text)))
        end = min(len(text), place + draw(st.sampled_from([0, 0, 1, 2, 8])))
        text = text[:place] + draw(st.one_of(_FAULTS, st.just(""), _SCALARS)) + text[end:]
    return text


# Well-formed texts with a few faults put in, pieces of the format in any order, and anything at all.
mutated = _mutated()
pieces = st.lists(st.one_of(_NAMES, _SCALARS, _FAULTS, _SPACE), max_size=30).map("".join)
anything = st.text(st.characters(max_codepoint=0x10FFFF), max_size=60)
any_text = st.one_of(well_formed, mutated, mutated, pieces, anything)
