"""Pooling and spatial pyramid pooling: the pooled size in Caffe's float arithmetic, where the last window starts."""

from __future__ import annotations

import math
import struct

from caffe_guard.net.layers.entry import LayerType, Setup, int32, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent

_FLOAT = struct.Struct("f")


class PooledAxis:
    """Pooling along one axis, in items of the unpadded input where nothing else is said.

    ``size`` is the pooled extent; ``last_start`` where the last window begins, after the pad is taken off (it can be
    at or past the end of the input only when nothing is padded: then Caffe does not clip the size).
    """

    __slots__ = ("extent", "kernel", "last_start", "pad", "size", "stride")

    def __init__(self, extent: int, kernel: int, stride: int, pad: int, size: int) -> None:
        self.extent = extent
        self.kernel = kernel
        self.stride = stride
        self.pad = pad
        self.size = size
        self.last_start = (size - 1) * stride - pad

    @property
    def starts_past_input(self) -> bool:
        """Whether the last window holds no item of the input."""
        return self.last_start >= self.extent


def pooled_size(extent: int, kernel: int, stride: int, pad: int, ceil: bool, clip: bool) -> int:
    """The pooled extent (pooling_layer.cpp, Reshape).

    ``ceil`` is round_mode CEIL; ``clip`` that some axis is padded: then the last window must begin inside the image
    or its pad on the near side.
    """
    quotient = _float(_float(extent + 2 * pad - kernel) / stride)
    size = (math.ceil(quotient) if ceil else math.floor(quotient)) + 1
    if clip and (size - 1) * stride >= extent + pad:
        size -= 1
    return size


def _float(value: float) -> float:
    """A number as a C++ float."""
    number: float = _FLOAT.unpack(_FLOAT.pack(value))[0]
    return number


class Window:
    """The settings of a pooling layer on one input: (height, width) pairs."""

    __slots__ = ("ceil", "kernel", "pad", "stride")

    def __init__(
        self, kernel: tuple[Extent, Extent], stride: tuple[int, int], pad: tuple[int, int], ceil: bool
    ) -> None:
        self.kernel = kernel
        self.stride = stride
        self.pad = pad
        self.ceil = ceil


def window(at: Setup) -> Window:
    """Kernel, stride and pad of a pooling layer; aborts as LayerSetUp does."""
    param = at.param
    has = param.has
    shape = at.bottoms[0]
    if param.get("global_pooling"):
        for name in ("kernel_size", "kernel_h", "kernel_w"):
            if has(name):
                at.abort(
                    "bad-parameter", f"global_pooling takes its kernel from the input; with {name} Caffe aborts", name
                )
    elif has("kernel_size") == (has("kernel_h") and has("kernel_w")):
        if has("kernel_size"):
            at.abort(
                "bad-parameter", "kernel_size and kernel_h/kernel_w exclude each other: Caffe aborts", "kernel_size"
            )
        at.abort(
            "bad-parameter",
            "the pooling has no kernel: kernel_size, or kernel_h and kernel_w, is missing, and Caffe aborts",
            help="give kernel_size, or global_pooling: true for the whole map",
        )
    for single, high_name, wide_name in (("pad", "pad_h", "pad_w"), ("stride", "stride_h", "stride_w")):
        # Caffe: CHECK((!has_pad && has_h && has_w) || (!has_h && !has_w)), and the same for stride.
        pair = has(high_name) and has(wide_name)
        if (has(high_name) or has(wide_name)) and (has(single) or not pair):
            name = single if has(single) else high_name if has(high_name) else wide_name
            at.abort("bad-parameter", f"give {single}, or both {high_name} and {wide_name}: Caffe aborts", name)
    high, wide = shape[2:4] if shape is not None and len(shape) == 4 else (None, None)
    if param.get("global_pooling"):
        kernel: tuple[Extent, Extent] = (high, wide)
    elif has("kernel_size"):
        kernel = (int32(param.get("kernel_size")), int32(param.get("kernel_size")))
    else:
        kernel = (int32(param.get("kernel_h")), int32(param.get("kernel_w")))
    for extent in kernel:
        if extent is not None and extent < 1:
            name = "kernel_size" if has("kernel_size") else "kernel_h"
            at.abort("bad-parameter", "the kernel must be positive: Caffe aborts", name)
    pad = (param.get("pad_h"), param.get("pad_w")) if has("pad_h") else (param.get("pad"), param.get("pad"))
    stride = (
        (param.get("stride_h"), param.get("stride_w"))
        if has("stride_h")
        else (param.get("stride"), param.get("stride"))
    )
    if param.get("global_pooling") and (pad != (0, 0) or stride != (1, 1)):
        name = "pad" if pad != (0, 0) else "stride"
        at.abort("bad-parameter", f"global_pooling takes pad 0 and stride 1; with this {name} Caffe aborts", name)
    if pad != (0, 0):
        if param.get("pool") not in ("MAX", "AVE"):
            at.abort(
                "bad-parameter",
                f"pad works with MAX and AVE pooling only, not {param.get('pool')}: Caffe aborts",
                "pad",
            )
        for side, extent in zip(pad, kernel):
            if extent is not None and int32(side) >= extent:
                at.abort(
                    "bad-parameter",
                    f"pad {side} is not smaller than kernel {extent}: Caffe aborts",
                    "pad",
                    help="use less pad",
                )
    if 0 in stride:
        at.abort("bad-parameter", "stride is 0: Caffe divides by it, and the pooled size is meaningless", "stride")
    # Forks, and Caffe before 2018, always round up.
    ceil = param.get("round_mode") != "FLOOR"
    return Window(kernel, (int32(stride[0]), int32(stride[1])), (int32(pad[0]), int32(pad[1])), ceil)


