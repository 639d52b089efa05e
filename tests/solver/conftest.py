"""Solvers from text."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from caffe_guard.prototxt import parse
from caffe_guard.schema.bind import bind
from caffe_guard.schema.dialects import schema_for
from caffe_guard.solver.model import Solver

Make = Callable[..., Solver]


@pytest.fixture
def solver() -> Make:
    """A function from a solver's text (and a dialect) to the typed solver; the text must bind."""

    def make(text: str, dialect: str = "bvlc") -> Solver:
        bound = bind(parse(text), "SolverParameter", schema_for(dialect))
        assert not bound.problems, bound.problems
        return Solver(bound.message)

    return make
