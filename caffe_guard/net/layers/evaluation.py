"""Softmax, Accuracy, ArgMax and HDF5Output."""

from __future__ import annotations

from caffe_guard.net.layers.entry import ABORTS, FINE, LayerType, Setup, count, differ, same_as_bottom, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Shape


def _softmax(at: Setup) -> None:
    shape = at.bottoms[0]
    if shape is not None:
        at.axis("axis", len(shape))
    same_as_bottom(at)


def _accuracy(at: Setup) -> None:
    """accuracy_layer.cpp, Reshape."""
    scores, labels = at.bottoms[0], at.bottoms[1]
    classes = None
    if scores is not None:
        top_k: int = at.param.get("top_k")
        total, label_total = count(scores), count(labels) if labels is not None else None
        if total is not None and label_total and top_k > total // label_total:
            at.abort(
                "class-count",
                f"top_k {top_k} is more than the {total // label_total} scores a label that {at.bottom_name(0)},"
                f" {words(scores)}, has: Caffe aborts",
                "top_k",
            )
        axis = at.axis("axis", len(scores))
        classes = scores[axis]
        wanted = count((*scores[:axis], *scores[axis + 1 :]))
        if label_total is not None and differ(wanted, label_total):
            at.abort(
                "label-count",
                f"{at.bottom_name(0)} is {words(scores)}: with its classes along axis {axis} it makes"
                f" {wanted} predictions,"
                f" and {at.bottom_name(1)}, {words(labels)}, has {label_total} labels: Caffe aborts",
                value=at.layer.bottoms[0],
            )
    per_class: Shape = None if scores is None else (classes,)
    at.tops = [(), per_class][: max(1, len(at.layer.tops))]


def _argmax(at: Setup) -> None:
    """argmax_layer.cpp, LayerSetUp and Reshape."""
    top_k: int = at.param.get("top_k")
    if top_k < 1:
        at.abort("bad-parameter", "top_k is 0: Caffe aborts", "top_k")
    shape = at.bottoms[0]
    if shape is None:
        at.set_tops(None)
        return
    if at.param.has("axis"):
        axis = at.axis("axis", len(shape))
        extent = shape[axis]
        if extent is not None and top_k > extent:
            at.abort(
                "class-count", f"top_k {top_k} is more than the {extent} items of axis {axis}: Caffe aborts", "top_k"
            )
        at.set_tops((*shape[:axis], top_k, *shape[axis + 1 :]))
        return
    if not shape:
        at.abort("axes", f"{at.bottom_name(0)} is a scalar; ArgMax without axis goes along axis 1: Caffe aborts")
    items = count(shape[1:])
    if items is not None and top_k > items:
        at.abort("class-count", f"top_k {top_k} is more than the {items} items a record: Caffe aborts", "top_k")
    axes = max(3, len(shape))
    at.set_tops((shape[0], 2 if at.param.get("out_max_val") else 1, top_k, *([1] * (axes - 3))))


def _hdf5_output(at: Setup) -> None:
    at.tops = []


TYPES = (
    LayerType("Softmax", _softmax, param="softmax_param", in_place=FINE),
    LayerType(
        "Accuracy",
        _accuracy,
        bottoms=(2, 2),
        tops=(1, 2),
        param="accuracy_param",
        in_place=ABORTS,
        no_gradient=(0, 1),
        hides_nan=True,
    ),
    LayerType("ArgMax", _argmax, param="argmax_param", no_gradient=(0,), hides_nan=True),
    LayerType("HDF5Output", _hdf5_output, bottoms=(2, 2), tops=(0, 0), param="hdf5_output_param"),
)
