"""A net as an SVG picture that needs nothing else: no fonts, no scripts, no network."""

from __future__ import annotations

from xml.sax.saxutils import escape, quoteattr

from caffe_guard.report.net_boxes import Box
from caffe_guard.report.net_dot import COLOURS, OUTLINES
from caffe_guard.report.net_layout import LINE, Layout, Line, Node, lay_out
from caffe_guard.report.printable import printable

_STYLE = (
    "text{font:11px Helvetica,Arial,sans-serif;fill:#222;text-anchor:middle}"
    ".n{font-weight:600}.s{fill:#555;font-style:italic}.e{fill:none;stroke:#888;stroke-width:1.2}"
    ".w{font-size:9px;fill:#777}"
)


def render(boxes: list[Box], title: str) -> str:
    """The SVG text."""
    layout = lay_out(boxes)
    title = printable(title)
    parts = [
        '<?xml version="1.0" encoding="UTF-8"?>\n',
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {layout.width:.0f} {layout.height:.0f}"'
        f' width="{layout.width:.0f}" height="{layout.height:.0f}" role="img" aria-label={quoteattr(title)}>\n',
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0 0L8 4L0 8z" fill="#888"/></marker></defs>\n',
        *_drawing(layout),
        "</svg>\n",
    ]
    return "".join(parts)


def _drawing(layout: Layout) -> list[str]:
    return [
        *(_path(line) for line in layout.lines),
        *(_rectangle(node) for node in layout.nodes if node.box is not None),
    ]


def _path(line: Line) -> str:
    """Curves that leave and reach each node upright; the blob's shape is told where the line is pointed at."""
    first = line.nodes[0]
    x, y = first.x, first.y + first.height
    steps = [f"M{x:.1f} {y:.1f}"]
    for node in line.nodes[1:]:
        middle = (y + node.y) / 2
        steps.append(f"C{x:.1f} {middle:.1f} {node.x:.1f} {middle:.1f} {node.x:.1f} {node.y:.1f}")
        x, y = node.x, node.y
        if node.box is None:
            y += node.height
            steps.append(f"L{x:.1f} {y:.1f}")
    words = f"<title>{escape(printable(line.words))}</title>"
    return f'<path class="e" marker-end="url(#tip)" d="{" ".join(steps)}">{words}</path>\n'


def _rectangle(node: Node) -> str:
    box = node.box
    assert box is not None
    outline = OUTLINES.get(box.severity or "", "#888")
    width = 2.5 if box.severity else 1
    # Layers without a backward have a broken outline.
    dash = "" if box.backward else ' stroke-dasharray="4 3"'
    title = "\n".join([*box.lines, *box.messages])
    parts = [
        f'<g id="box{box.number}"><title>{escape(printable(title, chr(10)))}</title>'
        f'<rect x="{node.x - node.width / 2:.1f}" y="{node.y:.1f}" width="{node.width:.1f}" height="{node.height:.1f}"'
        f' rx="6" fill="{COLOURS[box.kind]}" stroke="{outline}" stroke-width="{width}"{dash}/>'
    ]
    y = node.y + LINE
    for index, line in enumerate(box.lines):
        name = ' class="n"' if index == 0 else ""
        parts.append(f'<text x="{node.x:.1f}" y="{y:.1f}"{name}>{escape(printable(line))}</text>')
        y += LINE
    parts.append(f'<text x="{node.x:.1f}" y="{y:.1f}" class="s">{escape(printable(box.shape))}</text></g>\n')
    return "".join(parts)
