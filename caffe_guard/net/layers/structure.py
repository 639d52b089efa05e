"""Layers that join, cut, move or reshape blobs."""

from __future__ import annotations

from caffe_guard.net.layers.entry import (
    ABORTS,
    FINE,
    UNBOUNDED,
    WRONG,
    LayerType,
    Setup,
    count,
    differ,
    same_as_bottom,
    words,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent, Shape


def _concat(at: Setup) -> None:
    """concat_layer.cpp."""
    param = at.param
    if param.has("axis") and param.has("concat_dim"):
        at.abort("bad-parameter", "axis and concat_dim exclude each other: Caffe aborts", "concat_dim")
    known = [(index, shape) for index, shape in enumerate(at.bottoms) if shape is not None]
    if not known:
        at.set_tops(None)
        return
    first, shape = known[0]
    if param.has("concat_dim"):
        axis: int = param.get("concat_dim")
        if axis >= len(shape):
            at.abort("bad-axis", f"concat_dim {axis} is no axis of {at.bottom_name(first)}: Caffe aborts", "concat_dim")
    else:
        axis = at.axis("axis", len(shape), first)
    joined: Extent = 0
    for index, other in enumerate(at.bottoms):
        if other is None:
            joined = None
            continue
        if len(other) != len(shape) or any(
            differ(one, two) for place, (one, two) in enumerate(zip(shape, other)) if place != axis
        ):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(first)} is {words(shape)} and {at.bottom_name(index)} is {words(other)};"
                f" joined along axis {axis}, all other axes must agree: Caffe aborts",
                value=at.layer.bottoms[index],
            )
        joined = None if joined is None or other[axis] is None else joined + (other[axis] or 0)
    at.set_tops((*shape[:axis], joined, *shape[axis + 1 :]))


def _slice(at: Setup) -> None:
    """slice_layer.cpp."""
    param = at.param
    if param.has("axis") and param.has("slice_dim"):
        at.abort("bad-parameter", "axis and slice_dim exclude each other: Caffe aborts", "slice_dim")
    shape = at.bottoms[0]
    tops = len(at.layer.tops)
    points = param.values("slice_point")
    if points and len(points) != tops - 1:
        at.abort(
            "top-count",
            f"{len(points)} slice_point give {len(points) + 1} pieces, for {tops} tops: Caffe aborts",
            "slice_point",
        )
    if shape is None:
        at.set_tops(None)
        return
    if param.has("slice_dim"):
        axis: int = param.get("slice_dim")
        if axis >= len(shape):
            at.abort("bad-axis", f"slice_dim {axis} is no axis of {at.bottom_name(0)}: Caffe aborts", "slice_dim")
    else:
        axis = at.axis("axis", len(shape))
    whole = shape[axis]
    if points:
        cuts = [0, *(point.value for point in points)]
        for before, after, point in zip(cuts, cuts[1:], points):
            if after <= before:
                at.abort(
                    "bad-parameter",
                    f"slice_point {after} does not lie after {before}: Caffe aborts",
                    "slice_point",
                    point,
                )
        sizes: list[Extent] = [after - before for before, after in zip(cuts, cuts[1:])]
        last = None if whole is None else whole - cuts[-1]
        if last is not None and last < 1:
            at.abort(
                "shape-mismatch",
                f"slice_point {cuts[-1]} leaves nothing of the {whole} items of axis {axis} of {at.bottom_name(0)}:"
                " Caffe aborts",
                "slice_point",
                points[-1],
            )
        sizes.append(last)
    else:
        if whole is not None and whole % tops:
            at.abort(
                "shape-mismatch",
                f"axis {axis} of {at.bottom_name(0)}, {words(shape)}, cannot be cut into {tops} equal"
                " pieces: Caffe aborts",
                value=at.layer.tops[-1],
            )
        sizes = [None if whole is None else whole // tops] * tops
    at.tops = [(*shape[:axis], size, *shape[axis + 1 :]) for size in sizes]


def _eltwise(at: Setup) -> None:
    """eltwise_layer.cpp: all bottoms of exactly one shape."""
    param = at.param
    coefficients = param.values("coeff")
    if coefficients and len(coefficients) != len(at.bottoms):
        at.abort(
            "bad-parameter",
            f"{len(coefficients)} coeff for {len(at.bottoms)} bottoms; give none, or one a bottom: Caffe aborts",
            "coeff",
        )
    if coefficients and param.get("operation") == "PROD":
        at.abort("bad-parameter", "PROD takes no coeff: Caffe aborts", "coeff")
    known = [(index, shape) for index, shape in enumerate(at.bottoms) if shape is not None]
    merged: Shape = known[0][1] if known else None
    for index, other in known[1:]:
        first, shape = known[0]
        if len(other) != len(shape) or any(differ(one, two) for one, two in zip(shape, other)):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(first)} is {words(shape)} and {at.bottom_name(index)} is {words(other)};"
                " Eltwise needs equal shapes: Caffe aborts",
                value=at.layer.bottoms[index],
                help=_off_by_one(shape, other),
            )
        assert merged is not None
        merged = tuple(two if one is None else one for one, two in zip(merged, other))
    at.set_tops(merged)