def pooled_axes(at: Setup) -> list[PooledAxis | None]:
    """Height and width of a pooling; None for an axis whose input is unknown. Aborts as Caffe does."""
    settings = window(at)
    shape = at.bottoms[0]
    if shape is None:
        return [None, None]
    if len(shape) != 4:
        at.abort("axes", f"{at.bottom_name(0)} is {words(shape)}; pooling needs 4 axes: Caffe aborts")
    clip = settings.pad != (0, 0)
    # Intel's Caffe clips a pooling of kernel 1 as well.
    if at.param.type.dialect == "intel" and 1 in settings.kernel:
        clip = True
    out: list[PooledAxis | None] = []
    for extent, kernel, stride, pad in zip(shape[2:], settings.kernel, settings.stride, settings.pad):
        if extent is None or kernel is None:
            out.append(None)
            continue
        size = pooled_size(extent, kernel, stride, pad, settings.ceil, clip)
        axis = PooledAxis(extent, kernel, stride, pad, size)
        if clip and (size - 1) * stride >= extent + pad:
            at.abort(
                "kernel-larger-than-input",
                f"the last window of {at.bottom_name(0)}, {words(shape)}, starts past the padded input: Caffe aborts",
                "stride",
            )
        if size < 1 and extent > 0:
            # Set-up refuses a negative extent; one of 0 kills the first forward (Check failed: data_).
            at.abort(
                "kernel-larger-than-input",
                f"kernel {kernel} is larger than {at.bottom_name(0)}, {words(shape)}: the pooled extent"
                f" would be {size},"
                " and Caffe aborts",
                "kernel_size" if at.param.has("kernel_size") else "kernel_h",
            )
        out.append(axis)
    return out


def _pooling(at: Setup) -> None:
    axes = pooled_axes(at)
    shape = at.bottoms[0]
    if len(at.layer.tops) > 1 and at.param.get("pool") != "MAX":
        at.abort(
            "top-count",
            f"only MAX pooling has a second top, {at.param.get('pool')} has one: Caffe aborts",
            value=at.layer.tops[1],
        )
    if at.param.get("global_pooling"):
        at.set_tops(None if shape is None else (*shape[:2], 1, 1))
        return
    batch, channels = shape[:2] if shape is not None else (None, None)
    sizes: list[Extent] = [None if axis is None else axis.size for axis in axes]
    at.set_tops((batch, channels, *sizes))


def _spp(at: Setup) -> None:
    """spp_layer.cpp: poolings into 1, 4, 16, … bins, flattened and joined."""
    shape = at.bottoms[0]
    levels: int = at.param.get("pyramid_height")
    if shape is None:
        at.set_tops(None)
        return
    if len(shape) != 4:
        at.abort("axes", f"{at.bottom_name(0)} is {words(shape)}; SPP needs 4 axes: Caffe aborts")
    if levels < 1:
        at.abort("bad-parameter", "pyramid_height is missing or 0: Caffe aborts", "pyramid_height")
    batch, channels, high, wide = shape
    if high is None or wide is None or channels is None:
        at.set_tops((batch, None) if levels > 1 else (batch, channels, 1, 1))
        return
    if levels == 1:
        at.set_tops((batch, channels, 1, 1))
        return
    if at.layer.tops and at.layer.tops[0].value == at.layer.bottoms[0].value:
        at.abort("in-place", "SPP of several levels cannot work in place: Caffe aborts", value=at.layer.tops[0])
    total = 0
    for level in range(min(levels, 31)):
        bins = 2**level
        items = channels
        for extent in (high, wide):
            kernel = -(-extent // bins)
            pad = (kernel * bins - extent + 1) // 2
            if pad >= kernel:
                at.abort(
                    "bad-parameter",
                    f"{bins} bins need an input of {bins} or more, {at.bottom_name(0)} is {words(shape)}: Caffe aborts",
                    "pyramid_height",
                )
            items *= pooled_size(extent, kernel, kernel, pad, True, pad != 0)
        total += items
    at.set_tops((batch, total))


TYPES = (
    LayerType("Pooling", _pooling, tops=(1, 2), param="pooling_param", hides_nan=True),
    LayerType("SPP", _spp, param="spp_param", hides_nan=True),
)
