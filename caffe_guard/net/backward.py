"""Which layers Caffe runs backward: Net::Init's own decision (src/caffe/net.cpp), the inserted Splits included."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.graph import Graph, Step
    from caffe_guard.net.layers.entry import LayerType, Shape
    from caffe_guard.net.model import Net


def decide_backward(net: Net, graph: Graph, types: list[LayerType | None], blobs: list[list[Shape]]) -> list[bool]:
    """For each layer of the phase, whether its backward runs.

    A layer of a type that caffe-guard does not know is taken to have learnable blobs when it has ``param`` entries.
    """
    steps = graph.steps
    entry_of: list[LayerType | None] = []
    blob_count: list[int] = []
    place = 0
    for step in steps:
        if step.layer is None:
            entry_of.append(None)
            blob_count.append(0)
        else:
            entry_of.append(types[place])
            blob_count.append(len(blobs[place]))
            place += 1
    needs: list[bool] = []
    bottom_needs: list[list[bool]] = []
    blob_needs: dict[str, bool] = {}
    for step, count in zip(steps, blob_count):
        need = False
        overrides = _propagate_down(step)
        own = []
        for index, bottom in enumerate(step.bottoms):
            given = blob_needs.get(bottom, False)
            need = need or given
            own.append(overrides[index] if index < len(overrides) else given)
        need = need or _learns(step, count)
        for top in step.tops:
            blob_needs[top] = need
        needs.append(need)
        bottom_needs.append(own)
    _drop_what_reaches_no_loss(steps, entry_of, needs, bottom_needs)
    if net.message.get("force_backward"):
        needs = [True] * len(steps)
    return [need for step, need in zip(steps, needs) if step.layer is not None]


def _propagate_down(step: Step) -> list[bool]:
    if step.layer is None:
        return []
    values = step.layer.message.fields.get("propagate_down")
    return [value.value for value in values] if values else []


def _learns(step: Step, count: int) -> bool:
    """Whether some learnable blob has a learning rate that is not 0; entries that are not given default to 1."""
    if step.layer is None:
        return False
    specs = step.layer.message.fields.get("param", [])
    if count == 0:
        count = len(specs)
    return any(index >= len(specs) or specs[index].value.get("lr_mult") != 0 for index in range(count))


def _is_loss(step: Step, entry: LayerType | None, top: int) -> bool:
    """Whether a top carries a loss weight: an explicit one, or the default of a loss type."""
    if step.loss_weights:
        return top < len(step.loss_weights) and step.loss_weights[top] != 0
    return entry is not None and entry.is_loss and top == 0


def _drop_what_reaches_no_loss(
    steps: list[Step], entry_of: list[LayerType | None], needs: list[bool], bottom_needs: list[list[bool]]
) -> None:
    """From the last layer to the first: only what a loss hangs on, and what some reader passes a gradient to."""
    under_loss: set[str] = set()
    skipped: set[str] = set()
    for index in range(len(steps) - 1, -1, -1):
        step, entry = steps[index], entry_of[index]
        contributes = False
        skip = True
        tops = step.tops or ([""] if entry is not None and entry.auto_top else [])
        for place, top in enumerate(tops):
            if _is_loss(step, entry, place) or top in under_loss:
                contributes = True
            if top not in skipped:
                skip = False
            if contributes and not skip:
                break
        if needs[index] and skip:
            needs[index] = False
            bottom_needs[index] = [False] * len(bottom_needs[index])
        if not contributes:
            needs[index] = False
        for place, bottom in enumerate(step.bottoms):
            if contributes:
                under_loss.add(bottom)
            else:
                bottom_needs[index][place] = False
            if not bottom_needs[index][place]:
                skipped.add(bottom)
