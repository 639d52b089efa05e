"""Which states a net without a solver is judged in."""

from __future__ import annotations

import pytest

from caffe_guard.net.phase import NetState
from caffe_guard.net.shapes import infer
from caffe_guard.net.states import meant_states
from caffe_guard.net.upgrade import build_net
from caffe_guard.prototxt import parse
from caffe_guard.schema.bind import bind
from caffe_guard.schema.dialects import schema_for

DATA = 'layer { name: "d" type: "DummyData" top: "x" %s }\n'
USE = 'layer { name: "r" type: "ReLU" bottom: "x" top: "x" %s }\n'


def states(text: str) -> list[NetState]:
    return meant_states(build_net(bind(parse(text), "NetParameter", schema_for("bvlc")).message))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DATA % "" + USE % "", [NetState("TRAIN")]),
        (DATA % "" + USE % "include { phase: TEST }", [NetState("TRAIN"), NetState("TEST")]),
        # data for one phase only: the other is not meant
        (DATA % "include { phase: TEST }" + USE % "", [NetState("TEST")]),
        (DATA % "include { phase: TRAIN }" + USE % "include { phase: TEST }", [NetState("TRAIN")]),
        (DATA % "exclude { phase: TRAIN }" + USE % "include { phase: TEST }", [NetState("TEST")]),
        # stages that a solver would give
        (
            DATA % "include { phase: TRAIN }" + DATA % 'include { phase: TEST stage: "b" }' + USE % "",
            [NetState("TRAIN"), NetState("TEST", 0, ("b",))],
        ),
        (
            DATA % 'include { stage: "train" }' + DATA % 'include { stage: "val" }' + USE % "",
            [NetState("TRAIN", 0, ("train",)), NetState("TEST", 0, ("val",))],
        ),
        (DATA % "include { min_level: 2 }" + USE % "", [NetState("TEST", 2)]),
        # no source of data at all
        (USE % "", [NetState("TRAIN")]),
        ("", [NetState("TRAIN")]),
    ],
)
def test_states_follow_the_sources_of_data(text: str, expected: list[NetState]) -> None:
    assert states(text) == expected


def test_layer_of_a_fork_read_as_another_caffe_is_unknown_and_no_crash() -> None:
    text = (
        DATA % "dummy_data_param { shape { dim: 1 dim: 2 } }"
        + 'layer { name: "n" type: "Normalize" bottom: "x" top: "y" }\n'
    )
    net = build_net(bind(parse(text), "NetParameter", schema_for("bvlc")).message)
    built = infer(net, NetState("TRAIN"))
    assert built.types[1] is None
    assert built.top_shapes[1] == [None]
    assert built.problems == []
