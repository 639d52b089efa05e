"""What the Caffe of senet adds to BVLC's schema, changes in it, or lacks. Written by tools/generate_schema.py from proto/; do not edit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORK: dict[str, Any] = {'fields': {},
 'changed': {},
 'absent': (),
 'enums': {},
 'enum_values': {},
 'changed_enum_values': {},
 'absent_enum_values': (),
 'layer_types': ('Axpy',),
 'missing_layer_types': ()}
