"""Float32 and C library arithmetic."""

from __future__ import annotations

import math
import struct

from hypothesis import given
from hypothesis import strategies as st

from caffe_guard.solver.float32 import divide, exponential, f32, power


def test_rounding_to_float32() -> None:
    assert f32(0.1) == 0.10000000149011612
    assert f32(1e39) == math.inf
    assert f32(-1e39) == -math.inf
    assert f32(1e-46) == 0.0
    assert math.isnan(f32(math.nan))


@given(st.floats(width=32))
def test_a_float32_is_kept(value: float) -> None:
    assert struct.pack("d", f32(value)) == struct.pack("d", value) or math.isnan(value)


def test_division() -> None:
    assert divide(1, 4) == 0.25
    assert divide(1, 0.0) == math.inf
    assert divide(-1, 0.0) == -math.inf
    assert divide(1, -0.0) == -math.inf
    assert math.isnan(divide(0, 0))
    assert math.isnan(divide(math.nan, 0))


def test_power_as_in_c() -> None:
    assert power(2, 0.5) == math.sqrt(2)
    assert power(0, 0) == 1
    assert power(math.nan, 0) == 1
    assert power(10, 400) == math.inf
    assert power(-10, 401) == -math.inf
    assert power(-10, 400) == math.inf
    assert power(0, -1) == math.inf
    assert power(-0.0, -1) == -math.inf
    assert power(-0.0, -2) == math.inf
    assert math.isnan(power(-1, 0.5))
    assert power(10, -400) == 0


def test_exponential_overflows_to_infinity() -> None:
    assert exponential(0) == 1
    assert exponential(1e4) == math.inf
    assert exponential(-1e4) == 0


@given(st.floats(), st.floats())
def test_nothing_raises(left: float, right: float) -> None:
    power(left, right)
    divide(left, right)
    exponential(left)
    f32(left)