def _off_by_one(one: tuple[Extent, ...], other: tuple[Extent, ...]) -> str | None:
    """A word on the commonest cause of shapes that differ by one."""
    if len(one) == len(other) == 4 and any(
        a is not None and b is not None and abs(a - b) == 1 for a, b in zip(one[2:], other[2:])
    ):
        return (
            "Caffe's pooling rounds its size up and its convolution rounds down: crop one of the two,"
            " pad it, or choose an input size that both divide"
        )
    return None


def _flatten(at: Setup) -> None:
    """flatten_layer.cpp."""
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    start = at.axis("axis", len(shape))
    end = at.axis("end_axis", len(shape))
    if start > end + 1:
        at.abort("bad-axis", f"axis {start} lies behind end_axis {end}: Caffe aborts", "axis")
    at.set_tops((*shape[:start], count(shape[start : end + 1]), *shape[end + 1 :]))


def _reshape(at: Setup) -> None:
    """reshape_layer.cpp: 0 keeps an extent, -1 takes what is left."""
    param = at.param
    dims: list[int] = param.get("shape").get("dim")
    if sum(1 for dim in dims if dim == -1) > 1:
        at.abort("bad-parameter", "the shape has more than one -1: Caffe aborts", "shape")
    for dim in dims:
        if dim < -1:
            at.abort("blob-too-large", f"the extent {dim} is negative: Caffe aborts", "shape")
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    axes = len(shape)
    axis: int = param.get("axis")
    start = axis if axis >= 0 else axes + axis + 1
    if not 0 <= start <= axes:
        at.abort("bad-axis", f"axis {axis} is none of the {axes} axes of {at.bottom_name(0)}: Caffe aborts", "axis")
    taken: int = param.get("num_axes")
    if taken < -1:
        at.abort("bad-parameter", f"num_axes {taken} must be -1 or more: Caffe aborts", "num_axes")
    end = axes if taken == -1 else start + taken
    if end > axes:
        at.abort("bad-axis", f"{taken} axes from axis {start} reach past {at.bottom_name(0)}: Caffe aborts", "num_axes")
    middle: list[Extent] = []
    for index, dim in enumerate(dims):
        if dim == 0:
            if start + index >= axes:
                at.abort(
                    "bad-axis",
                    f"the 0 at place {index} of the shape keeps axis {start + index}, which {at.bottom_name(0)},"
                    f" {words(shape)}, does not have: Caffe aborts",
                    "shape",
                )
            middle.append(shape[start + index])
        else:
            middle.append(dim)
    out = [*shape[:start], *middle, *shape[end:]]
    total = count(shape)
    if -1 in dims:
        place = start + dims.index(-1)
        rest = count(extent for index, extent in enumerate(out) if index != place)
        out[place] = None
        if total is not None and rest is not None:
            if rest == 0 or total % rest:
                at.abort(
                    "shape-mismatch",
                    f"the {total} items of {at.bottom_name(0)}, {words(shape)}, cannot be divided by the"
                    f" {rest} of the other extents: Caffe aborts",
                    "shape",
                )
            out[place] = total // rest
    else:
        new = count(out)
        if differ(total, new):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(0)}, {words(shape)}, has {total} items and the new shape"
                f" {words(tuple(out))} has {new}:"
                " Caffe aborts",
                "shape",
            )
    at.set_tops(tuple(out))


