"""The tree of well-formed texts, and what becomes of texts that are not: one problem a fault, the rest is read."""

from __future__ import annotations

import pytest

from caffe_guard.prototxt import parse, tree


def _shape(fields, text) -> list:
    """A tree as nested lists: name, and value or children."""
    out = []
    for field in fields:
        if field.children is not None:
            out.append((field.name, _shape(field.children, text)))
        else:
            out.append((field.name, text[field.start : field.end]))
    return out


def shape(text: str) -> list:
    return _shape(parse(text).fields, text)


def problems(text: str) -> list:
    """(kind, line, the text it marks)."""
    return [
        (problem.kind, text.count("\n", 0, problem.start) + 1, text[problem.start : problem.end])
        for problem in parse(text).problems
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("# only a comment", []),
        ("a: 1", [("a", "1")]),
        ("a:1b:2", [("a", "1b")]),
        ("a: 1 b: 2", [("a", "1"), ("b", "2")]),
        ("a: 1; b: 2, c: 3", [("a", "1"), ("b", "2"), ("c", "3")]),
        ("a { b: x }", [("a", [("b", "x")])]),
        ("a: { b: x }", [("a", [("b", "x")])]),
        ("a < b: x >", [("a", [("b", "x")])]),
        ("a: < b { c: 1 } >", [("a", [("b", [("c", "1")])])]),
        ("a { } a { }", [("a", []), ("a", [])]),
        ("a: [1, 2, 3]", [("a", [("a", "1"), ("a", "2"), ("a", "3")])]),
        ("a: []", [("a", [])]),
        ("a: [{ b: 1 }, < b: 2 >]", [("a", [("a", [("b", "1")]), ("a", [("b", "2")])])]),
        ("a [{ b: 1 }]", [("a", [("a", [("b", "1")])])]),
        ("a: 'x' \"y\"", [("a", "'x' \"y\"")]),
        ("a: 'x' # comment\n  \"y\"\nb: 1", [("a", "'x' # comment\n  \"y\""), ("b", "1")]),
        ("a: - 1", [("a", "- 1")]),
        ("a: -inf b: nan", [("a", "-inf"), ("b", "nan")]),
        ("a # name\n : # colon\n 1", [("a", "1")]),
        ("a\n{\nb\n:\n1\n}", [("a", [("b", "1")])]),
        ("a:\r\n1\r\nb: 2\r\n", [("a", "1"), ("b", "2")]),
        ("[caffe.ext]: 1", [("[caffe.ext]", "1")]),
        ("[type.googleapis.com/x.Y] { a: 1 }", [("[type.googleapis.com/x.Y]", [("a", "1")])]),
    ],
)
def test_tree(text, expected):
    assert shape(text) == expected


def test_spans_are_those_of_name_value_and_braces():
    text = 'layer { name: "x" }'
    layer = parse(text).fields[0]
    assert text[layer.name_start : layer.name_end] == "layer"
    assert text[layer.start : layer.end] == '{ name: "x" }'
    name = layer.children[0]
    assert text[name.name_start : name.end] == 'name: "x"'


