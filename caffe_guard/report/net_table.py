"""A net as a table: a layer a line, its tops, learnable values, work, memory, and whether it has a backward."""

from __future__ import annotations

from caffe_guard.net.cost import layer_costs, total
from caffe_guard.net.layers.entry import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent
    from caffe_guard.net.shapes import PhaseNet

_HEADS = ("layer", "type", "top", "shape", "params", "MACs", "memory", "backward")
# Columns of numbers stand to the right.
_RIGHT = (4, 5, 6)


def render(net: PhaseNet) -> str:
    """The table and a last line of totals, ending in a newline."""
    costs = layer_costs(net)
    rows: list[tuple[str, ...]] = [_HEADS]
    for index, (layer, cost) in enumerate(zip(net.layers, costs)):
        tops = [(top.value, words(shape)) for top, shape in zip(layer.tops, net.top_shapes[index])] or [("", "")]
        figures = (number(cost.params), scaled(cost.macs), size(cost.activation_bytes))
        backward = "yes" if net.need_backward[index] else ""
        rows.append((layer.name, layer.type, *tops[0], *figures, backward))
        rows.extend(("", "", *more, "", "", "", "") for more in tops[1:])
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if column in _RIGHT else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths))
        ]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines) + f"\n\n{totals(net)}\n"


def totals(net: PhaseNet) -> str:
    """What stands below the table."""
    costs = layer_costs(net)
    learning = sum(net.need_backward)
    return (
        f"{len(net.layers)} layers, {learning} of them with backward"
        f" · {number(total([cost.params for cost in costs]))} params"
        f" · {scaled(total([cost.macs for cost in costs]))} MACs a forward"
        f" · {size(total([cost.activation_bytes for cost in costs]))} for the blobs' values"
    )


def number(value: Extent) -> str:
    """A count with its thousands set apart; empty for 0."""
    return "?" if value is None else f"{value:,}" if value else ""


def scaled(value: Extent) -> str:
    """A count of operations, to three digits."""
    if value is None:
        return "?"
    if not value:
        return ""
    for factor, unit in ((10**12, "T"), (10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= factor:
            return f"{value / factor:.3g} {unit}"
    return str(value)


def size(value: Extent) -> str:
    """Bytes, in binary units."""
    if value is None:
        return "?"
    if not value:
        return ""
    for power, unit in ((30, "GiB"), (20, "MiB"), (10, "KiB")):
        if value >= 1 << power:
            return f"{value / (1 << power):.3g} {unit}"
    return f"{value} B"
