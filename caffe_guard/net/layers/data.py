"""Layers that bring data: their shapes come from settings and, where files may be looked at, from what they name."""

from __future__ import annotations

from caffe_guard.net.layers.entry import UNBOUNDED, LayerType, Setup, words
from caffe_guard.net.records import first_picture_size, mean_shape

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent, Shape
    from caffe_guard.schema.message import Message


def _transform(at: Setup) -> Message:
    return at.layer.param("transform_param")


def _pictures(at: Setup, batch: Extent, channels: Extent, high: Extent, wide: Extent) -> Shape:
    """Batches of pictures after the data transformer (data_transformer.cpp): its checks, and the cropped size."""
    transform = _transform(at)
    crop: int = transform.get("crop_size")
    mean_file = transform.at("mean_file")
    if mean_file is not None and transform.has("mean_value"):
        at.abort(
            "bad-parameter",
            "mean_file and mean_value exclude each other: Caffe aborts",
            value=transform.at("mean_value"),
        )
    means = transform.values("mean_value")
    if channels is not None and len(means) not in (0, 1, channels):
        at.abort(
            "bad-parameter",
            f"{len(means)} mean_value for {channels} channels; give one, or one a channel: Caffe aborts",
            value=means[0],
        )
    if crop:
        for side, extent in (("high", high), ("wide", wide)):
            if extent is not None and extent < crop:
                at.abort(
                    "crop-size",
                    f"crop_size {crop} is larger than the pictures, which are {extent} {side}: Caffe aborts",
                    value=transform.at("crop_size"),
                )
    if mean_file is not None and at.data:
        mean = mean_shape(mean_file.value, at.base_dirs)
        if mean is not None:
            for have, want in zip(mean[-3:], (channels, high, wide)):
                if want is not None and have != want:
                    picture = "×".join("?" if extent is None else str(extent) for extent in (channels, high, wide))
                    at.abort(
                        "mean-file-size",
                        f"the mean of {mean_file.value} is {'×'.join(map(str, mean[-3:]))} and the"
                        f" pictures are {picture}:"
                        " Caffe aborts",
                        value=mean_file,
                        help="compute the mean from pictures of this size, or give mean_value",
                    )
            channels, high, wide = mean[-3:]
    if crop:
        high = wide = crop
    return (batch, channels, high, wide)


def _labelled(at: Setup, pictures: Shape, batch: Extent) -> None:
    at.tops = [pictures, (batch,)][: max(1, len(at.layer.tops))]


def _batch(at: Setup) -> Extent:
    """batch_size as given. Nothing is known when it is absent or 0, which Caffe refuses only once data come."""
    batch: int = at.param.get("batch_size")
    if batch < 1:
        at.abort("bad-parameter", "batch_size is missing or 0: Caffe aborts", "batch_size")
    return batch


def _data(at: Setup) -> None:
    """data_layer.cpp: the first record decides; it lies in a database, which lint does not open."""
    batch = _batch(at)
    _labelled(at, _pictures(at, batch, None, None, None), batch)


def _annotated_data(at: Setup) -> None:
    """annotated_data_layer.cpp (SSD): pictures, and boxes whose number changes from batch to batch."""
    param = at.layer.param("data_param")
    batch: Extent = param.get("batch_size") or None
    transform = _transform(at)
    high: Extent = None
    wide: Extent = None
    resize = transform.values("resize_param")
    if len(resize) == 1:
        # MobileNet-YOLO may give several and choose one at random.
        high, wide = resize[0].value.get("height") or None, resize[0].value.get("width") or None
    tops: list[Shape] = [(batch, None, high, wide), (1, 1, None, 8)]
    at.tops = tops[: max(1, len(at.layer.tops))]


def _image_data(at: Setup) -> None:
    """image_data_layer.cpp, DataLayerSetUp: the first picture decides, or new_height and new_width."""
    param = at.param
    high: int = param.get("new_height")
    wide: int = param.get("new_width")
    if (high == 0) != (wide == 0):
        at.abort(
            "bad-parameter",
            "new_height and new_width must be given both or neither: Caffe aborts",
            "new_height" if high else "new_width",
        )
    batch = _batch(at)
    channels: Extent = 3 if param.get("is_color") else 1
    size: tuple[Extent, Extent] = (high or None, wide or None)
    if not high and at.data and param.has("source"):
        size = first_picture_size(param.get("source"), param.get("root_folder"), at.base_dirs) or size
    _labelled(at, _pictures(at, batch, channels, *size), batch)


