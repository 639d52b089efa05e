"""Fixtures that every test may use."""

from __future__ import annotations

import os
from typing import Iterator

import pytest
from hypothesis import HealthCheck, settings

from tests.caffe.judge import Judge

_SLOW_MACHINES_ARE_FINE = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("quick", max_examples=150, **_SLOW_MACHINES_ARE_FINE)
settings.register_profile("thorough", max_examples=13_000, **_SLOW_MACHINES_ARE_FINE)
settings.load_profile("quick")


@pytest.fixture(scope="session")
def judge() -> Iterator[Judge]:
    """Real Caffe; a test that asks for it is skipped where there is none, unless CAFFE_GUARD_REQUIRE_CAFFE=1."""
    found = Judge.find()
    if found is None:
        reason = "real Caffe not found: run `make caffe`"
        if os.environ.get("CAFFE_GUARD_REQUIRE_CAFFE") == "1":
            pytest.fail(reason)
        pytest.skip(reason)
    yield found
    found.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Whatever asks the judge carries the marker `caffe`, so that `-m "not caffe"` leaves it out."""
    for item in items:
        if "judge" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.caffe)
