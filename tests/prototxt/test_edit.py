"""Edits touch what they say; comments, indentation and line ends stay."""

from __future__ import annotations

import pytest

from caffe_guard.fixing import apply_edits
from caffe_guard.prototxt import parse
from caffe_guard.prototxt.edit import insert_after, insert_into, remove


def _after(text, name, new):
    field = next(field for field in parse(text).walk() if field.name == name)
    return apply_edits(text, [insert_after(text, field.name_start, field.end, new)])


def _into(text, name, new):
    field = next(field for field in parse(text).walk() if field.name == name)
    return apply_edits(text, [insert_into(text, field.start, field.end, new)])


def _removed(text, name):
    field = next(field for field in parse(text).walk() if field.name == name)
    return apply_edits(text, [remove(text, field.name_start, field.end)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\n", "a: 1\nnew: 0\nb: 2\n"),
        ("a: 1 # why\nb: 2\n", "a: 1 # why\nnew: 0\nb: 2\n"),
        ("a: 1;\nb: 2\n", "a: 1;\nnew: 0\nb: 2\n"),
        ("a: 1 b: 2\n", "a: 1 new: 0 b: 2\n"),
        ("a: 1", "a: 1\nnew: 0"),
        ("x {\r\n\ta: 1\r\n}\r\n", "x {\r\n\ta: 1\r\n\tnew: 0\r\n}\r\n"),
        ("a: 1 # \udce9\n", "a: 1 # \udce9\nnew: 0\n"),
    ],
)
def test_insert_after(text, expected):
    assert _after(text, "a", "new: 0") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x { a: 1 }\n", "x { a: 1 new: 0 }\n"),
        ("x {}\n", "x { new: 0 }\n"),
        ("x { }\n", "x { new: 0 }\n"),
        ("x {\n  a: 1\n}\n", "x {\n  a: 1\n  new: 0\n}\n"),
        ("x {\n  a: 1  # why\n}\n", "x {\n  a: 1  # why\n  new: 0\n}\n"),
        ("x {\n    # only a comment\n}\n", "x {\n    # only a comment\n    new: 0\n}\n"),
        ("x {\r\n  a: 1\r\n}\r\n", "x {\r\n  a: 1\r\n  new: 0\r\n}\r\n"),
        ("x <\n\ta: 1\n>\n", "x <\n\ta: 1\n\tnew: 0\n>\n"),
        ("x {\n  a: 1 }\n", "x {\n  a: 1\n  new: 0\n}\n"),
        ("x {\n}\n", "x {\n  new: 0\n}\n"),
    ],
)
def test_insert_into(text, expected):
    assert _into(text, "x", "new: 0") == expected


def test_a_message_of_several_lines_is_indented_where_it_goes():
    assert _into("x {\n  a: 1\n}\n", "x", "m {\n  b: 2\n}") == "x {\n  a: 1\n  m {\n    b: 2\n  }\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: 1\nb: 2\n", "b: 2\n"),
        ("a: 1 # said of a\nb: 2\n", "b: 2\n"),
        ("# above\na: 1\nb: 2\n", "# above\nb: 2\n"),
        ("a: 1; b: 2\n", "b: 2\n"),
        ("x { a: 1 b: 2 }\n", "x { b: 2 }\n"),
        ("x { b: 2 a: 1 }\n", "x { b: 2 }\n"),
        ("b: 2\r\na: 1\r\n", "b: 2\r\n"),
        ("a {\n  c: 1\n}\nb: 2\n", "b: 2\n"),
        ("b: 2\na: 1", "b: 2\n"),
    ],
)
def test_remove(text, expected):
    assert _removed(text, "a") == expected
