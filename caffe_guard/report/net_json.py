"""A net as JSON, by the contract of ``caffe-guard shapes``."""

from __future__ import annotations

import json

from caffe_guard.net.cost import layer_costs, total

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caffe_guard.net.shapes import PhaseNet


def render(net: PhaseNet) -> str:
    """The JSON text, ending in a newline. An unknown extent, or a figure that needs one, is null."""
    return json.dumps(as_data(net), indent=2) + "\n"


def as_data(net: PhaseNet) -> dict[str, Any]:
    """The net as plain data. ``splits`` are the Split layers that Caffe inserts, by Caffe's names."""
    costs = layer_costs(net)
    layers = []
    for index, (layer, cost) in enumerate(zip(net.layers, costs)):
        layers.append(
            {
                "name": layer.name,
                "type": layer.type,
                "bottoms": [bottom.value for bottom in layer.bottoms],
                "tops": [
                    {"blob": top.value, "shape": None if shape is None else list(shape)}
                    for top, shape in zip(layer.tops, net.top_shapes[index])
                ],
                "params": [None if shape is None else list(shape) for shape in net.blobs[index]],
                "need_backward": net.need_backward[index],
                "macs": cost.macs,
                "activation_bytes": cost.activation_bytes,
            }
        )
    return {
        "version": 1,
        "phase": net.phase,
        "level": net.state.level,
        "stages": list(net.state.stages),
        "layers": layers,
        "splits": [
            {"name": step.name, "bottom": step.bottoms[0], "tops": step.tops}
            for step in net.graph.steps
            if step.layer is None
        ],
        "problems": [
            {"layer": None if problem.layer is None else problem.layer.name, "message": problem.message}
            for problem in net.problems
        ],
        "totals": {
            "params": total([cost.params for cost in costs]),
            "macs": total([cost.macs for cost in costs]),
            "activation_bytes": total([cost.activation_bytes for cost in costs]),
        },
    }
