"""Which layers a net has in a phase: the include and exclude rules, as Net::FilterNet and Net::StateMeetsRule decide
(src/caffe/net.cpp)."""

from __future__ import annotations

from caffe_guard.net.problem import Problem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.model import Layer, Net
    from caffe_guard.schema.message import Message


class NetState:
    """What a net is built for: phase (``TRAIN`` or ``TEST``), level, stages."""

    __slots__ = ("level", "phase", "stages")

    def __init__(self, phase: str, level: int = 0, stages: tuple[str, ...] = ()) -> None:
        self.phase = phase
        self.level = level
        self.stages = stages

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NetState) and (self.phase, self.level, self.stages) == (
            other.phase,
            other.level,
            other.stages,
        )

    def __hash__(self) -> int:
        return hash((self.phase, self.level, self.stages))

    def __repr__(self) -> str:
        return f"NetState({self.phase}, {self.level}, {self.stages})"


def meets(state: NetState, rule: Message) -> bool:
    """Whether a state meets a rule: every condition that the rule gives holds."""
    if rule.has("phase") and rule.get("phase") != state.phase:
        return False
    if rule.has("min_level") and state.level < rule.get("min_level"):
        return False
    if rule.has("max_level") and state.level > rule.get("max_level"):
        return False
    return all(stage in state.stages for stage in rule.get("stage")) and not any(
        stage in state.stages for stage in rule.get("not_stage")
    )


def filter_layers(net: Net, state: NetState) -> tuple[list[Layer], list[Problem]]:
    """The layers that the net has in a state, and the layers that Caffe refuses to decide on."""
    kept = []
    problems = []
    for layer in net.layers:
        fields = layer.message.fields
        include = fields.get("include")
        exclude = fields.get("exclude")
        if include is None and exclude is None:
            kept.append(layer)
            continue
        if include and exclude:
            problems.append(
                Problem(
                    "include-and-exclude",
                    f'"{layer.name}" has include and exclude rules; Caffe allows one kind only and aborts',
                    exclude[0].name_start,
                    exclude[0].name_end,
                    layer,
                    "exclude",
                    "say it with include rules alone, or exclude rules alone",
                )
            )
            continue
        if include:
            keep = any(meets(state, rule.value) for rule in include)
        else:
            keep = not any(meets(state, rule.value) for rule in exclude or ())
        if keep:
            kept.append(layer)
    return kept, problems
