"""Deep and long texts: no recursion, and time that grows as the text does."""

from __future__ import annotations

import pytest

from caffe_guard.config import Settings
from caffe_guard.engine import lint
from caffe_guard.prototxt import lexer, parse
from tests.timing import cpu_seconds

# How much more than ten times the time ten times the text may take; a square would take ten times more.
_SLACK = 3
_LAYER = 'layer { name: "l" type: "ReLU" bottom: "a" top: "b" # said\n relu_param { negative_slope: 0.1 } }\n'


TEXTS = {
    "open braces": lambda size: "a {" * size,
    "closing braces": lambda size: "}" * size,
    "nested and closed": lambda size: "a {" * size + "}" * size,
    "nested, a line each": lambda size: "a {\n" * size + "}\n" * size,
    "indented, one brace missing": lambda size: (
        "".join(f"{' ' * (i % 7)}a {{\n" for i in range(size)) + "}\n" * (size - 1)
    ),
    "open angles": lambda size: "a <" * size,
    "open lists": lambda size: "a: [" * size,
    "list items": lambda size: "a: [" + "1, " * size + "1]",
    "adjacent strings": lambda size: "a: " + '"x" ' * size,
    "unclosed strings": lambda size: 'a: "x\n' * size,
    "comments": lambda size: "# c\n" * size,
    "backslashes": lambda size: 'a: "' + "\\" * (2 * size),
    "names without values": lambda size: "a " * size,
    "colons": lambda size: ":" * size,
    "minus signs": lambda size: "a: " + "-" * size,
    "digits": lambda size: "a: " + "1" * size,
    "blanks": lambda size: " " * size + "$",
    "conflict markers": lambda size: "<<<<<<< a\n" * size,
    "conflicts": lambda size: "<<<<<<< a\na: 1\n=======\na: 2\n>>>>>>> b\n" * size,
    "half conflicts": lambda size: "<<<<<<< a\na: 1\n=======\n" * size,
    "junk": lambda size: "$ % \0 " * size,
    "layers": lambda size: _LAYER * (size // 10),
}


@pytest.mark.parametrize("name", TEXTS)
def test_ten_times_the_text_takes_about_ten_times_the_time(name):
    small, large = TEXTS[name](3_000), TEXTS[name](30_000)
    assert parse(large).print() == large
    assert cpu_seconds(lambda: parse(large)) < 10 * _SLACK * cpu_seconds(lambda: parse(small)) + 0.02


def test_a_hundred_thousand_nested_braces_are_read_and_judged():
    text = "layer {" * 100_000 + "}" * 100_000
    assert parse(text).problems == []
    result = lint(["a.prototxt"], Settings(), {"a.prototxt": text})
    assert [one.finding.message for one in result.diagnostics if one.code == "CG000"] == []


@pytest.mark.slow
def test_fifty_megabytes_are_read():
    text = _LAYER * (50_000_000 // len(_LAYER))
    file = parse(text)
    assert file.problems == []
    assert len(file.fields) == 50_000_000 // len(_LAYER)
    assert sum(token.end - token.start for token in lexer.comments(text)) == 6 * len(file.fields)
