"""Scalars mean what protobuf makes of them."""

from __future__ import annotations

import math

import pytest

from caffe_guard.prototxt.values import float_value, integer_value, string_value


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('"plain"', "plain"),
        ("'single'", "single"),
        ('""', ""),
        ('"a" "b"', "ab"),
        ("\"a\" # between\n 'b'", "ab"),
        ('"a # no comment" "b"', "a # no comment" + "b"),
        (r'"tab\tnew\nquote\"end"', 'tab\tnew\nquote"end'),
        (r'"\a\b\f\r\v\\\?\'"', "\a\b\f\r\v\\?'"),
        (r'"\x41\X42"', "AB"),
        (r'"\101\7"', "A\a"),
        (r'"\303\274"', "ü"),
        (r'"ü\U0001F600"', "ü\U0001f600"),
        (r'"\xff"', "\udcff"),
        ('"\udce9t\udce9"', "\udce9t\udce9"),
    ],
)
def test_string(raw, value):
    assert string_value(raw) == value


@pytest.mark.parametrize("raw", [r'"\q"', r'"\U00110000"', r'"\8"', r'"\x"'])
def test_a_bad_escape_is_refused(raw):
    with pytest.raises(ValueError):
        string_value(raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [("0", 0), ("42", 42), ("-7", -7), ("- 7", -7), ("0x1f", 31), ("-0X1F", -31), ("017", 15), ("00", 0)],
)
def test_integer(raw, value):
    assert integer_value(raw) == value


@pytest.mark.parametrize("raw", ["1.0", "1e3", "089", "true", "", "-", "9" * 100_000])
def test_what_is_no_integer_is_refused_quickly(raw):
    with pytest.raises(ValueError):
        integer_value(raw)


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ("1", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("1.5f", 1.5),
        ("1e-3F", 1e-3),
        ("-2.5", -2.5),
        ("inf", math.inf),
        ("-inf", -math.inf),
        ("INFINITY", math.inf),
        ("- inf", -math.inf),
        ("1e999", math.inf),
    ],
)
def test_float(raw, value):
    assert float_value(raw) == value


@pytest.mark.parametrize("raw", ["nan", "-nan", "NaN"])
def test_nan(raw):
    assert math.isnan(float_value(raw))


@pytest.mark.parametrize("raw", ["0x10", "true", '"1"', "infinit"])
def test_what_is_no_float_is_refused(raw):
    with pytest.raises(ValueError):
        float_value(raw)
