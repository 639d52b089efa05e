"""Convolution, deconvolution and im2col of any number of spatial axes (base_conv_layer.cpp, LayerSetUp and Reshape)."""

from __future__ import annotations

from caffe_guard.net.layers.entry import UNBOUNDED, LayerType, Setup, count, int32, product, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent, Shape


# Caffe does not look whether a pad is negative, which one from 2147483648 on is.
_ANY = -(2**31)


def spatial(at: Setup, repeated: str, high: str, wide: str, axes: int, default: int, at_least: int) -> list[int]:
    """A spatial setting an axis: from ``kernel_h``/``kernel_w`` and the like, else from the repeated field."""
    param = at.param
    if param.has(high) or param.has(wide):
        if axes != 2:
            at.abort("bad-parameter", f"{high} and {wide} need 2 spatial axes, there are {axes}: Caffe aborts", high)
        if param.has(repeated):
            at.abort("bad-parameter", f"{repeated} and {high}/{wide} exclude each other: Caffe aborts", repeated)
        values = [param.get(high) or 0, param.get(wide) or 0]
    else:
        given = param.get(repeated)
        if not given:
            if default < 0 and axes > 0:
                at.abort("bad-parameter", f"{repeated} is missing: Caffe aborts", help=f"give {repeated}")
            values = [default] * axes
        elif len(given) == 1:
            values = [given[0]] * axes
        elif len(given) == axes:
            values = list(given)
        else:
            at.abort(
                "bad-parameter",
                f"{repeated} is given {len(given)} times for {axes} spatial axes; once, or once an axis: Caffe aborts",
                repeated,
            )
    values = [int32(value) for value in values]
    for value in values:
        if value < at_least:
            field = repeated if param.has(repeated) else high if param.has(high) else wide
            missing = ""
            if param.has(high) != param.has(wide):
                missing = f" ({wide if param.has(high) else high} is not given)"
            at.abort("bad-parameter", f"{repeated} must be positive{missing}: Caffe aborts", field)
    return values


def _windows(at: Setup, axes: int) -> tuple[list[int], list[int], list[int], list[int]]:
    """Kernel, stride, pad and dilation an axis."""
    kernel = spatial(at, "kernel_size", "kernel_h", "kernel_w", axes, -1, 1)
    stride = spatial(at, "stride", "stride_h", "stride_w", axes, 1, 1)
    pad = spatial(at, "pad", "pad_h", "pad_w", axes, 0, _ANY)
    given = at.param.get("dilation")
    if given is None:
        given = []
    if len(given) not in (0, 1, axes):
        at.abort(
            "bad-parameter", f"dilation is given {len(given)} times for {axes} spatial axes: Caffe aborts", "dilation"
        )
    dilation = ([int32(one) for one in given] * (axes if len(given) == 1 else 1)) or [1] * axes
    # DeepLab's name for dilation, of the forks that came before it.
    hole = at.param.get("hole")
    if isinstance(hole, int) and not given:
        dilation = (
            [at.param.get("hole_h") or hole, at.param.get("hole_w") or hole][:axes] if axes == 2 else [hole] * axes
        )
        if at.param.get("hole_h") in (None, 1) and hole != 1:
            dilation = [hole] * axes
    return kernel, stride, pad, dilation


def _divide(value: int, by: int) -> int:
    """C++ integer division, towards zero."""
    return value // by if value >= 0 else -(-value // by)


def _convolved(at: Setup, shape: tuple[Extent, ...], first: int, settings: tuple[list[int], ...]) -> list[Extent]:
    """The extents of the spatial axes after a convolution; aborts where one would be below 1."""
    out: list[Extent] = []
    for extent, kernel, stride, pad, dilation in zip(shape[first:], *settings):
        if extent is None:
            out.append(None)
            continue
        reach = dilation * (kernel - 1) + 1
        size = _divide(int32(extent + 2 * pad - reach), stride) + 1
        # Truncation hides a kernel that is too large by less than a stride: the size is then 1 all the same.
        if size < 1:
            name = "kernel_size" if at.param.has("kernel_size") else "kernel_h"
            spread = f" (dilated to {reach})" if dilation != 1 else ""
            padded = f" padded to {extent + 2 * pad}" if pad else ""
            at.abort(
                "kernel-larger-than-input",
                f"kernel {kernel}{spread} is larger than {at.bottom_name(0)}, {words(shape)}{padded}:"
                f" the output would have extent {size}, and Caffe aborts",
                name,
                help="use a smaller kernel, more pad, or fewer strides before it",
            )
        out.append(size)
    return out


def _deconvolved(at: Setup, shape: tuple[Extent, ...], first: int, settings: tuple[list[int], ...]) -> list[Extent]:
    """The extents after a deconvolution (deconv_layer.cpp, compute_output_shape)."""
    out: list[Extent] = []
    for extent, kernel, stride, pad, dilation in zip(shape[first:], *settings):
        if extent is None:
            out.append(None)
            continue
        size = int32(stride * (extent - 1) + dilation * (kernel - 1) + 1 - 2 * pad)
        if size < 1:
            at.abort(
                "kernel-larger-than-input",
                f"pad {pad} takes more than kernel {kernel} and stride {stride} give: the output of"
                f" {at.bottom_name(0)},"
                f" {words(shape)}, would have extent {size}, and Caffe aborts",
                "pad",
            )
        out.append(size)
    return out


