"""What the Caffe of openpose_train adds to BVLC's schema, changes in it, or lacks. Written by tools/generate_schema.py from proto/; do not edit."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

FORK: dict[str, Any] = {'fields': {'OPTransformationParameter': (('stride', 8, 'optional', 'uint32', None, 4, False),
                                          ('flip_prob', 9, 'optional', 'float', None, 0.5, False),
                                          ('max_degree_rotations', 10, 'optional', 'string', None, '45.0', False),
                                          ('crop_size_x', 12, 'optional', 'uint32', None, 368, False),
                                          ('crop_size_y', 13, 'optional', 'uint32', None, 368, False),
                                          ('center_perterb_max', 14, 'optional', 'float', None, 10.0, False),
                                          ('center_swap_prob', 15, 'optional', 'float', None, 0.0, False),
                                          ('scale_prob', 16, 'optional', 'float', None, 0.5, False),
                                          ('scale_mins', 17, 'optional', 'string', None, '0.9', False),
                                          ('scale_maxs', 18, 'optional', 'string', None, '1.1', False),
                                          ('target_dist', 19, 'optional', 'float', None, 1.0, False),
                                          ('number_max_occlusions', 20, 'optional', 'string', None, '0', False),
                                          ('sigmas', 21, 'optional', 'string', None, '7.0', False),
                                          ('models', 22, 'optional', 'string', None, 'COCO', False),
                                          ('sources', 23, 'optional', 'string', None, '', False),
                                          ('probabilities', 24, 'optional', 'string', None, '1', False),
                                          ('source_background', 25, 'optional', 'string', None, '', False),
                                          ('prob_only_background', 26, 'optional', 'float', None, 0.0, False),
                                          ('media_directory', 27, 'optional', 'string', None, '', False),
                                          ('normalization', 28, 'optional', 'uint32', None, 0, False),
                                          ('add_distance', 29, 'optional', 'bool', None, False, False),
                                          ('input_type', 30, 'optional', 'string', None, '', False),
                                          ('frame_size', 31, 'optional', 'uint32', None, 0, False),
                                          ('taf_topology', 32, 'optional', 'uint32', None, 0, False)),
            'BinaryActivationParameter': (),
            'LayerParameter': (('op_transform_param',
                                149,
                                'optional',
                                'message',
                                'OPTransformationParameter',
                                None,
                                False),),
            'ConvolutionParameter': (('binary', 19, 'optional', 'int32', None, 0, False),)},
 'changed': {},
 'absent': (),
 'enums': {},
 'enum_values': {},
 'changed_enum_values': {},
 'absent_enum_values': (),
 'layer_types': ('OPData', 'OPVideo'),
 'missing_layer_types': ()}
