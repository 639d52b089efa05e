"""The dialects: BVLC's schema and each fork's, and who defines what BVLC lacks.

The tables of the forks are large, and loaded only when something is unknown to BVLC or a fork is asked for.
"""

from __future__ import annotations

from caffe_guard.schema.tables import bvlc
from caffe_guard.schema.tables.names import REPOSITORIES, TITLES
from caffe_guard.schema.types import Schema

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = [
    "DIALECTS",
    "REPOSITORIES",
    "deprecated_for",
    "layer_types",
    "layer_types_known",
    "owners_of_enum_value",
    "owners_of_field",
    "owners_of_layer_type",
    "schema_for",
]

BVLC = "bvlc"
# name -> title, the better known first
DIALECTS = TITLES
_schemas: dict[str, Schema] = {}


def schema_for(dialect: str) -> Schema:
    """The schema of ``bvlc`` or of a fork. Raises KeyError for an unknown name."""
    found = _schemas.get(dialect)
    if found is None:
        found = Schema(BVLC) if dialect == BVLC else Schema(dialect, _fork(dialect))
        _schemas[dialect] = found
    return found


def _fork(name: str) -> dict[str, Any]:
    """A fork's table. Raises KeyError for a name that is no fork's."""
    import importlib

    if name not in DIALECTS or name == BVLC:
        raise KeyError(name)
    table: dict[str, Any] = importlib.import_module(f"caffe_guard.schema.tables.fork_{name}").FORK
    return table


def owners_of_field(message: str, field: str) -> tuple[str, ...]:
    """The forks that define a field which BVLC lacks; ("bvlc",) for BVLC's; () when nobody has it."""
    if any(row[0] == field for row in bvlc.MESSAGES.get(message, ())):
        return (BVLC,)
    from caffe_guard.schema.tables.owners import FIELD_OWNERS

    return FIELD_OWNERS.get(f"{message}.{field}", ())


def owners_of_enum_value(enum: str, value: str) -> tuple[str, ...]:
    """The forks that define an enum value which BVLC lacks; ("bvlc",) for BVLC's; () when nobody has it."""
    if value in bvlc.ENUMS.get(enum, ()):
        return (BVLC,)
    from caffe_guard.schema.tables.owners import ENUM_VALUE_OWNERS

    return ENUM_VALUE_OWNERS.get(f"{enum}.{value}", ())


def owners_of_layer_type(layer_type: str) -> tuple[str, ...]:
    """The forks that have a layer type which BVLC lacks; ("bvlc",) for BVLC's; () when nobody has it."""
    if layer_type in bvlc.LAYER_TYPES:
        return (BVLC,)
    from caffe_guard.schema.tables.owners import LAYER_TYPE_OWNERS

    return LAYER_TYPE_OWNERS.get(layer_type, ())


def layer_types(dialect: str) -> frozenset[str]:
    """The layer types that a dialect's Caffe registers, as far as is known (see ``layer_types_known``).

    A fork's own values of the V1 format's enum are among them (``RELU6``): upgrading a net leaves them as
    they are. DeepLab v1, which knows only that format, has the types of BVLC that its enum names.
    """
    if dialect == BVLC:
        return frozenset(bvlc.LAYER_TYPES)
    fork = _fork(dialect)
    return frozenset(bvlc.LAYER_TYPES).difference(fork["missing_layer_types"]).union(fork["layer_types"])


def layer_types_known(dialect: str) -> bool:
    """Whether the sources of a dialect's layers were seen; where not, a type missing above may exist."""
    return dialect == BVLC or bool(_fork(dialect)["layer_types_known"])


def deprecated_for(message: str, field: str) -> str | None:
    """What a deprecated field of BVLC gave way to; None when it is not deprecated."""
    return bvlc.DEPRECATED.get(f"{message}.{field}")
