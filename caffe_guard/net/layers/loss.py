"""Losses (loss_layer.cpp and each loss's Reshape): a scalar top that Caffe makes by itself, with weight 1."""

from __future__ import annotations

from caffe_guard.net.layers.entry import ABORTS, LayerType, Setup, count, differ, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent


def _same_batch(at: Setup) -> None:
    """LossLayer::Reshape: predictions and labels have one batch size."""
    one, other = at.bottoms[0], at.bottoms[1]
    for index, shape in enumerate((one, other)):
        if shape is not None and not shape:
            at.abort(
                "axes",
                f"{at.bottom_name(index)} is a scalar; a loss compares along the batch, axis 0: Caffe aborts",
                value=at.layer.bottoms[index],
            )
    if one is None or other is None:
        return
    if differ(one[0], other[0]):
        at.abort(
            "label-count",
            f"{at.bottom_name(0)}, {words(one)}, and {at.bottom_name(1)}, {words(other)}, have different batch sizes:"
            " Caffe aborts",
            value=at.layer.bottoms[1],
        )


def _scalar(at: Setup) -> None:
    at.tops = [()] * max(1, len(at.layer.tops))


def label_count(at: Setup, axis_field: str = "axis") -> None:
    """One label for every position of the predictions: all their axes but the class axis (softmax_loss_layer.cpp)."""
    scores, labels = at.bottoms[0], at.bottoms[1]
    if scores is None:
        return
    axis = _class_axis(at, axis_field, len(scores))
    if labels is None:
        return
    wanted = count((*scores[:axis], *scores[axis + 1 :]))
    have = count(labels)
    if differ(wanted, have):
        at.abort(
            "label-count",
            f"{at.bottom_name(0)} is {words(scores)}: with its classes along axis {axis} it makes {wanted} predictions,"
            f" and {at.bottom_name(1)}, {words(labels)}, has {have} labels: Caffe aborts",
            value=at.layer.bottoms[0],
            help="one label a prediction is needed: reduce the scores to one a record, or give a label"
            " map of their size",
        )


def _class_axis(at: Setup, field: str, axes: int) -> int:
    axis: int = at.param.get(field) if field in at.param.type.fields else 1
    if not -axes <= axis < axes:
        at.abort(
            "bad-axis", f"the class axis {axis} is none of the {axes} axes of {at.bottom_name(0)}: Caffe aborts", field
        )
    return axis + axes if axis < 0 else axis


def _softmax_loss(at: Setup) -> None:
    if len(at.layer.tops) > 1:
        at.abort(
            "loss-weight-count",
            "SoftmaxWithLoss with 2 tops cannot be set up in BVLC's Caffe (its inner softmax takes the loss weights of"
            " both): Caffe aborts",
            value=at.layer.tops[1],
        )
    _same_batch(at)
    label_count(at)
    _scalar(at)


def _four_axes(at: Setup, *indices: int) -> None:
    """Blob::num(), an accessor of the days of four axes, refuses more (blob.hpp, LegacyShape)."""
    for index in indices:
        shape = at.bottoms[index]
        if shape is not None and len(shape) > 4:
            at.abort(
                "axes",
                f"{at.bottom_name(index)} has {len(shape)} axes; {at.type.name} takes 4 at most: Caffe aborts",
                value=at.layer.bottoms[index],
            )


def _euclidean(at: Setup) -> None:
    """euclidean_loss_layer.cpp: as many items a record; the shapes may differ."""
    _same_batch(at)
    _four_axes(at, 0)
    one, other = at.bottoms[0], at.bottoms[1]
    if one is not None and other is not None:
        first, second = count(one[1:]), count(other[1:])
        if differ(first, second):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(0)}, {words(one)}, has {first} items a record and {at.bottom_name(1)},"
                f" {words(other)},"
                f" has {second}: Caffe aborts",
                value=at.layer.bottoms[1],
            )
    _scalar(at)


def _sigmoid_cross_entropy(at: Setup) -> None:
    """sigmoid_cross_entropy_loss_layer.cpp: as many targets as inputs."""
    _same_batch(at)
    one, other = at.bottoms[0], at.bottoms[1]
    if one is not None and other is not None and differ(count(one), count(other)):
        at.abort(
            "shape-mismatch",
            f"{at.bottom_name(0)}, {words(one)}, has {count(one)} items and {at.bottom_name(1)}, {words(other)}, has"
            f" {count(other)}; a target an item is needed: Caffe aborts",
            value=at.layer.bottoms[1],
        )
    _scalar(at)


