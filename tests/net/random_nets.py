"""Small nets with one layer of a type under test, its bottoms and settings drawn at random: half sensible, half not."""

from __future__ import annotations

import random

EXTENTS = (1, 1, 2, 2, 3, 4, 5, 6, 7, 8, 9, 12)


def _shape(r: random.Random, axes: int | None = None) -> list[int]:
    if axes is None:
        axes = r.choice((0, 1, 2, 2, 3, 4, 4, 4, 4, 4, 5))
    return [r.choice(EXTENTS) for _ in range(axes)]


def _some(r: random.Random, share: float, text: str) -> str:
    return text + " " if r.random() < share else ""


def _windows(r: random.Random, odd: bool) -> str:
    """kernel, stride, pad and dilation of a convolution."""
    out = ""
    way = r.random()
    if way < 0.6:
        out += f"kernel_size: {r.choice((1, 2, 3, 3, 5))} "
    elif way < 0.75:
        out += f"kernel_h: {r.choice((1, 2, 3))} kernel_w: {r.choice((1, 2, 3))} "
    elif way < 0.85:
        out += "".join(f"kernel_size: {r.choice((1, 2, 3))} " for _ in range(r.choice((2, 2, 3))))
    elif odd:
        out += r.choice(("", "kernel_h: 3 ", "kernel_size: 0 ", "kernel_size: 3 kernel_h: 3 kernel_w: 3 "))
    out += r.choice(("", "", "stride: 2 ", "stride: 3 ", "stride_h: 2 stride_w: 1 ", "stride: 1 stride: 2 "))
    out += r.choice(("", "", "pad: 1 ", "pad: 2 ", "pad_h: 1 pad_w: 0 ", "pad: 1 pad: 0 "))
    out += r.choice(("", "", "", "dilation: 2 ", "dilation: 2 dilation: 1 "))
    if odd:
        out += r.choice(("", "", "stride: 0 ", "pad_h: 1 ", "axis: 2 ", "axis: 0 ", "axis: -1 ", "axis: 7 ", "pad: 1 "))
    return out


