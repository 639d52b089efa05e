"""Texts to measure with: a solver and a net of GoogLeNet's form and size, or many times as long."""

from __future__ import annotations

SOLVER = """\
net: "train_val.prototxt"
test_iter: 1000
test_interval: 4000
test_initialization: false
display: 40
average_loss: 40
base_lr: 0.01
lr_policy: "step"
stepsize: 320000
gamma: 0.96
max_iter: 10000000
momentum: 0.9
weight_decay: 0.0002
snapshot: 40000
snapshot_prefix: "googlenet"
random_seed: 1
solver_mode: GPU
"""
_DATA = """\
layer {{
  name: "data"
  type: "Data"
  top: "data"
  top: "label"
  include {{
    phase: {phase}
  }}
  transform_param {{
    mirror: {mirror}
    crop_size: 224
    mean_value: 104
    mean_value: 117
    mean_value: 123
  }}
  data_param {{
    source: "ilsvrc12_{source}_lmdb"
    batch_size: {batch}
    backend: LMDB
  }}
}}
"""
_CONVOLUTION = """\
layer {{
  name: "{name}"
  type: "Convolution"
  bottom: "{bottom}"
  top: "{name}"
  param {{
    lr_mult: 1
    decay_mult: 1
  }}
  param {{
    lr_mult: 2
    decay_mult: 0
  }}
  convolution_param {{
    num_output: {outputs}
    pad: {pad}
    kernel_size: {kernel}
    weight_filler {{
      type: "xavier"
      std: 0.03
    }}
    bias_filler {{
      type: "constant"
      value: 0.2
    }}
  }}
}}
layer {{
  name: "{name}/relu"
  type: "ReLU"
  bottom: "{name}"
  top: "{name}"
}}
"""
_POOLING = """\
layer {{
  name: "{name}"
  type: "Pooling"
  bottom: "{bottom}"
  top: "{name}"
  pooling_param {{
    pool: MAX
    kernel_size: 3
    stride: {stride}
    pad: {pad}
  }}
}}
"""
_END = """\
layer {{
  name: "pool/global"
  type: "Pooling"
  bottom: "{bottom}"
  top: "pool/global"
  pooling_param {{
    pool: AVE
    global_pooling: true
  }}
}}
layer {{
  name: "classifier"
  type: "InnerProduct"
  bottom: "pool/global"
  top: "classifier"
  inner_product_param {{
    num_output: 1000
    weight_filler {{
      type: "xavier"
    }}
    bias_filler {{
      type: "constant"
      value: 0
    }}
  }}
}}
layer {{
  name: "loss"
  type: "SoftmaxWithLoss"
  bottom: "classifier"
  bottom: "label"
  top: "loss"
}}
layer {{
  name: "accuracy"
  type: "Accuracy"
  bottom: "classifier"
  bottom: "label"
  top: "accuracy"
  include {{
    phase: TEST
  }}
}}
"""
# GoogLeNet has nine inception modules.
_MODULES = 9


def _module(name: str, bottom: str) -> str:
    """One inception module: four branches, joined."""
    branches = (
        ("1x1", bottom, 64, 1, 0),
        ("3x3_reduce", bottom, 96, 1, 0),
        ("3x3", f"{name}/3x3_reduce", 128, 3, 1),
        ("5x5_reduce", bottom, 16, 1, 0),
        ("5x5", f"{name}/5x5_reduce", 32, 5, 2),
    )
    text = "".join(
        _CONVOLUTION.format(name=f"{name}/{branch}", bottom=below, outputs=outputs, kernel=kernel, pad=pad)
        for branch, below, outputs, kernel, pad in branches
    )
    text += _POOLING.format(name=f"{name}/pool", bottom=bottom, stride=1, pad=1)
    text += _CONVOLUTION.format(name=f"{name}/pool_proj", bottom=f"{name}/pool", outputs=32, kernel=1, pad=0)
    tops = "".join(f'  bottom: "{name}/{branch}"\n' for branch in ("1x1", "3x3", "5x5", "pool_proj"))
    return text + f'layer {{\n  name: "{name}"\n  type: "Concat"\n{tops}  top: "{name}"\n}}\n'


def net(times: int = 1) -> str:
    """The text of a net with ``times`` as many modules as GoogLeNet."""
    parts = [
        'name: "benchmark"\n',
        _DATA.format(phase="TRAIN", mirror="true", source="train", batch=32),
        _DATA.format(phase="TEST", mirror="false", source="val", batch=50),
        _CONVOLUTION.format(name="conv1", bottom="data", outputs=64, kernel=7, pad=3),
        _POOLING.format(name="pool1", bottom="conv1", stride=2, pad=0),
        _CONVOLUTION.format(name="conv2", bottom="pool1", outputs=192, kernel=3, pad=1),
        _POOLING.format(name="pool2", bottom="conv2", stride=2, pad=0),
    ]
    bottom = "pool2"
    for index in range(_MODULES * times):
        parts.append(_module(f"inception{index}", bottom))
        bottom = f"inception{index}"
    parts.append(_END.format(bottom=bottom))
    return "".join(parts)
