"""A learning-rate schedule as a picture: characters for the terminal, PNG or SVG by matplotlib.

Both take the points as (iteration, rate) pairs in order; a rate that is None, not finite or not above 0
has no place on the (mostly logarithmic) axis and is marked on its own line.
"""

from __future__ import annotations

import math

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Points = Sequence[tuple[int, "float | None"]]

#: A schedule that spends half of its time this many times below its peak is drawn on a logarithmic axis.
LOGARITHMIC_FROM = 8.0


def sample(rate: Callable[[int], float | None], stop: int, count: int) -> list[tuple[int, float | None]]:
    """The rate at `count` iterations (fewer if there are fewer) spread evenly over 0 .. stop - 1."""
    count = min(count, stop)
    if count <= 1:
        return [(0, rate(0))] if count else []
    iterations = [index * (stop - 1) // (count - 1) for index in range(count)]
    return [(iteration, rate(iteration)) for iteration in iterations]


def as_text(points: Points, height: int = 12) -> str:
    """A plot of one column a point, with the axis labelled; ``!`` marks rates that cannot be drawn."""
    drawable = [value for _, value in points if value is not None and _is_drawable(value)]
    lines: list[str] = []
    if drawable:
        low, high = min(drawable), max(drawable)
        logarithmic = _is_steep(drawable)
        rows = [_row(value, low, high, logarithmic, height) for _, value in points]
        for row in range(height - 1, -1, -1):
            label = _level(row, low, high, logarithmic, height) if row in (0, height // 2, height - 1) else ""
            lines.append(f"{label:>11} |" + "".join("*" if at == row else " " for at in rows).rstrip())
            if low == high:
                break
    if any(not _is_drawable(value) for _, value in points):
        marks = "".join(" " if _is_drawable(value) else "!" for _, value in points)
        lines.append(f"{'no rate':>11} |{marks.rstrip()}")
    first, last = points[0][0], points[-1][0]
    lines.append(" " * 12 + "+" + "-" * len(points))
    gap = max(len(points) - len(str(first)) - len(str(last)), 1)
    lines.append(" " * 13 + f"{first}{' ' * gap}{last}")
    return "\n".join(lines)


def as_picture(path: str, points: Points, title: str) -> None:
    """Draw the points into a file; its ending (.png or .svg) is the format. ImportError when matplotlib is
    missing, OSError when the file cannot be written."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    drawable = [(at, value) for at, value in points if value is not None and _is_drawable(value)]
    bad = [iteration for iteration, value in points if not _is_drawable(value)]
    if drawable:
        axes.plot(*zip(*drawable), drawstyle="steps-post", color="#1f5fa8")
        values = [value for _, value in drawable]
        if _is_steep(values):
            axes.set_yscale("log")
    if bad:
        axes.axvspan(bad[0], bad[-1], color="#c0392b", alpha=0.2, label="nan, inf, 0 or negative")
        axes.legend()
    axes.set_title(title)
    axes.set_xlabel("iteration")
    axes.set_ylabel("learning rate")
    axes.grid(True, alpha=0.3)
    figure.savefig(path)


def _is_steep(values: list[float]) -> bool:
    return max(values) / sorted(values)[len(values) // 2] > LOGARITHMIC_FROM


def _is_drawable(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value > 0


def _row(value: float | None, low: float, high: float, logarithmic: bool, height: int) -> int:
    if value is None or not _is_drawable(value):
        return -1
    if low == high:
        return height - 1
    if logarithmic:
        part = math.log(value / low) / math.log(high / low)
    else:
        part = (value - low) / (high - low)
    return round(part * (height - 1))


def _level(row: int, low: float, high: float, logarithmic: bool, height: int) -> str:
    part = row / (height - 1)
    value = low * (high / low) ** part if logarithmic else low + (high - low) * part
    return f"{value:.3g}"
