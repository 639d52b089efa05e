"""The float32 and C library arithmetic that Caffe's solver uses, without numpy.

A product, sum, difference or quotient of two float32 values, computed in double and rounded once, is what the
processor's float32 instruction gives; so :func:`f32` after each step is enough.
"""

from __future__ import annotations

import math
import struct

_FLOAT = struct.Struct("f")


def f32(value: float) -> float:
    """The nearest float32, as a float; a value beyond float32's range becomes an infinity."""
    try:
        return float(_FLOAT.unpack(_FLOAT.pack(value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def divide(numerator: float, denominator: float) -> float:
    """IEEE 754 division: x/0 is an infinity, 0/0 is NaN. The result is not rounded to float32."""
    if denominator != 0:
        return numerator / denominator
    if numerator == 0 or math.isnan(numerator):
        return math.nan
    return math.copysign(math.inf, numerator) * math.copysign(1.0, denominator)


def power(base: float, exponent: float) -> float:
    """C's ``pow``: a range error gives an infinity or 0, a domain error NaN; it never raises."""
    try:
        return math.pow(base, exponent)
    except OverflowError:
        return -math.inf if base < 0 and _is_odd(exponent) else math.inf
    except ValueError:
        if base == 0 and exponent < 0:
            return math.copysign(math.inf, base) if _is_odd(exponent) else math.inf
        return math.nan


def exponential(value: float) -> float:
    """C's ``exp``: overflow gives an infinity."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def _is_odd(value: float) -> bool:
    return math.fmod(value, 2.0) in (1.0, -1.0)