def _crop(at: Setup) -> None:
    """crop_layer.cpp."""
    shape, reference = at.bottoms[0], at.bottoms[1]
    if shape is None:
        at.set_tops(None)
        return
    axis = at.axis("axis", len(shape))
    offsets: list[int] = at.param.get("offset")
    if len(offsets) > 1 and len(offsets) != len(shape) - axis:
        at.abort(
            "bad-parameter",
            f"{len(offsets)} offset for the {len(shape) - axis} axes from axis {axis} on: Caffe aborts",
            "offset",
        )
    out: list[Extent] = list(shape[:axis])
    for index in range(axis, len(shape)):
        offset = 0 if not offsets else offsets[0] if len(offsets) == 1 else offsets[index - axis]
        wanted = None if reference is None or index >= len(reference) else reference[index]
        have = shape[index]
        if reference is not None and index >= len(reference):
            at.abort(
                "axes",
                f"{at.bottom_name(1)}, {words(reference)}, has no axis {index} to crop"
                f" {at.bottom_name(0)} to: Caffe aborts",
                value=at.layer.bottoms[1],
            )
        if have is not None and wanted is not None and have - offset < wanted:
            at.abort(
                "shape-mismatch",
                f"axis {index} of {at.bottom_name(0)}, {words(shape)}, from offset {offset} is shorter"
                f" than the {wanted} of"
                f" {at.bottom_name(1)}, {words(reference)}: Caffe aborts",
                "offset",
                None if offsets else at.layer.bottoms[0],
            )
        out.append(wanted)
    at.set_tops(tuple(out))


def _tile(at: Setup) -> None:
    """tile_layer.cpp."""
    tiles: int = at.param.get("tiles")
    if not at.param.has("tiles"):
        at.abort("bad-parameter", "tiles is missing: Caffe aborts", help="give tiles")
    if tiles < 1:
        at.abort("bad-parameter", f"tiles {tiles} must be positive: Caffe aborts", "tiles")
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    axis = at.axis("axis", len(shape))
    extent = shape[axis]
    at.set_tops((*shape[:axis], None if extent is None else extent * tiles, *shape[axis + 1 :]))


def _batch_reindex(at: Setup) -> None:
    """batch_reindex_layer.cpp."""
    shape, index = at.bottoms[0], at.bottoms[1]
    if index is not None and len(index) != 1:
        at.abort(
            "axes",
            f"{at.bottom_name(1)} is {words(index)}; the index must have 1 axis: Caffe aborts",
            value=at.layer.bottoms[1],
        )
    if shape is None:
        at.set_tops(None)
        return
    if not shape:
        at.abort("axes", f"{at.bottom_name(0)} is a scalar; BatchReindex picks along the batch, axis 0: Caffe aborts")
    at.set_tops((None if index is None else index[0], *shape[1:]))


