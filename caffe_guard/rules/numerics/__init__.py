"""Numbers: what gives NaN, -FLT_MAX, a loss that sticks, or weights that never move."""