def _window_data(at: Setup) -> None:
    """window_data_layer.cpp: windows warped to crop_size (the one of transform_param; an old net's is moved there)."""
    crop: int = _transform(at).get("crop_size")
    if crop < 1:
        at.abort(
            "bad-parameter", "WindowData needs transform_param.crop_size: Caffe aborts", value=at.param.at("crop_size")
        )
    batch: Extent = at.param.get("batch_size") or None
    _labelled(at, (batch, None, crop or None, crop or None), batch)


def _memory_data(at: Setup) -> None:
    """memory_data_layer.cpp."""
    param = at.param
    extents = [param.get(name) for name in ("batch_size", "channels", "height", "width")]
    if 0 in extents:
        at.abort("bad-parameter", "batch_size, channels, height and width must all be given and positive: Caffe aborts")
    tops: list[Shape] = [tuple(extents), (extents[0],)]
    at.tops = tops[: max(1, len(at.layer.tops))]


def _hdf5_data(at: Setup) -> None:
    """hdf5_data_layer.cpp: a dataset a top."""
    if at.layer.message.has("transform_param"):
        at.abort(
            "bad-parameter",
            "HDF5Data does not transform its data: with transform_param Caffe aborts",
            value=at.layer.message.at("transform_param"),
            help="transform the data before they are written to the file",
        )
    at.tops = [None] * len(at.layer.tops)


def _per_top(at: Setup, shapes: list[Message]) -> list[Shape]:
    """A shape a top, or one for all."""
    dims = [tuple(shape.get("dim")) for shape in shapes]
    return [*dims] if len(dims) == len(at.layer.tops) else [dims[0]] * len(at.layer.tops)


def _input(at: Setup) -> None:
    """input_layer.cpp."""
    shapes = at.param.get("shape")
    tops = len(at.layer.tops)
    if len(shapes) not in (0, 1, tops):
        at.abort("bad-parameter", f"{len(shapes)} shape for {tops} tops; give one, or one a top: Caffe aborts", "shape")
    # Without a shape nothing reshapes the tops: they keep no axes, until a script gives them some.
    at.tops = _per_top(at, shapes) if shapes else [()] * tops


def _dummy_data(at: Setup) -> None:
    """dummy_data_layer.cpp, LayerSetUp."""
    param = at.param
    tops = len(at.layer.tops)
    fillers = param.values("data_filler")
    if len(fillers) not in (0, 1, tops):
        at.abort("bad-parameter", f"{len(fillers)} data_filler for {tops} tops: Caffe aborts", "data_filler")
    shapes = param.get("shape")
    legacy = [param.get(name) for name in ("num", "channels", "height", "width")]
    if any(legacy):
        if shapes:
            at.abort("bad-parameter", "shape and num/channels/height/width exclude each other: Caffe aborts", "num")
        for name, given in zip(("num", "channels", "height", "width"), legacy):
            if len(given) not in (1, tops):
                at.abort("bad-parameter", f"{len(given)} {name} for {tops} tops: Caffe aborts", name)
        at.tops = [tuple(given[min(index, len(given) - 1)] for given in legacy) for index in range(tops)]
    else:
        if len(shapes) not in (1, tops):
            at.abort(
                "bad-parameter", f"{len(shapes)} shape for {tops} tops; give one, or one a top: Caffe aborts", "shape"
            )
        at.tops = _per_top(at, shapes)
    for top, shape in zip(at.layer.tops, at.tops):
        if shape is not None and 0 in shape:
            at.abort("empty-blob", f'"{top.value}" has no items to fill, {words(shape)}: Caffe aborts', value=top)


def _source(name: str, setup: object, param: str, tops: tuple[int, int]) -> LayerType:
    return LayerType(name, setup, (0, 0), tops, param=param, data=True)  # type: ignore[arg-type]


TYPES = (
    _source("Data", _data, "data_param", (1, 2)),
    _source("AnnotatedData", _annotated_data, "data_param", (1, 2)),
    _source("DummyData", _dummy_data, "dummy_data_param", (1, UNBOUNDED)),
    _source("HDF5Data", _hdf5_data, "hdf5_data_param", (1, UNBOUNDED)),
    _source("ImageData", _image_data, "image_data_param", (2, 2)),
    _source("Input", _input, "input_param", (1, UNBOUNDED)),
    _source("MemoryData", _memory_data, "memory_data_param", (2, 2)),
    _source("WindowData", _window_data, "window_data_param", (2, 2)),
)
