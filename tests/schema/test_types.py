"""The schema's objects: made once, on first use."""

from __future__ import annotations

import pytest

from caffe_guard.schema.dialects import (
    deprecated_for,
    layer_types,
    layer_types_known,
    owners_of_enum_value,
    owners_of_field,
    owners_of_layer_type,
    schema_for,
)
from caffe_guard.schema.types import Schema


def test_schemas_and_messages_are_made_once() -> None:
    schema = schema_for("bvlc")
    assert schema_for("bvlc") is schema
    assert schema.message("PoolingParameter") is schema.message("PoolingParameter")
    assert schema.message("LayerParameter").fields["pooling_param"].message_type() is schema.message("PoolingParameter")
    assert Schema("bvlc").message("Datum") is not schema.message("Datum")


def test_defaults() -> None:
    fields = schema_for("bvlc").message("PoolingParameter").fields
    assert fields["pool"].default_value() == "MAX"
    assert fields["stride"].default_value() == 1
    assert fields["kernel_size"].default_value() == 0
    assert fields["global_pooling"].default_value() is False
    # Without a default of its own an enum field gives its first value, whatever its number.
    assert schema_for("bvlc").message("NetStateRule").fields["phase"].default_value() == "TRAIN"
    assert schema_for("bvlc").message("LayerParameter").fields["name"].default_value() == ""


def test_a_fork_changes_what_it_changes_only() -> None:
    bvlc = schema_for("bvlc")
    nvidia = schema_for("nvcaffe")
    assert bvlc.message("SolverParameter").fields["test_initialization"].default_value() is True
    assert nvidia.message("SolverParameter").fields["test_initialization"].default_value() is False
    assert nvidia.enum("SolverParameter.SolverType")["SAG"] == 6
    assert "SAG" not in bvlc.enum("SolverParameter.SolverType")
    assert schema_for("rfcn").enum("LossParameter.NormalizationMode")["NONE"] == 4
    assert bvlc.enum("LossParameter.NormalizationMode")["NONE"] == 3


def test_an_old_fork_takes_bvlcs_absent_fields_as_absent() -> None:
    field = schema_for("ssd").message("PoolingParameter").fields["round_mode"]
    assert field.absent
    assert field.default_value() == "CEIL"
    assert not schema_for("bvlc").message("PoolingParameter").fields["round_mode"].absent


def test_owners() -> None:
    assert owners_of_field("TransformationParameter", "resize_param")[0] == "ssd"
    assert owners_of_field("PoolingParameter", "stride") == ("bvlc",)
    assert owners_of_field("PoolingParameter", "strides") == ()
    assert owners_of_field("Nothing", "at_all") == ()
    assert owners_of_enum_value("SolverParameter.SolverType", "SAG") == ("nvcaffe",)
    assert owners_of_enum_value("SolverParameter.SolverType", "ADAM") == ("bvlc",)
    assert owners_of_enum_value("SolverParameter.SolverType", "BEST") == ()
    assert owners_of_layer_type("PriorBox")[0] == "ssd"
    assert owners_of_layer_type("Pooling") == ("bvlc",)
    assert owners_of_layer_type("Pulling") == ()


def test_layer_types_of_v1_nets() -> None:
    """A fork's V1 names stay as they are when a net is upgraded, so they count as types."""
    assert owners_of_layer_type("DENSE_CRF") == ("deeplab",)
    assert "DENSE_CRF" in layer_types("deeplab")
    assert "Convolution" in layer_types("deeplab")
    assert "Deconvolution" not in layer_types("deeplab")
    assert owners_of_layer_type("RELU6") == ("mobilenet_yolo",)
    # BVLC's own V1 names are upgraded: in a V2 net they are no type of anybody's.
    assert owners_of_layer_type("CONVOLUTION") == ()


def test_unread_layers_are_known_to_be_unknown() -> None:
    assert layer_types_known("bvlc")
    assert layer_types_known("ssd")
    assert not layer_types_known("xilinx")


def test_deprecated() -> None:
    assert deprecated_for("SolverParameter", "solver_type") == "type"
    assert deprecated_for("NetParameter", "layers") == "layer"
    assert deprecated_for("NetParameter", "layer") is None


@pytest.mark.parametrize("name", ["", "BVLC", "order", "caffe"])
def test_unknown_dialect(name: str) -> None:
    with pytest.raises(KeyError):
        schema_for(name)
    with pytest.raises(KeyError):
        layer_types(name)


@pytest.mark.parametrize("dialect", ["bvlc", "ssd"])
def test_unknown_names(dialect: str) -> None:
    with pytest.raises(KeyError):
        schema_for(dialect).message("NoSuchParameter")
    with pytest.raises(KeyError):
        schema_for(dialect).enum("NoSuch.Enum")
