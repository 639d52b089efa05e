"""The states that a net is meant for, told from the net alone: which phases and stages have a source of data."""

from __future__ import annotations

from caffe_guard.net.phase import NetState, filter_layers, meets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.model import Layer, Net
    from caffe_guard.schema.message import Message

# A net with more stages than this is judged for the first of them.
_MOST_STATES = 8


def meant_states(net: Net) -> list[NetState]:
    """TRAIN, TEST where some layer speaks of that phase, and the stages that layers without bottoms ask for.

    A phase without any such layer, where another one has some, is not meant: `caffe test` uses nets that have data for
    TEST only, and a test net may need a stage that its solver gives.
    """
    states = [NetState("TRAIN")]
    if any(rule.get("phase") == "TEST" for layer in net.layers for rule in _rules(layer) if rule.has("phase")):
        states.append(NetState("TEST"))
    sources = [layer for layer in net.layers if not layer.bottoms]
    for layer in sources:
        rules = layer.message.get("include")
        if rules and not any(meets(state, rule) for state in states for rule in rules):
            states.append(_state_of(rules[0]))
    with_data = [state for state in states if has_source(net, state)]
    return (with_data or states)[:_MOST_STATES]


def has_source(net: Net, state: NetState) -> bool:
    """Whether some layer that a state has reads nothing: data come in there."""
    return any(not layer.bottoms for layer in filter_layers(net, state)[0])


def _rules(layer: Layer) -> list[Message]:
    return [*layer.message.get("include"), *layer.message.get("exclude")]


def _state_of(rule: Message) -> NetState:
    """The plainest state that meets a rule; without a phase the stage's name tells which is meant."""
    stages = tuple(rule.get("stage"))
    phase = "TRAIN" if any("train" in stage.lower() for stage in stages) else "TEST"
    if rule.has("phase"):
        phase = rule.get("phase")
    level = rule.get("min_level") if rule.has("min_level") else rule.get("max_level") if rule.has("max_level") else 0
    return NetState(phase, level, stages)
