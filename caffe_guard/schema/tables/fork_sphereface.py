"""What the Caffe of sphereface adds to BVLC's schema, changes in it, or lacks. Written by tools/generate_schema.py from proto/; do not edit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORK: dict[str, Any] = {'fields': {'MarginInnerProductParameter': (('num_output', 1, 'optional', 'uint32', None, None, False),
                                            ('type',
                                             2,
                                             'optional',
                                             'enum',
                                             'MarginInnerProductParameter.MarginType',
                                             'SINGLE',
                                             False),
                                            ('weight_filler',
                                             3,
                                             'optional',
                                             'message',
                                             'FillerParameter',
                                             None,
                                             False),
                                            ('axis', 4, 'optional', 'int32', None, 1, False),
                                            ('base', 5, 'optional', 'float', None, 1.0, False),
                                            ('gamma', 6, 'optional', 'float', None, 0.0, False),
                                            ('power', 7, 'optional', 'float', None, 1.0, False),
                                            ('iteration', 8, 'optional', 'int32', None, 0, False),
                                            ('lambda_min', 9, 'optional', 'float', None, 0.0, False)),
            'LayerParameter': (('margin_inner_product_param',
                                147,
                                'optional',
                                'message',
                                'MarginInnerProductParameter',
                                None,
                                False),)},
 'changed': {},
 'absent': ('SolverParameter.weights',
            'LayerParameter.clip_param',
            'LayerParameter.swish_param',
            'PoolingParameter.round_mode'),
 'enums': {'MarginInnerProductParameter.MarginType': {'SINGLE': 0, 'DOUBLE': 1, 'TRIPLE': 2, 'QUADRUPLE': 3}},
 'enum_values': {},
 'changed_enum_values': {},
 'absent_enum_values': (),
 'layer_types': ('MarginInnerProduct',),
 'missing_layer_types': ()}
