"""A net as one HTML page: a picture to move and zoom, what lint finds, the table. It loads nothing from elsewhere."""

from __future__ import annotations

from caffe_guard.net.cost import layer_costs
from caffe_guard.net.layers.entry import words
from caffe_guard.report import net_svg
from caffe_guard.report.net_boxes import Box
from caffe_guard.report.net_dot import COLOURS
from caffe_guard.report.net_table import number, scaled, size, totals
from caffe_guard.report.printable import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.diagnostic import Diagnostic
    from caffe_guard.net.shapes import PhaseNet


def render(net: PhaseNet, boxes: list[Box], diagnostics: list[Diagnostic], title: str) -> str:
    """The page's text."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(loader=PackageLoader("caffe_guard.report"), autoescape=True, keep_trailing_newline=True)
    # The picture is made here, escaped by its own module; its XML declaration has no place inside a page.
    picture = net_svg.render(boxes, title).partition("\n")[2]
    return environment.get_template("net.html.j2").render(
        title=printable(title),
        totals=totals(net),
        colours=COLOURS,
        picture=picture,
        findings=[_finding(one, net, boxes) for one in diagnostics],
        rows=_rows(net),
    )


def _finding(diagnostic: Diagnostic, net: PhaseNet, boxes: list[Box]) -> dict[str, object]:
    finding = diagnostic.finding
    line, column = diagnostic.source.line_column(finding.start)
    box = next((box.number for box in boxes for index in box.layers if net.layers[index].name == finding.layer), None)
    return {
        "severity": diagnostic.severity.label,
        "code": diagnostic.code,
        "place": printable(f"{diagnostic.source.path}:{line}:{column}"),
        "message": printable(finding.message),
        "help": printable(finding.help or ""),
        "box": box,
    }


def _rows(net: PhaseNet) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    for index, (layer, cost) in enumerate(zip(net.layers, layer_costs(net))):
        tops = [f"{top.value} {words(shape)}" for top, shape in zip(layer.tops, net.top_shapes[index])]
        rows.append(
            {
                "name": printable(layer.name),
                "type": printable(layer.type),
                "tops": [printable(top) for top in tops],
                "params": number(cost.params),
                "macs": scaled(cost.macs),
                "memory": size(cost.activation_bytes),
                "backward": "yes" if net.need_backward[index] else "",
            }
        )
    return rows