def _filter(at: Setup) -> None:
    """filter_layer.cpp: how many items pass is known when data come; the first reshape takes all."""
    selector = at.bottoms[-1]
    if len(at.layer.tops) != len(at.bottoms) - 1:
        at.abort(
            "top-count",
            f"{len(at.bottoms)} bottoms (the last selects) need {len(at.bottoms) - 1} tops, not {len(at.layer.tops)}:"
            " Caffe aborts",
        )
    if selector is not None and any(extent not in (None, 1) for extent in selector[1:]):
        at.abort(
            "axes",
            f"the selector {at.bottom_name(len(at.bottoms) - 1)} is {words(selector)}; all axes but the"
            " first must be 1:"
            " Caffe aborts",
            value=at.layer.bottoms[-1],
        )
    for index, shape in enumerate(at.bottoms):
        if shape is not None and not shape:
            at.abort(
                "axes",
                f"{at.bottom_name(index)} is a scalar; Filter selects along the batch, axis 0: Caffe aborts",
                value=at.layer.bottoms[index],
            )
    for index, shape in enumerate(at.bottoms[:-1]):
        if shape and selector and differ(shape[0], selector[0]):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(index)}, {words(shape)}, and the selector {at.bottom_name(len(at.bottoms) - 1)},"
                f" {words(selector)}, have different batch sizes: Caffe aborts",
                value=at.layer.bottoms[index],
            )
    at.tops = list(at.bottoms[:-1])


def _reduction(at: Setup) -> None:
    """reduction_layer.cpp."""
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    at.set_tops(shape[: at.axis("axis", len(shape))])


def _parameter(at: Setup) -> None:
    """parameter_layer.hpp: a learnable blob as a top."""
    dims: list[int] = at.param.get("shape").get("dim")
    at.blobs = [tuple(dims)]
    at.set_tops(tuple(dims))


def _permute(at: Setup) -> None:
    """permute_layer.cpp (SSD): the named axes first, the others in their order."""
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    order: list[int] = list(at.param.get("order"))
    for place, axis in enumerate(order):
        if axis >= len(shape):
            at.abort(
                "bad-axis", f"order {axis} is no axis of {at.bottom_name(0)}, {words(shape)}: Caffe aborts", "order"
            )
        if axis in order[:place]:
            at.abort("bad-parameter", f"order names axis {axis} twice: Caffe aborts", "order")
    order += [axis for axis in range(len(shape)) if axis not in order]
    at.set_tops(tuple(shape[axis] for axis in order))


def _unknown(at: Setup) -> None:
    """A type whose tops depend on more than caffe-guard follows."""
    at.set_tops(None)


def _interp(at: Setup) -> None:
    """interp_layer.cpp (DeepLab): channels stay, the size comes from settings."""
    shape = at.bottoms[0]
    at.set_tops(None if shape is None or len(shape) != 4 else (shape[0], shape[1], None, None))


TYPES = (
    LayerType("BatchReindex", _batch_reindex, bottoms=(2, 2), no_gradient=(1,)),
    LayerType("Concat", _concat, bottoms=(1, UNBOUNDED), param="concat_param"),
    LayerType("Crop", _crop, bottoms=(2, 2), param="crop_param"),
    LayerType("Eltwise", _eltwise, bottoms=(2, UNBOUNDED), param="eltwise_param", in_place=WRONG),
    LayerType("Filter", _filter, bottoms=(2, UNBOUNDED), tops=(1, UNBOUNDED)),
    LayerType("Flatten", _flatten, param="flatten_param", in_place=ABORTS),
    LayerType("Parameter", _parameter, bottoms=(0, 0), param="parameter_param"),
    LayerType("Reduction", _reduction, param="reduction_param"),
    LayerType("Reshape", _reshape, param="reshape_param", in_place=ABORTS),
    LayerType("Slice", _slice, tops=(1, UNBOUNDED), param="slice_param"),
    LayerType("Tile", _tile, param="tile_param"),
    LayerType("Permute", _permute, param="permute_param"),
    LayerType("ShuffleChannel", same_as_bottom),
    LayerType(
        "Axpy", lambda at: at.set_tops(at.bottoms[1] if len(at.bottoms) > 1 else None), bottoms=(3, 3), in_place=FINE
    ),
    LayerType("Interp", _interp, bottoms=(1, 2)),
    LayerType("Upsample", _unknown, bottoms=(1, 2)),
)