def _contrastive(at: Setup) -> None:
    """contrastive_loss_layer.cpp, LayerSetUp, by the old four-axis accessors."""
    _same_batch(at)
    one, other, similar = at.bottoms[0], at.bottoms[1], at.bottoms[2]
    if one is not None and other is not None and differ(_legacy(one, 1), _legacy(other, 1)):
        at.abort(
            "shape-mismatch",
            f"{at.bottom_name(0)}, {words(one)}, and {at.bottom_name(1)}, {words(other)}, have different channels:"
            " Caffe aborts",
            value=at.layer.bottoms[1],
        )
    for index, shape, axes in ((0, one, (2, 3)), (1, other, (2, 3)), (2, similar, (1, 2, 3))):
        if shape is not None and any(_legacy(shape, axis) not in (None, 1) for axis in axes):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(index)} is {words(shape)}; a contrastive loss takes one vector a record and one"
                " similarity: Caffe aborts",
                value=at.layer.bottoms[index],
            )
    _scalar(at)


def _legacy(shape: tuple[Extent, ...], axis: int) -> Extent:
    """An extent by the old accessors num, channels, height, width: 1 where there is no axis."""
    return shape[axis] if axis < len(shape) else 1


def _hinge(at: Setup) -> None:
    """hinge_loss_layer.cpp, Forward_cpu."""
    _same_batch(at)
    _four_axes(at, 0)
    _scalar(at)


def _multinomial(at: Setup) -> None:
    """multinomial_logistic_loss_layer.cpp: one label a record."""
    _same_batch(at)
    _four_axes(at, 0, 1)
    labels = at.bottoms[1]
    if labels is not None and any(_legacy(labels, axis) not in (None, 1) for axis in (1, 2, 3)):
        at.abort(
            "label-count",
            f"{at.bottom_name(1)} is {words(labels)}; one label a record is needed: Caffe aborts",
            value=at.layer.bottoms[1],
        )
    _scalar(at)


def _infogain(at: Setup) -> None:
    """infogain_loss_layer.cpp."""
    if at.layer.message.has("loss_param") and at.layer.param("loss_param").has("normalize"):
        at.abort(
            "bad-parameter",
            "loss_param.normalize is refused by InfogainLoss: Caffe aborts",
            value=at.layer.param("loss_param").at("normalize"),
            help="use loss_param { normalization: … }",
        )
    if len(at.bottoms) < 3 and not at.param.has("source"):
        at.abort(
            "bad-parameter",
            "the loss has no matrix: neither a third bottom nor infogain_loss_param.source is given, and Caffe aborts",
        )
    _same_batch(at)
    label_count(at)
    scores = at.bottoms[0]
    if len(at.bottoms) > 2 and at.bottoms[2] is not None and scores is not None:
        classes = scores[_class_axis(at, "axis", len(scores))]
        matrix = count(at.bottoms[2])
        if classes is not None and differ(matrix, classes * classes):
            at.abort(
                "class-count",
                f"the matrix {at.bottom_name(2)}, {words(at.bottoms[2])}, has {matrix} items; {classes} classes need"
                f" {classes * classes}: Caffe aborts",
                value=at.layer.bottoms[2],
            )
    at.tops = [(), scores][: max(1, len(at.layer.tops))]


def _smooth_l1(at: Setup) -> None:
    """smooth_L1_loss_layer.cpp (Fast R-CNN): equal shapes, with two optional weights."""
    _scalar(at)


def _loss(
    name: str, setup: object, bottoms: tuple[int, int] = (2, 2), tops: tuple[int, int] = (1, 1), **more: object
) -> LayerType:
    # A loss in place makes its own input a scalar: it dies at set-up or at the first forward.
    return LayerType(name, setup, bottoms, tops, auto_top=True, loss_weight=1.0, in_place=ABORTS, **more)  # type: ignore[arg-type]


TYPES = (
    _loss("ContrastiveLoss", _contrastive, (3, 3), param="contrastive_loss_param", no_force=(2,)),
    _loss("EuclideanLoss", _euclidean),
    _loss("HingeLoss", _hinge, param="hinge_loss_param", no_force=(1,), no_gradient=(1,)),
    _loss("InfogainLoss", _infogain, (2, 3), (1, 2), param="infogain_loss_param", no_force=(1,), no_gradient=(1, 2)),
    _loss("MultinomialLogisticLoss", _multinomial, no_force=(1,), no_gradient=(1,)),
    _loss("SigmoidCrossEntropyLoss", _sigmoid_cross_entropy, param="loss_param", no_force=(1,), no_gradient=(1,)),
    _loss("SoftmaxWithLoss", _softmax_loss, tops=(1, 2), param="softmax_param", no_force=(1,), no_gradient=(1,)),
    _loss("SmoothL1Loss", _smooth_l1, (2, 4)),
)