def _convolution(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shape = _shape(r, None if odd else 4)
    outputs = r.choice((1, 2, 4, 6))
    group = r.choice((1, 1, 1, 2, 3))
    text = _some(r, 0.97, f"num_output: {outputs}") + _some(r, 0.4, f"group: {group}") + _windows(r, odd)
    text += _some(r, 0.3, "bias_term: false")
    bottoms = [shape] if r.random() < 0.85 else [shape, shape if r.random() < 0.6 else _shape(r, len(shape))]
    return bottoms, f"convolution_param {{ {text}}}"


def _pooling(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shape = _shape(r, None if odd else 4)
    text = _some(r, 0.5, f"pool: {r.choice(('MAX', 'AVE'))}")
    way = r.random()
    if way < 0.7:
        text += f"kernel_size: {r.choice((1, 2, 2, 3, 3, 4))} "
    elif way < 0.85:
        text += f"kernel_h: {r.choice((1, 2, 3))} kernel_w: {r.choice((1, 2, 3))} "
    elif way < 0.95:
        text += "global_pooling: true "
    else:
        text += r.choice(("", "kernel_h: 2 ", "kernel_size: 2 kernel_h: 2 ", "kernel_size: 2 kernel_h: 2 kernel_w: 2 "))
    text += r.choice(("", "stride: 2 ", "stride: 3 ", "stride: 4 ", "stride_h: 2 stride_w: 3 "))
    text += r.choice(("", "", "pad: 1 ", "pad: 2 ", "pad_h: 1 pad_w: 0 "))
    if odd:
        text += r.choice(("", "", "stride: 0 ", "pad_h: 1 ", "stride_w: 2 ", "pad: 1 "))
    text += _some(r, 0.2, f"round_mode: {r.choice(('FLOOR', 'CEIL'))}")
    return [shape], f"pooling_param {{ {text}}}"


def _axis(r: random.Random, odd: bool) -> str:
    return _some(r, 0.5, f"axis: {r.choice((0, 1, 2, -1, 3, -2) if not odd else (0, 1, -1, 4, -5, 9))}")


def _inner_product(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    text = _some(r, 0.95, f"num_output: {r.choice((1, 3, 5))}") + _axis(r, odd)
    text += _some(r, 0.3, "bias_term: false") + _some(r, 0.3, "transpose: true")
    return [_shape(r)], f"inner_product_param {{ {text}}}"


def _embed(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    text = _some(r, 0.93, "num_output: 4") + _some(r, 0.93, "input_dim: 7") + _some(r, 0.3, "bias_term: false")
    return [_shape(r)], f"embed_param {{ {text}}}"


def _concat(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shape = _shape(r)
    text = _axis(r, odd) + _some(r, 0.1, f"concat_dim: {r.choice((0, 1, 2, 6))}")
    bottoms = []
    place = r.randrange(len(shape)) if shape and r.random() < 0.8 else None
    for _ in range(r.choice((1, 2, 2, 3))):
        other = list(shape)
        if place is not None and r.random() < 0.5:
            other[1 if len(shape) > 1 else place] = r.choice(EXTENTS)
        bottoms.append(other if r.random() < 0.95 else _shape(r))
    return bottoms, f"concat_param {{ {text}}}"


def _eltwise(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shape = _shape(r)
    text = _some(r, 0.5, f"operation: {r.choice(('SUM', 'PROD', 'MAX'))}")
    text += _some(r, 0.4, r.choice(("coeff: 1 coeff: -1", "coeff: 1", "coeff: 1 coeff: 1 coeff: 1")))
    bottoms = [list(shape) for _ in range(r.choice((1, 2, 2, 2, 3)))]
    if odd and r.random() < 0.5:
        bottoms[-1] = _shape(r, len(shape))
    if odd and r.random() < 0.2:
        bottoms[-1] = [*shape, 1]
    return bottoms, f"eltwise_param {{ {text}}}"


def _slice(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    text = _axis(r, odd) + _some(r, 0.1, f"slice_dim: {r.choice((0, 1, 6))}")
    for point in sorted(r.sample((0, 1, 2, 3, 4, 5, 9), r.choice((0, 0, 1, 1, 2)))):
        text += f"slice_point: {point} "
    return [_shape(r)], f"slice_param {{ {text}}}"


def _reshape(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shape = _shape(r)
    text = _some(r, 0.3, f"axis: {r.choice((0, 1, 2, -1, -2, -9, 6))}") + _some(
        r, 0.3, f"num_axes: {r.choice((-1, 0, 1, 2, 5, -2))}"
    )
    dims = [r.choice((0, 0, -1, 1, 2, 3, 4)) for _ in range(r.choice((0, 1, 2, 2, 3, 4)))]
    if not odd:
        dims = [0] * r.choice((0, 1)) + [-1] + [1] * r.choice((0, 1, 2))
    elif r.random() < 0.1:
        dims.append(-3)
    return [shape], f"reshape_param {{ {text} shape {{ {' '.join(f'dim: {dim}' for dim in dims)} }} }}"


def _flatten(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return [
        _shape(r)
    ], f"flatten_param {{ {_axis(r, odd)}{_some(r, 0.4, f'end_axis: {r.choice((0, 1, 2, -1, -2, 3))}')}}}"


def _crop(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shape = _shape(r, None if odd else 4)
    other = [max(1, extent - r.choice((0, 0, 1, 2))) if r.random() < 0.9 else extent + 1 for extent in shape]
    if odd and r.random() < 0.3:
        other = other[:-1]
    if odd and r.random() < 0.2:
        other = [*other, 2]
    text = _axis(r, odd) + r.choice(
        ("", "offset: 0", "offset: 1", "offset: 1 offset: 0", "offset: 0 offset: 0 offset: 0")
    )
    return [shape, other], f"crop_param {{ {text} }}"


def _tile(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return [
        _shape(r)
    ], f"tile_param {{ {_axis(r, odd)}{_some(r, 0.9, f'tiles: {r.choice((1, 2, 3, 0, -1) if odd else (1, 2, 3))}')}}}"


def _reduction(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    text = _axis(r, odd) + _some(r, 0.5, f"operation: {r.choice(('SUM', 'ASUM', 'SUMSQ', 'MEAN'))}")
    return [_shape(r)], f"reduction_param {{ {text}}}"


def _laid_over(name: str):
    def draw(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
        shape = _shape(r, None if odd else 4)
        text = _axis(r, odd) + _some(r, 0.4, f"num_axes: {r.choice((0, 1, 2, -1, 3, -2))}")
        if name == "scale_param":
            text += _some(r, 0.4, "bias_term: true")
        bottoms = [shape]
        if r.random() < 0.4:
            start = r.randrange(len(shape) + 1)
            bottoms.append(shape[start : start + r.choice((0, 1, 1, 2))] if r.random() < 0.8 else _shape(r))
        return bottoms, f"{name} {{ {text}}}"

    return draw


def _batch_norm(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    params = r.choice(("", "", "param { lr_mult: 0 } " * 3, "param { lr_mult: 1 } " * 3, "param { lr_mult: 0 } " * 2))
    if odd:
        params = r.choice((params, "param { lr_mult: 1 }", "param { }", "param { lr_mult: 0 } " * 4))
    return [_shape(r)], params + _some(r, 0.4, "batch_norm_param { use_global_stats: true }")


def _lrn(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    text = _some(r, 0.6, f"local_size: {r.choice((3, 5, 1, 4, 0) if odd else (3, 5))}") + _some(
        r, 0.4, "norm_region: WITHIN_CHANNEL"
    )
    return [_shape(r, None if odd else 4)], f"lrn_param {{ {text}}}"


def _prelu(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    text = _some(r, 0.4, "channel_shared: true") + _some(r, 0.1, 'filler { type: "msra" }')
    return [_shape(r)], f"prelu_param {{ {text}}}"


def _spp(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return [
        _shape(r, None if odd else 4)
    ], f"spp_param {{ {_some(r, 0.95, f'pyramid_height: {r.choice((1, 2, 2, 3, 4))}')}}}"


def _power_like(name: str):
    def draw(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
        return [_shape(r)], f"{name} {{ {_some(r, 0.6, f'base: {r.choice((-1, 2, 10, 1, 0, -2, 0.5))}')}}}"

    return draw


def _plain(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return [_shape(r)], ""


def _softmax(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return [_shape(r)], f"softmax_param {{ {_axis(r, odd)}}}"


def _scored(settings: str, axis: bool = True):
    def draw(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
        scores = _shape(r)
        place = r.choice((1, 1, 1, 0, 2))
        labels = [extent for index, extent in enumerate(scores) if index != place]
        if r.random() < 0.3:
            labels = labels[:1]
        if r.random() < 0.2:
            labels = [*labels, 1]
        if odd and r.random() < 0.3:
            labels = _shape(r)
        text = _some(r, 0.3, f"axis: {place if r.random() < 0.7 else r.choice((0, 2, -1, 7))}") if axis else ""
        if settings == "accuracy_param":
            text += _some(r, 0.3, f"top_k: {r.choice((1, 2, 5, 9))}")
        return [scores, labels], f"{settings} {{ {text}}}" if settings else ""

    return draw


def _pair(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shape = _shape(r)
    other = list(shape)
    if r.random() < 0.3 and len(shape) > 2:
        other = [shape[0], shape[1] * shape[2], *shape[3:]]
    if odd and r.random() < 0.5:
        other = _shape(r)
    return [shape, other], ""


def _contrastive(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    batch, channels = r.choice((1, 2, 4)), r.choice((1, 3))
    first = [batch, channels, *r.choice(([], [1, 1]))]
    second = [batch, channels, *r.choice(([], [1, 1]))]
    third = [batch, *r.choice(([], [1], [1, 1, 1]))]
    bottoms = [first, second, third]
    if odd:
        bottoms[r.randrange(3)] = _shape(r)
    return bottoms, ""


def _infogain(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    bottoms, text = _scored("infogain_loss_param")(r, odd)
    if r.random() < 0.85:
        classes = bottoms[0][1] if len(bottoms[0]) > 1 else 2
        bottoms.append([classes, classes] if r.random() < 0.8 else _shape(r, 2))
    return bottoms, text + _some(r, 0.1, "loss_param { normalize: true }")


def _recurrent(exposed: int):
    def draw(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
        steps, streams, outputs = r.choice((1, 2, 3)), r.choice((1, 2, 4)), 3
        bottoms = [[steps, streams, *r.choice(([], [5], [2, 3]))], [steps, streams]]
        if r.random() < 0.3:
            bottoms.append([streams, 4])
        text = _some(r, 0.95, f"num_output: {outputs}")
        if r.random() < 0.3:
            text += "expose_hidden: true "
            bottoms += [[1, streams, outputs if r.random() < 0.9 else 2]] * exposed
        if odd:
            bottoms[r.randrange(len(bottoms))] = _shape(r)
        return bottoms, f"recurrent_param {{ {text}}}"

    return draw


def _lstm_unit(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    bottoms = [[1, 2, 3], [1, 2, 12], [1, 2]]
    if odd:
        bottoms[r.randrange(3)] = r.choice((_shape(r), [2, 2, 3], [1, 2, 4], [1, 3]))
    return bottoms, ""


def _reindex(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return [_shape(r), _shape(r, 1 if not odd else None)], ""


def _filter(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    batch = r.choice((1, 2, 4))
    bottoms = [[batch, *_shape(r, 1)] for _ in range(r.choice((1, 2)))] + [[batch, *r.choice(([], [1], [1, 1]))]]
    if odd:
        bottoms[r.randrange(len(bottoms))] = _shape(r)
    return bottoms, ""


def _parameter(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return [], f"parameter_param {{ shape {{ {' '.join(f'dim: {extent}' for extent in _shape(r))} }} }}"


def _dummy(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shapes = "".join(
        f"shape {{ {' '.join(f'dim: {extent}' for extent in _shape(r))} }} " for _ in range(r.choice((1, 1, 2, 0)))
    )
    old = _some(r, 0.2, "num: 2 channels: 3 height: 4 width: 5") if odd or not shapes else ""
    return [], f"dummy_data_param {{ {shapes}{old}{_some(r, 0.2, 'data_filler { value: 1 }')}}}"


def _input(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    shapes = "".join(
        f"shape {{ {' '.join(f'dim: {extent}' for extent in _shape(r))} }} " for _ in range(r.choice((1, 1, 2, 0)))
    )
    return [], f"input_param {{ {shapes}}}"


def _memory(r: random.Random, odd: bool) -> tuple[list[list[int]], str]:
    return (
        [],
        f"memory_data_param {{ batch_size: 2 channels: {r.choice((1, 3, 0) if odd else (1, 3))} height: 4 {_some(r, 0.9, 'width: 5')}}}",
    )


_silence = _plain
DRAWS = {
    **dict.fromkeys(
        ("AbsVal", "BNLL", "Dropout", "ELU", "MVN", "Power", "ReLU", "Sigmoid", "Swish", "TanH", "Threshold", "Split"),
        _plain,
    ),
    "Silence": _silence,
    "Clip": lambda r, odd: ([_shape(r)], "clip_param { min: 0 max: 1 }"),
    "Exp": _power_like("exp_param"),
    "Log": _power_like("log_param"),
    "PReLU": _prelu,
    "Convolution": _convolution,
    "Deconvolution": _convolution,
    "Im2col": _convolution,
    "Pooling": _pooling,
    "SPP": _spp,
    "InnerProduct": _inner_product,
    "Embed": _embed,
    "BatchNorm": _batch_norm,
    "LRN": _lrn,
    "Scale": _laid_over("scale_param"),
    "Bias": _laid_over("bias_param"),
    "Concat": _concat,
    "Eltwise": _eltwise,
    "Slice": _slice,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Crop": _crop,
    "Tile": _tile,
    "Reduction": _reduction,
    "BatchReindex": _reindex,
    "Filter": _filter,
    "Parameter": _parameter,
    "Softmax": _softmax,
    "Accuracy": _scored("accuracy_param"),
    "ArgMax": lambda r, odd: (
        [_shape(r)],
        f"argmax_param {{ {_axis(r, odd)}{_some(r, 0.4, f'top_k: {r.choice((1, 2, 3, 0))}')}{_some(r, 0.3, 'out_max_val: true')}}}",
    ),
    "SoftmaxWithLoss": _scored("softmax_param"),
    "HingeLoss": _scored("", axis=False),
    "MultinomialLogisticLoss": _scored("", axis=False),
    "InfogainLoss": _infogain,
    "EuclideanLoss": _pair,
    "SigmoidCrossEntropyLoss": _pair,
    "ContrastiveLoss": _contrastive,
    "LSTM": _recurrent(2),
    "RNN": _recurrent(1),
    "LSTMUnit": _lstm_unit,
    "DummyData": _dummy,
    "Input": _input,
    "MemoryData": _memory,
}
# In place these change the shape and use memory that is not theirs: whether Caffe dies of it is chance.
_UNDEFINED_IN_PLACE = ("BatchReindex", "Concat", "Filter", "Im2col", "Pooling", "Tile")
# How many tops a type is drawn with, most often first.
_TOPS = {
    "Silence": (0, 0, 0, 1),
    "LSTMUnit": (2, 2, 2, 1),
    "Split": (1, 2, 3),
    "Slice": (1, 2, 2, 3),
    "DummyData": (1, 2),
    "Input": (1, 2),
}


def random_net(kind: str, seed: int) -> str:
    """A net of DummyData for each bottom and the layer ``under_test``, then a Silence for some of its tops."""
    r = random.Random(f"{kind} {seed}")
    odd = r.random() < 0.4
    bottoms, settings = DRAWS[kind](r, odd)
    tops = r.choice(_TOPS.get(kind, (1, 1, 1, 1, 1, 1, 1, 2, 0) if odd else (1,)))
    if kind in ("Convolution", "Deconvolution", "Filter") and r.random() < 0.9:
        tops = max(1, len(bottoms) - (1 if kind == "Filter" else 0))
    if kind in ("LSTM", "RNN") and "expose_hidden" in settings and r.random() < 0.9:
        tops = 3 if kind == "LSTM" else 2
    if kind == "MemoryData" and r.random() < 0.9:
        tops = 2
    if odd and bottoms and r.random() < 0.06:
        bottoms = bottoms[:-1] if r.random() < 0.5 else [*bottoms, _shape(r)]
    lines = []
    for index, shape in enumerate(bottoms):
        dims = " ".join(f"dim: {extent}" for extent in shape)
        lines.append(
            f'layer {{ name: "d{index}" type: "DummyData" top: "b{index}" dummy_data_param {{ shape {{ {dims} }} }} }}'
        )
    names = [f"t{index}" for index in range(tops)]
    if bottoms and tops == 1 and r.random() < 0.08 and kind not in _UNDEFINED_IN_PLACE:
        names = ["b0"]
    more = ""
    if odd:
        more = r.choice(
            (
                "",
                "",
                "",
                "",
                "param { lr_mult: 0 } ",
                "loss_weight: 1 ",
                "propagate_down: true ",
                "param { } param { } param { } ",
            )
        )
    lines.append(
        f'layer {{ name: "under_test" type: "{kind}" '
        + "".join(f'bottom: "b{index}" ' for index in range(len(bottoms)))
        + "".join(f'top: "{name}" ' for name in names)
        + more
        + settings
        + " }"
    )
    return "\n".join(lines) + "\n"
