"""What the Caffe of centerloss adds to BVLC's schema, changes in it, or lacks. Written by tools/generate_schema.py from proto/; do not edit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORK: dict[str, Any] = {'fields': {'CenterLossParameter': (('num_output', 1, 'optional', 'uint32', None, None, False),
                                    ('center_filler', 2, 'optional', 'message', 'FillerParameter', None, False),
                                    ('axis', 3, 'optional', 'int32', None, 1, False)),
            'LayerParameter': (('center_loss_param',
                                147,
                                'optional',
                                'message',
                                'CenterLossParameter',
                                None,
                                False),)},
 'changed': {},
 'absent': ('SolverParameter.layer_wise_reduce',
            'SolverParameter.weights',
            'LayerParameter.clip_param',
            'LayerParameter.swish_param',
            'InfogainLossParameter.axis',
            'PoolingParameter.round_mode'),
 'enums': {},
 'enum_values': {},
 'changed_enum_values': {},
 'absent_enum_values': (),
 'layer_types': ('CenterLoss',),
 'missing_layer_types': ('Clip', 'Swish')}
