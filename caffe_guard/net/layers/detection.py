"""Layers of the detection forks: SSD, Fast R-CNN, R-FCN. Their shapes were read from the forks' sources, not run."""

from __future__ import annotations

from caffe_guard.net.layers.entry import UNBOUNDED, LayerType, Setup, count, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent


def _prior_box(at: Setup) -> None:
    """prior_box_layer.cpp: boxes and variances for every place of the feature map."""
    param = at.param
    ratios = [1.0]
    for ratio in param.get("aspect_ratio") or ():
        if all(abs(ratio - known) >= 1e-6 for known in ratios):
            ratios.append(ratio)
            if param.get("flip"):
                ratios.append(1.0 / ratio if ratio else 0.0)
    smallest = param.get("min_size")
    smallest = smallest if isinstance(smallest, list) else [smallest] if param.has("min_size") else []
    largest = param.get("max_size")
    largest = largest if isinstance(largest, list) else [largest] if param.has("max_size") else []
    priors = len(ratios) * len(smallest) + len(largest)
    shape = at.bottoms[0]
    items: Extent = None
    if shape is not None and len(shape) == 4:
        places = count(shape[2:])
        items = None if places is None else places * priors * 4
    at.set_tops((1, 2, items))


def _multibox_loss(at: Setup) -> None:
    """multibox_loss_layer.cpp, Reshape: locations and confidences must fit the priors."""
    param = at.param
    classes: int = param.get("num_classes") or 0
    locations, confidences, priors = at.bottoms[0], at.bottoms[1], at.bottoms[2]
    if not param.has("num_classes") or classes < 1:
        at.abort("bad-parameter", "num_classes is missing or below 1: Caffe aborts", "num_classes")
    boxes = None
    if priors is not None and len(priors) >= 3 and priors[2] is not None:
        boxes = priors[2] // 4
    if boxes is not None and confidences is not None:
        have = count(confidences[1:])
        if have is not None and have != boxes * classes:
            found = (
                f"{have} confidences a picture, {have / boxes:g} for each of the {boxes} priors of {at.bottom_name(2)}"
            )
            at.abort(
                "class-count",
                f"{at.bottom_name(1)}, {words(confidences)}, has {found}; num_classes is {classes}: Caffe aborts",
                "num_classes",
                help="make num_output of the confidence layers priors × num_classes (the background is a class too)",
            )
    if boxes is not None and locations is not None:
        sets = 1 if param.get("share_location") else classes
        have = count(locations[1:])
        if have is not None and have != boxes * sets * 4:
            at.abort(
                "class-count",
                f"{at.bottom_name(0)}, {words(locations)}, has {have} box numbers a picture; {boxes} priors need"
                f" {boxes * sets * 4}: Caffe aborts",
                value=at.layer.bottoms[0],
            )
    at.tops = [()]


def _detection_output(at: Setup) -> None:
    at.set_tops((1, 1, None, 7))


def _roi_pooling(at: Setup) -> None:
    """roi_pooling_layer.cpp: one pooled map a region."""
    shape, rois = at.bottoms[0], at.bottoms[1]
    regions = rois[0] if rois else None
    channels = shape[1] if shape is not None and len(shape) > 1 else None
    at.set_tops((regions, channels, at.param.get("pooled_h"), at.param.get("pooled_w")))


def _psroi_pooling(at: Setup) -> None:
    """psroi_pooling_layer.cpp (R-FCN)."""
    rois = at.bottoms[1]
    size = at.param.get("group_size")
    at.set_tops((rois[0] if rois else None, at.param.get("output_dim"), size, size))


TYPES = (
    LayerType("PriorBox", _prior_box, bottoms=(1, UNBOUNDED), param="prior_box_param"),
    LayerType(
        "MultiBoxLoss",
        _multibox_loss,
        bottoms=(4, 4),
        param="multibox_loss_param",
        auto_top=True,
        loss_weight=1.0,
        no_force=(2, 3),
    ),
    LayerType("DetectionOutput", _detection_output, bottoms=(3, UNBOUNDED), param="detection_output_param"),
    LayerType("ROIPooling", _roi_pooling, bottoms=(2, 2), param="roi_pooling_param", hides_nan=True),
    LayerType("PSROIPooling", _psroi_pooling, bottoms=(2, 2), param="psroi_pooling_param"),
)
