"""BatchNorm, LRN, MVN, Scale and Bias, and the normalisations of forks (BN, Normalize)."""

from __future__ import annotations

from caffe_guard.net.layers.entry import FINE, WRONG, WRONG_GRADIENT, LayerType, Setup, differ, same_as_bottom, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent, Shape


def _batch_norm(at: Setup) -> None:
    """batch_norm_layer.cpp: mean, variance and factor, none of which may be trained."""
    shape = at.bottoms[0]
    for value in at.layer.message.values("param"):
        spec = value.value
        if spec.get("lr_mult") != 0:
            given = spec.at("lr_mult")
            at.abort(
                "batchnorm-lr-mult",
                "the statistics of a BatchNorm cannot be trained: every param must have lr_mult 0,"
                f" this one has {spec.get('lr_mult'):g}, and Caffe aborts",
                "param.lr_mult",
                given or value,
                help="give three `param { lr_mult: 0 }`, or none",
            )
    if shape is not None and len(shape) < 2:
        # LayerSetUp takes a single axis for one channel, but Reshape reads axis 1 all the same.
        axes = "1 axis" if shape else "no axes"
        at.abort("axes", f"{at.bottom_name(0)} has {axes}; BatchNorm reads the channel axis 1: Caffe aborts")
    channels = None if shape is None else shape[1]
    at.blobs = [(channels,), (channels,), (1,)]
    same_as_bottom(at)


def _lrn(at: Setup) -> None:
    """lrn_layer.cpp, LayerSetUp and Reshape."""
    size: int = at.param.get("local_size")
    if size % 2 == 0:
        at.abort("bad-parameter", f"local_size {size} is even; it must be odd: Caffe aborts", "local_size")
    shape = at.bottoms[0]
    if shape is not None and len(shape) != 4:
        at.abort("axes", f"{at.bottom_name(0)} is {words(shape)}; LRN needs 4 axes: Caffe aborts")
    same_as_bottom(at)


def _mvn(at: Setup) -> None:
    """mvn_layer.cpp: the top has four axes by the old accessors."""
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    if len(shape) > 4:
        at.abort("axes", f"{at.bottom_name(0)} has {len(shape)} axes; MVN takes 4 or fewer: Caffe aborts")
    at.set_tops((*shape, *([1] * (4 - len(shape)))))


def _broadcast(at: Setup, what: str) -> Shape:
    """The shape of the scale or bias, held against the bottom it is laid over (scale_layer.cpp, bias_layer.cpp)."""
    shape = at.bottoms[0]
    second = at.bottoms[1] if len(at.bottoms) > 1 else None
    if shape is None:
        return second
    if len(at.bottoms) > 1:
        if second is None:
            return None
        # A second bottom without axes is laid over everything.
        axis = 0 if not second else at.axis("axis", len(shape))
        if axis + len(second) > len(shape):
            at.abort(
                "shape-mismatch",
                f"{what} {at.bottom_name(1)}, {words(second)}, from axis {axis} reaches past {at.bottom_name(0)},"
                f" {words(shape)}: Caffe aborts",
                value=at.layer.bottoms[1],
            )
        for index, extent in enumerate(second):
            if differ(extent, shape[axis + index]):
                at.abort(
                    "shape-mismatch",
                    f"{what} {at.bottom_name(1)}, {words(second)}, does not fit {at.bottom_name(0)}, {words(shape)},"
                    f" from axis {axis} on: Caffe aborts",
                    value=at.layer.bottoms[1],
                )
        return second
    axis = at.axis("axis", len(shape))
    axes: int = at.param.get("num_axes")
    if axes < -1:
        at.abort("bad-parameter", f"num_axes {axes} must be -1 or more: Caffe aborts", "num_axes")
    if axes == -1:
        return shape[axis:]
    if axis + axes > len(shape):
        at.abort(
            "bad-axis",
            f"{axes} axes from axis {axis} reach past {at.bottom_name(0)}, {words(shape)}: Caffe aborts",
            "num_axes" if at.param.has("num_axes") else "axis",
        )
    return shape[axis : axis + axes]


def _scale(at: Setup) -> None:
    scale = _broadcast(at, "the scale")
    if len(at.bottoms) == 1:
        at.blobs = [scale]
    if at.param.get("bias_term"):
        if at.bottoms[0] is not None:
            # The inner Bias layer looks at the axis even where a scalar scale needs none.
            at.axis("axis", len(at.bottoms[0]))
        at.blobs.append(scale)
    same_as_bottom(at)


def _bias(at: Setup) -> None:
    bias = _broadcast(at, "the bias")
    if len(at.bottoms) == 1:
        at.blobs = [bias]
    same_as_bottom(at)


def _bn(at: Setup) -> None:
    """The BN of SegNet, PSPNet and others: slope and bias a channel, and often two statistics more."""
    shape = at.bottoms[0]
    channels: Extent = None if shape is None or len(shape) < 2 else shape[1]
    at.blobs = [(1, channels, 1, 1), (1, channels, 1, 1)]
    same_as_bottom(at)


def _normalize(at: Setup) -> None:
    """normalize_layer.cpp (SSD): a learnable scale a channel, or one for all."""
    shape = at.bottoms[0]
    channels: Extent = None if shape is None or len(shape) < 2 else shape[1]
    at.blobs = [() if at.param.get("channel_shared") else (channels,)]
    same_as_bottom(at)


TYPES = (
    LayerType("BatchNorm", _batch_norm, param="batch_norm_param", in_place=FINE),
    LayerType("LRN", _lrn, param="lrn_param", in_place=WRONG),
    LayerType("MVN", _mvn, param="mvn_param", in_place=WRONG_GRADIENT),
    LayerType("Scale", _scale, bottoms=(1, 2), param="scale_param", in_place=FINE),
    LayerType("Bias", _bias, bottoms=(1, 2), param="bias_param", in_place=FINE),
    LayerType("BN", _bn, in_place=FINE),
    LayerType("Normalize", _normalize, param="norm_param"),
)