@pytest.mark.parametrize(
    ("text", "expected", "rest"),
    [
        ("a: 1\n}\nb: 2", [(tree.UNBALANCED, 2, "}")], [("a", "1"), ("b", "2")]),
        ("a: 1\nb 2\nc: 3", [(tree.BAD_SYNTAX, 2, "b")], [("a", "1"), ("b", "2"), ("c", "3")]),
        ("a = 1\nb: 2", [(tree.BAD_SYNTAX, 1, "=")], [("a", "1"), ("b", "2")]),
        ("a:\nb: 2", [(tree.BAD_SYNTAX, 1, "a")], [("a", ""), ("b", "2")]),
        ("a\nb: 2", [(tree.BAD_SYNTAX, 1, "a")], [("b", "2")]),
        ('a: "x\nb: 2', [(tree.BAD_SYNTAX, 1, '"x')], [("a", '"x'), ("b", "2")]),
        ("a: 1x\nb: 2", [(tree.BAD_SYNTAX, 1, "1x")], [("a", "1x"), ("b", "2")]),
        ("// c\nb: 2", [(tree.BAD_SYNTAX, 1, "// c")], [("b", "2")]),
        ("a: 1 $ %\nb: 2", [(tree.BAD_SYNTAX, 1, "$ %")], [("a", "1"), ("b", "2")]),
        ("a: 1;; b: 2", [(tree.BAD_SYNTAX, 1, ";")], [("a", "1"), ("b", "2")]),
        ("a { b: 1 >\nc: 2", [(tree.BAD_SYNTAX, 1, ">")], [("a", [("b", "1")]), ("c", "2")]),
        ("a: [1 2]\nb: 3", [(tree.BAD_SYNTAX, 1, "2")], [("a", [("a", "1"), ("a", "2")]), ("b", "3")]),
        ("a: [1, ]\nb: 3", [(tree.BAD_SYNTAX, 1, "]")], [("a", [("a", "1")]), ("b", "3")]),
        ("x { a: [1, 2 }\nb: 3", [(tree.BAD_SYNTAX, 1, "[")], [("x", [("a", [("a", "1"), ("a", "2")])]), ("b", "3")]),
        ("{ a: 1 }\nb: 2", [(tree.BAD_SYNTAX, 1, "{")], [("", [("a", "1")]), ("b", "2")]),
        ("\ufeffa: 1", [(tree.BYTE_ORDER_MARK, 1, "\ufeff")], [("a", "1")]),
        ("a: 1 \0\nb: 2", [(tree.BAD_SYNTAX, 1, "\0")], [("a", "1"), ("b", "2")]),
        ("a: ä\nb: 2", [(tree.BAD_SYNTAX, 1, "a")], [("a", ""), ("b", "2")]),
    ],
)
def test_a_fault_is_one_problem_and_the_rest_is_read(text, expected, rest):
    assert problems(text) == expected
    assert shape(text) == rest


NET = """\
layer {
  name: "a"
  convolution_param {
    num_output: 1
    weight_filler { type: "xavier" }
  }
}
layer {
  name: "b"
  pooling_param {
    pool: MAX
  }
}
layer {
  name: "c"
}
"""


def _without_line(number: int) -> str:
    lines = NET.split("\n")
    assert lines[number - 1].strip() == "}"
    return "\n".join(lines[: number - 1] + lines[number:])


@pytest.mark.parametrize(("removed", "blamed"), [(6, 3), (7, 1), (12, 10), (13, 8), (16, 14)])
def test_a_missing_brace_is_blamed_on_the_message_that_its_indentation_shows(removed, blamed):
    text = _without_line(removed)
    assert [(kind, line) for kind, line, _ in problems(text)] == [(tree.UNBALANCED, blamed)]
    assert [field.name for field in parse(text).fields] == ["layer", "layer", "layer"]


@pytest.mark.parametrize("after", [6, 7, 12])
def test_a_surplus_brace_is_blamed_where_it_stands(after):
    lines = NET.split("\n")
    text = "\n".join([*lines[:after], lines[after - 1], *lines[after:]])
    found = problems(text)
    assert len(found) == 1 and found[0][0] == tree.UNBALANCED and found[0][1] in (after, after + 1)
    assert [field.name for field in parse(text).fields] == ["layer", "layer", "layer"]


def test_without_indentation_a_layer_inside_a_layer_shows_the_missing_brace():
    text = 'layer {\nname: "a"\nlayer {\nname: "b"\n}\nlayer {\nname: "c"\n}\n'
    assert [(kind, line) for kind, line, _ in problems(text)] == [(tree.UNBALANCED, 1)]
    assert [field.name for field in parse(text).fields] == ["layer", "layer", "layer"]


def test_of_a_merge_conflict_the_first_side_is_read():
    text = "a: 1\n<<<<<<< HEAD\nb: 2\n=======\nb: 3\n>>>>>>> theirs\nc: 4\n"
    assert problems(text) == [(tree.MERGE_CONFLICT, 2, "<<<<<<< HEAD")]
    assert shape(text) == [("a", "1"), ("b", "2"), ("c", "4")]


def test_of_a_three_way_conflict_the_base_is_left_out():
    text = "<<<<<<< HEAD\nb: 2\n||||||| base\nb: 1\n=======\nb: 3\n>>>>>>> theirs\nc: 4\n"
    assert shape(text) == [("b", "2"), ("c", "4")]


def test_problems_come_in_the_order_of_the_text():
    starts = [problem.start for problem in parse("a\nb\n{ c }\nd = 1\n} } }").problems]
    assert starts == sorted(starts)


def test_walk_gives_parents_before_children():
    file = parse("a { b { c: 1 } } d: 2")
    assert [field.name for field in file.walk()] == ["a", "b", "c", "d"]
