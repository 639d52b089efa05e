"""Places for the boxes of a net: rows from the data down to the losses, lines that go around the boxes between.

The usual way for layered drawings (Sugiyama, Tagawa and Toda, 1981): a row a box by its longest way from the data, a
waypoint in every row that a line passes, an order in each row by the middle of the neighbours, and then places.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.report.net_boxes import Box

# Lengths are CSS pixels.
CHARACTER = 7.1
LINE = 15
_PAD = 16
_GAP_ACROSS = 26
_GAP_DOWN = 34
_WAYPOINT = 12
_NARROWEST = 70
_SWEEPS = 6


class Node:
    """A box, or a waypoint (``box`` is None); ``x`` is its middle, ``y`` its upper edge."""

    __slots__ = ("above", "below", "box", "height", "row", "width", "x", "y")

    def __init__(self, row: int, box: Box | None, width: float, height: float) -> None:
        self.row = row
        self.box = box
        self.width = width
        self.height = height
        self.x = 0.0
        self.y = 0.0
        self.above: list[Node] = []
        self.below: list[Node] = []


class Line:
    """A line from a box to one that reads from it, through waypoints; ``words`` say what goes along it."""

    __slots__ = ("nodes", "words")

    def __init__(self, nodes: list[Node], words: str) -> None:
        self.nodes = nodes
        self.words = words


class Layout:
    """The nodes and lines of a drawing, and its extent."""

    __slots__ = ("height", "lines", "nodes", "width")

    def __init__(self, nodes: list[Node], lines: list[Line], width: float, height: float) -> None:
        self.nodes = nodes
        self.lines = lines
        self.width = width
        self.height = height


def lay_out(boxes: list[Box]) -> Layout:
    """Places for every box and line."""
    row_of = _rows(boxes)
    rows: list[list[Node]] = [[] for _ in range(max(row_of, default=-1) + 1)]
    node_of = []
    for box in boxes:
        text = max([len(line) for line in box.lines] + [len(box.shape)])
        width = max(_NARROWEST, text * CHARACTER + _PAD)
        node = Node(row_of[box.number], box, width, LINE * (len(box.lines) + 1) + _PAD / 2)
        node_of.append(node)
        rows[node.row].append(node)
    lines = []
    for box in boxes:
        for source, words in box.inputs:
            lines.append(_line(node_of[source.number], node_of[box.number], rows, words))
    _order(rows)
    _place_across(rows)
    height = _place_down(rows)
    left = min((node.x - node.width / 2 for row in rows for node in row), default=0.0)
    right = max((node.x + node.width / 2 for row in rows for node in row), default=0.0)
    for row in rows:
        for node in row:
            node.x += _GAP_ACROSS - left
    return Layout([node for row in rows for node in row], lines, right - left + 2 * _GAP_ACROSS, height)


def _rows(boxes: list[Box]) -> list[int]:
    """The longest way to each box; what reads nothing stands right above its first reader."""
    rows = [0] * len(boxes)
    nearest: dict[int, int] = {}
    for box in boxes:
        for source, _ in box.inputs:
            rows[box.number] = max(rows[box.number], rows[source.number] + 1)
        for source, _ in box.inputs:
            nearest[source.number] = min(nearest.get(source.number, 1 << 30), rows[box.number])
    for box in boxes:
        if not box.inputs and box.number in nearest:
            rows[box.number] = nearest[box.number] - 1
    return rows


def _line(source: Node, target: Node, rows: list[list[Node]], words: str) -> Line:
    nodes = [source]
    for row in range(source.row + 1, target.row):
        waypoint = Node(row, None, _WAYPOINT, 0)
        rows[row].append(waypoint)
        nodes.append(waypoint)
    nodes.append(target)
    for upper, lower in zip(nodes, nodes[1:]):
        upper.below.append(lower)
        lower.above.append(upper)
    return Line(nodes, words)


def _order(rows: list[list[Node]]) -> None:
    """Order each row by the middle of its neighbours' places, downwards and upwards in turn."""
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        previous: dict[int, float] = {}
        for row in rows if down else reversed(rows):
            keys = {}
            for place, node in enumerate(row):
                known = [previous[id(other)] for other in (node.above if down else node.below) if id(other) in previous]
                keys[id(node)] = sum(known) / len(known) if known else float(place)
            row.sort(key=lambda node: keys[id(node)])
            for place, node in enumerate(row):
                previous[id(node)] = float(place)


def _place_across(rows: list[list[Node]]) -> None:
    """Begin side by side, then draw each node to the middle of its neighbours, as far as those beside it allow."""
    for row in rows:
        x = 0.0
        for node in row:
            node.x = x + node.width / 2
            x += node.width + _GAP_ACROSS
        for node in row:
            node.x -= (x - _GAP_ACROSS) / 2
    for sweep in range(2 * _SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else reversed(rows):
            wanted = []
            for node in row:
                near = node.above if down else node.below
                wanted.append(sum(other.x for other in near) / len(near) if near else node.x)
            _settle(row, wanted)


def _settle(row: list[Node], wanted: list[float]) -> None:
    """Places near the wanted ones that keep order and distance: the mean of pushing to the right and to the left."""
    rightwards: list[float] = []
    for index, node in enumerate(row):
        least = rightwards[-1] + _distance(row[index - 1], node) if index else wanted[0]
        rightwards.append(max(wanted[index], least))
    leftwards = [0.0] * len(row)
    for index in range(len(row) - 1, -1, -1):
        most = leftwards[index + 1] - _distance(row[index], row[index + 1]) if index + 1 < len(row) else wanted[-1]
        leftwards[index] = min(wanted[index], most)
    for node, one, other in zip(row, rightwards, leftwards):
        node.x = (one + other) / 2


def _distance(left: Node, right: Node) -> float:
    return (left.width + right.width) / 2 + _GAP_ACROSS


def _place_down(rows: list[list[Node]]) -> float:
    y = float(_GAP_DOWN)
    for row in rows:
        height = max((node.height for node in row), default=0.0)
        for node in row:
            # A waypoint stands for a line that passes straight through its row.
            node.y = y
            if node.box is None:
                node.height = height
        y += height + _GAP_DOWN
    return y
