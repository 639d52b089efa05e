"""The tables in the tree are what the generator writes now, and cost little to import."""

from __future__ import annotations

import ast
import importlib.util
import os
import subprocess
import sys
from typing import Any

import pytest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GENERATOR = os.path.join(ROOT, "tools", "generate_schema.py")


@pytest.fixture(scope="module")
def generator() -> Any:
    spec = importlib.util.spec_from_file_location("generate_schema", GENERATOR)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_tables_are_up_to_date(generator: Any) -> None:
    texts = generator.texts()
    stale = []
    for path, text in texts.items():
        with open(path, encoding="utf-8") as stream:
            if stream.read() != text:
                stale.append(os.path.basename(path))
    assert not stale, "run `make schema`"
    tables = os.listdir(generator.TABLES)
    assert {name for name in tables if name.endswith(".py")} == {os.path.basename(path) for path in texts}


def test_every_fork_has_its_place_in_the_order(generator: Any) -> None:
    files = {name[: -len(".json")] for name in os.listdir(os.path.join(ROOT, "proto", "forks"))}
    assert files - {"order"} == set(generator.read_forks())


def test_tables_are_literals(generator: Any) -> None:
    """No name, call or arithmetic but a sign: nothing is computed on import."""
    for path, text in generator.texts().items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.AnnAssign):
                assert node.value is not None
                ast.literal_eval(node.value)
            else:
                harmless = (ast.Expr, ast.ImportFrom, ast.Assign, ast.If)
                assert isinstance(node, harmless), f"{path}: {ast.dump(node)}"


def test_the_generator_refuses_what_it_does_not_know(generator: Any) -> None:
    for text in (
        "message A {\n  map<string, int32> a = 1;\n}",
        "message A {\n  optional int32 a = 1 [lazy = true];\n}",
        "service A {",
    ):
        with pytest.raises(SystemExit):
            generator.read_proto(text)
    with pytest.raises(SystemExit):
        generator.resolve("Nowhere", "A", {"A": []}, {})


def test_the_forks_stay_unread_while_bvlc_suffices() -> None:
    code = (
        "import sys\n"
        "from caffe_guard.schema.dialects import DIALECTS, layer_types, owners_of_field, schema_for\n"
        "schema_for('bvlc').message('LayerParameter').fields['pooling_param'].message_type()\n"
        "layer_types('bvlc'); list(DIALECTS); owners_of_field('NetParameter', 'layer')\n"
        "print(*sorted(name for name in sys.modules if '.tables.' in name))\n"
        "print(*sorted({'typing', 'json', 'dataclasses', 'collections.abc'} & set(sys.modules)))\n"
    )
    out = subprocess.run([sys.executable, "-S", "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    tables, heavy = out.stdout.split("\n")[:2]
    assert tables.split() == ["caffe_guard.schema.tables.bvlc", "caffe_guard.schema.tables.names"]
    assert "typing" not in heavy and "json" not in heavy and "dataclasses" not in heavy
