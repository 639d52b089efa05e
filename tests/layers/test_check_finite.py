"""checkFiniteLayer with a stand-in for pycaffe's blobs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.layers.stand_in import Blob, layer, load


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load("check_finite_layer")


def _records(tmp_path, folder="."):
    with open(tmp_path / folder / "caffe_guard_incidents.jsonl", encoding="utf-8") as stream:
        return [json.loads(line) for line in stream]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fc2", {"prefix": "fc2", "every": 1, "action": "raise"}),
        ("a b/c", {"prefix": "a b/c"}),
        ("", {"prefix": ""}),
        ('{"prefix": "fc2", "every": 10, "action": "warn"}', {"prefix": "fc2", "every": 10, "action": "warn"}),
        ("prefix=fc2 every=10, allow=-inf|nan", {"prefix": "fc2", "every": 10, "allow": ["-inf", "nan"]}),
        ("prefix=x max_abs=1e30; dump=out history=5", {"max_abs": 1e30, "dump": "out", "history": 5}),
    ],
)
def test_options(module, text, expected):
    options = module.read_options(text)
    assert {name: options[name] for name in expected} == expected


@pytest.mark.parametrize(
    "text",
    ["{'prefix': 1}", "[1]", "every=0", "every=x", "action=stop", "allow=0", "max_abs=-1", "prefx=a", '{"a": 1}'],
)
def test_impossible_options_are_refused(module, text):
    with pytest.raises(ValueError):
        module.read_options(text)


def test_a_clean_blob_passes_unchanged(module):
    blob = Blob(2, 3)
    blob.data[...] = np.arange(6).reshape(2, 3)
    before = blob.data.copy()
    guard = layer(module.checkFiniteLayer, "fc2", [blob], [blob])
    guard.forward([blob], [blob])
    guard.backward([blob], [True], [blob])
    assert (blob.data == before).all()


@pytest.mark.parametrize(("value", "name"), [(np.nan, "nan"), (np.inf, "posinf"), (-np.inf, "neginf")])
def test_a_bad_item_stops_the_run_and_is_told(module, tmp_path, value, name):
    blob = Blob(2, 3, 4, 5)
    blob.data[1, 2, 0, 3] = value
    guard = layer(module.checkFiniteLayer, "fc2", [blob], [blob])
    with pytest.raises(module.NonFiniteError) as caught:
        guard.forward([blob], [blob])
    message = str(caught.value)
    assert "fc2" in message and "forward" in message and "bottom 0" in message and "0.8333% of 120" in message
    (record,) = _records(tmp_path)
    assert record["counts"][name] == 1 and record["counts"]["first"] == [1, 2, 0, 3]
    assert record == caught.value.incident


def test_gradients_are_checked_where_they_are_wanted(module):
    blob = Blob(4)
    blob.diff[2] = np.nan
    guard = layer(module.checkFiniteLayer, "fc2", [blob], [blob])
    guard.backward([blob], [False], [blob])
    with pytest.raises(module.NonFiniteError, match="backward"):
        guard.backward([blob], [True], [blob])


def test_finite_values_whose_squares_overflow_are_fine(module):
    blob = Blob(4)
    blob.data[...] = 3e38
    layer(module.checkFiniteLayer, "fc2", [blob], [blob]).forward([blob], [blob])


def test_values_about_to_overflow_are_bad_when_asked_for(module):
    blob = Blob(4)
    blob.data[1] = 2e10
    layer(module.checkFiniteLayer, "prefix=a max_abs=1e11", [blob], []).forward([blob], [])
    with pytest.raises(module.NonFiniteError, match="1 large"):
        layer(module.checkFiniteLayer, "prefix=a max_abs=1e10", [blob], []).forward([blob], [])


def test_what_is_meant_is_allowed(module):
    blob = Blob(4)
    blob.data[1] = -np.inf
    guard = layer(module.checkFiniteLayer, "prefix=mask allow=-inf", [blob], [])
    guard.forward([blob], [])
    blob.data[2] = np.nan
    with pytest.raises(module.NonFiniteError):
        guard.forward([blob], [])


def test_only_every_so_many_passes_are_checked(module):
    blob = Blob(4)
    guard = layer(module.checkFiniteLayer, "prefix=a every=3", [blob], [])
    guard.forward([blob], [])
    blob.data[0] = np.nan
    guard.forward([blob], [])
    guard.forward([blob], [])
    with pytest.raises(module.NonFiniteError):
        guard.forward([blob], [])


@pytest.mark.parametrize("action", ["warn", "record"])
def test_the_run_can_go_on(module, tmp_path, capsys, action):
    blob = Blob(4)
    blob.data[0] = np.nan
    guard = layer(module.checkFiniteLayer, f"prefix=a action={action}", [blob], [])
    guard.forward([blob], [])
    guard.forward([blob], [])
    assert len(_records(tmp_path)) == 2
    assert ("25% of 4" in capsys.readouterr().err) == (action == "warn")


def test_tops_of_other_names_are_copies(module):
    below, above = Blob(3), Blob(1)
    guard = layer(module.checkFiniteLayer, "a", [below], [above])
    below.data[...] = 2
    above.diff[...] = 5
    guard.forward([below], [above])
    guard.backward([above], [True], [below])
    assert (above.data == 2).all() and (below.diff == 5).all()


def test_the_record_holds_what_every_guard_saw_before(module, tmp_path):
    first, second = Blob(2), Blob(2)
    guards = [
        layer(module.checkFiniteLayer, f"prefix={name} history=2", [blob], [])
        for name, blob in (("a", first), ("b", second))
    ]
    for step in range(4):
        first.data[...] = step
        second.data[...] = step if step < 3 else np.nan
        guards[0].forward([first], [])
        if step < 3:
            guards[1].forward([second], [])
    with pytest.raises(module.NonFiniteError):
        guards[1].forward([second], [])
    (record,) = _records(tmp_path)
    frames = {line["prefix"]: line["frames"] for line in record["frames"]}
    assert [frame["rms"] for frame in frames["a"]] == [2.0, 3.0]
    assert [frame["rms"] for frame in frames["b"]] == [2.0, None]


def test_arrays_are_dumped_where_asked(module, tmp_path):
    blob = Blob(2, 2)
    blob.data[0, 1] = np.inf
    with pytest.raises(module.NonFiniteError):
        layer(module.checkFiniteLayer, "prefix=a/b dump=out", [blob], []).forward([blob], [])
    (record,) = _records(tmp_path, "out")
    assert np.array_equal(np.load(tmp_path / "out" / record["array"])["values"], blob.data)


def test_a_scalar_and_an_empty_blob_are_blobs_too(module):
    for shape in ((), (0, 3)):
        blob = Blob(*shape)
        layer(module.checkFiniteLayer, "a", [blob], [blob]).forward([blob], [blob])


def test_a_wrong_number_of_tops_is_refused(module):
    with pytest.raises(ValueError, match="1 tops for 2 bottoms"):
        layer(module.checkFiniteLayer, "a", [Blob(1), Blob(1)], [Blob(1)])


def test_a_disk_that_takes_nothing_does_not_hide_the_message(module, tmp_path):
    (tmp_path / "caffe_guard_incidents.jsonl").mkdir()
    blob = Blob(2)
    blob.data[0] = np.nan
    with pytest.raises(module.NonFiniteError):
        layer(module.checkFiniteLayer, "a", [blob], []).forward([blob], [])
