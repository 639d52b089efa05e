"""A net in Graphviz's language."""

from __future__ import annotations

from caffe_guard.report.net_boxes import Box
from caffe_guard.report.printable import printable

COLOURS = {
    "data": "#dbe9f6",
    "weights": "#d9efdb",
    "pooling": "#fdebd0",
    "joint": "#e8e0f3",
    "norm": "#e0f3f1",
    "loss": "#f9d9d6",
    "score": "#f1f1f1",
    "other": "#ffffff",
}
OUTLINES = {"error": "#c0392b", "warning": "#d68910", "info": "#2874a6"}


def render(boxes: list[Box], title: str) -> str:
    """The text of a digraph, for `dot -Tsvg` and its like."""
    lines = [
        f"digraph {_quoted(title)} {{",
        '  node [shape=box, style="filled,rounded", fontname="Helvetica", fontsize=10];',
        '  edge [fontname="Helvetica", fontsize=9];',
    ]
    for box in boxes:
        more = f', color="{OUTLINES[box.severity]}", penwidth=2' if box.severity else ""
        if box.messages:
            more += f", tooltip={_quoted(chr(10).join(box.messages))}"
        label = "\n".join(box.lines)
        lines.append(f'  n{box.number} [label={_quoted(label)}, fillcolor="{COLOURS[box.kind]}"{more}];')
    for box in boxes:
        for source, words in box.inputs:
            lines.append(f"  n{source.number} -> n{box.number} [label={_quoted(words)}];")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    plain = printable(text, "\n")
    return '"' + plain.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'