def _setup(at: Setup, transposed: bool, depthwise: bool = False) -> None:
    shape = at.bottoms[0]
    bias = at.param.get("bias_term")
    outputs: int = at.param.get("num_output")
    if shape is None:
        at.set_tops(None)
        at.blobs = [None, (outputs,)] if bias else [None]
        return
    axis = at.axis("axis", len(shape)) if at.param.has("axis") else _default_axis(at, shape)
    first = axis + 1
    axes = len(shape) - first
    settings = _windows(at, axes)
    channels = shape[axis]
    if depthwise and not at.param.has("num_output") and channels is not None:
        outputs = channels
    if outputs < 1:
        # The size of the map is known all the same.
        at.set_tops((*shape[:axis], None, *(_deconvolved if transposed else _convolved)(at, shape, first, settings)))
        at.abort(
            "bad-parameter",
            "num_output is missing or 0: Caffe aborts"
            if not at.param.has("num_output")
            else "num_output is 0: Caffe aborts",
            "num_output",
        )
    group: int = at.param.get("group")
    if depthwise and channels is not None and not at.param.has("group"):
        group = channels
    if group < 1:
        at.abort("group", "group is 0: Caffe divides by it and dies", "group")
    if channels is not None and channels % group:
        at.abort(
            "group",
            f"group {group} does not divide the {channels} channels of {at.bottom_name(0)}: Caffe aborts",
            "group",
        )
    if outputs % group:
        at.abort("group", f"group {group} does not divide num_output {outputs}: Caffe aborts", "group")
    kernel = settings[0]
    per_group = None if channels is None else channels // group
    if transposed:
        at.blobs = [(channels, outputs // group, *kernel)]
    else:
        at.blobs = [(outputs, per_group, *kernel)]
    if bias:
        at.blobs.append((outputs,))
    for index, other in enumerate(at.bottoms[1:], 1):
        if other is not None and not _compatible(shape, other):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(0)} is {words(shape)} and {at.bottom_name(index)} is {words(other)};"
                " the bottoms of a convolution must have one shape: Caffe aborts",
                value=at.layer.bottoms[index],
            )
    sizes = (_deconvolved if transposed else _convolved)(at, shape, first, settings)
    at.set_tops((*shape[:axis], outputs, *sizes))


def _default_axis(at: Setup, shape: tuple[Extent, ...]) -> int:
    if len(shape) < 2:
        at.abort("bad-axis", f"{at.bottom_name(0)} has {len(shape)} axes and so no channel axis 1: Caffe aborts")
    return 1


def _compatible(one: tuple[Extent, ...], other: tuple[Extent, ...]) -> bool:
    return len(one) == len(other) and all(a is None or b is None or a == b for a, b in zip(one, other))


def _convolution(at: Setup) -> None:
    _setup(at, transposed=False)


def _deconvolution(at: Setup) -> None:
    _setup(at, transposed=True)


def _depthwise(at: Setup) -> None:
    _setup(at, transposed=False, depthwise=True)


def _im2col(at: Setup) -> None:
    """im2col_layer.cpp: the windows of every place, as channels."""
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    axis = at.axis("axis", len(shape)) if at.param.has("axis") else _default_axis(at, shape)
    axes = len(shape) - axis - 1
    if axes < 1:
        at.abort("axes", f"{at.bottom_name(0)} has no axis after axis {axis}: Caffe aborts")
    settings = _windows(at, axes)
    sizes = _convolved(at, shape, axis + 1, settings)
    at.set_tops((*shape[:axis], count((shape[axis], *settings[0])), *sizes))


def shapes_fit(one: Shape, other: Shape) -> bool:
    """Whether two shapes can be equal, as far as they are known."""
    return one is None or other is None or _compatible(one, other)


def _convolved_macs(bottoms: list[Shape], tops: list[Shape], blobs: list[Shape]) -> Extent:
    """The weights, once a position of the outputs."""
    return _macs(tops, blobs)


def _deconvolved_macs(bottoms: list[Shape], tops: list[Shape], blobs: list[Shape]) -> Extent:
    """The weights, once a position of the inputs."""
    return _macs(bottoms, blobs)


def _macs(maps: list[Shape], blobs: list[Shape]) -> Extent:
    weights = blobs[0] if blobs else None
    if weights is None or any(shape is None for shape in maps):
        return None
    axes = len(weights) - 2
    total: Extent = 0
    for shape in maps:
        assert shape is not None
        positions = count((*shape[: -axes - 1], *shape[-axes:]) if axes else shape[:-1])
        each = product(count(weights), positions)
        total = None if total is None or each is None else total + each
    return total


TYPES = (
    LayerType(
        "Convolution",
        _convolution,
        bottoms=(1, UNBOUNDED),
        tops=(1, UNBOUNDED),
        equal=True,
        param="convolution_param",
        macs=_convolved_macs,
    ),
    LayerType(
        "Deconvolution",
        _deconvolution,
        macs=_deconvolved_macs,
        bottoms=(1, UNBOUNDED),
        tops=(1, UNBOUNDED),
        equal=True,
        param="convolution_param",
    ),
    LayerType("Im2col", _im2col, param="convolution_param"),
    LayerType(
        "DepthwiseConvolution",
        _depthwise,
        bottoms=(1, UNBOUNDED),
        tops=(1, UNBOUNDED),
        param="convolution_param",
        macs=_convolved_macs,
    ),
    LayerType("ConvolutionDepthwise", _depthwise, param="convolution_param", macs=_convolved_macs),
)
