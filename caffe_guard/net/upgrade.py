"""Old nets in the current format: what Caffe's UpgradeNetAsNeeded makes of a V0, V1 or input-field net.

The upgraded view is made of new messages whose values keep the places of the old text, so that every finding points
at what the user wrote. Facts: src/caffe/util/upgrade_proto.cpp.
"""

from __future__ import annotations

from caffe_guard.net.model import Layer, Net
from caffe_guard.net.problem import Problem
from caffe_guard.schema.message import Message, Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caffe_guard.schema.types import MessageType

# V1LayerParameter.LayerType -> LayerParameter.type (UpgradeV1LayerType)
V1_LAYER_TYPES = {
    "ABSVAL": "AbsVal",
    "ACCURACY": "Accuracy",
    "ARGMAX": "ArgMax",
    "BNLL": "BNLL",
    "CONCAT": "Concat",
    "CONTRASTIVE_LOSS": "ContrastiveLoss",
    "CONVOLUTION": "Convolution",
    "DECONVOLUTION": "Deconvolution",
    "DATA": "Data",
    "DROPOUT": "Dropout",
    "DUMMY_DATA": "DummyData",
    "EUCLIDEAN_LOSS": "EuclideanLoss",
    "ELTWISE": "Eltwise",
    "EXP": "Exp",
    "FLATTEN": "Flatten",
    "HDF5_DATA": "HDF5Data",
    "HDF5_OUTPUT": "HDF5Output",
    "HINGE_LOSS": "HingeLoss",
    "IM2COL": "Im2col",
    "IMAGE_DATA": "ImageData",
    "INFOGAIN_LOSS": "InfogainLoss",
    "INNER_PRODUCT": "InnerProduct",
    "LRN": "LRN",
    "MEMORY_DATA": "MemoryData",
    "MULTINOMIAL_LOGISTIC_LOSS": "MultinomialLogisticLoss",
    "MVN": "MVN",
    "POOLING": "Pooling",
    "POWER": "Power",
    "RELU": "ReLU",
    "SIGMOID": "Sigmoid",
    "SIGMOID_CROSS_ENTROPY_LOSS": "SigmoidCrossEntropyLoss",
    "SILENCE": "Silence",
    "SOFTMAX": "Softmax",
    "SOFTMAX_LOSS": "SoftmaxWithLoss",
    "SPLIT": "Split",
    "SLICE": "Slice",
    "TANH": "TanH",
    "WINDOW_DATA": "WindowData",
    "THRESHOLD": "Threshold",
}
# V0LayerParameter.type -> V1 enum (UpgradeV0LayerType)
_V0_LAYER_TYPES = {
    "accuracy": "ACCURACY",
    "bnll": "BNLL",
    "concat": "CONCAT",
    "conv": "CONVOLUTION",
    "data": "DATA",
    "dropout": "DROPOUT",
    "euclidean_loss": "EUCLIDEAN_LOSS",
    "flatten": "FLATTEN",
    "hdf5_data": "HDF5_DATA",
    "hdf5_output": "HDF5_OUTPUT",
    "im2col": "IM2COL",
    "images": "IMAGE_DATA",
    "infogain_loss": "INFOGAIN_LOSS",
    "innerproduct": "INNER_PRODUCT",
    "lrn": "LRN",
    "multinomial_logistic_loss": "MULTINOMIAL_LOGISTIC_LOSS",
    "pool": "POOLING",
    "relu": "RELU",
    "sigmoid": "SIGMOID",
    "softmax": "SOFTMAX",
    "softmax_loss": "SOFTMAX_LOSS",
    "split": "SPLIT",
    "tanh": "TANH",
    "window_data": "WINDOW_DATA",
}
# V0 field -> {V0 type, or "" for any: where it goes in a current layer} (UpgradeV0LayerParameter)
_V0_MOVES = {
    "num_output": {"conv": "convolution_param.num_output", "innerproduct": "inner_product_param.num_output"},
    "biasterm": {"conv": "convolution_param.bias_term", "innerproduct": "inner_product_param.bias_term"},
    "weight_filler": {"conv": "convolution_param.weight_filler", "innerproduct": "inner_product_param.weight_filler"},
    "bias_filler": {"conv": "convolution_param.bias_filler", "innerproduct": "inner_product_param.bias_filler"},
    "pad": {"conv": "convolution_param.pad", "pool": "pooling_param.pad"},
    "kernelsize": {"conv": "convolution_param.kernel_size", "pool": "pooling_param.kernel_size"},
    "group": {"conv": "convolution_param.group"},
    "stride": {"conv": "convolution_param.stride", "pool": "pooling_param.stride"},
    "pool": {"pool": "pooling_param.pool"},
    "dropout_ratio": {"dropout": "dropout_param.dropout_ratio"},
    "local_size": {"lrn": "lrn_param.local_size"},
    "alpha": {"lrn": "lrn_param.alpha"},
    "beta": {"lrn": "lrn_param.beta"},
    "k": {"lrn": "lrn_param.k"},
    "source": {
        "data": "data_param.source",
        "hdf5_data": "hdf5_data_param.source",
        "images": "image_data_param.source",
        "window_data": "window_data_param.source",
        "infogain_loss": "infogain_loss_param.source",
    },
    "scale": {"": "transform_param.scale"},
    "meanfile": {"": "transform_param.mean_file"},
    "batchsize": {
        "data": "data_param.batch_size",
        "hdf5_data": "hdf5_data_param.batch_size",
        "images": "image_data_param.batch_size",
        "window_data": "window_data_param.batch_size",
    },
    "cropsize": {"": "transform_param.crop_size"},
    "mirror": {"": "transform_param.mirror"},
    "rand_skip": {"data": "data_param.rand_skip", "images": "image_data_param.rand_skip"},
    "shuffle_images": {"images": "image_data_param.shuffle"},
    "new_height": {"images": "image_data_param.new_height"},
    "new_width": {"images": "image_data_param.new_width"},
    "concat_dim": {"concat": "concat_param.concat_dim"},
    "det_fg_threshold": {"window_data": "window_data_param.fg_threshold"},
    "det_bg_threshold": {"window_data": "window_data_param.bg_threshold"},
    "det_fg_fraction": {"window_data": "window_data_param.fg_fraction"},
    "det_context_pad": {"window_data": "window_data_param.context_pad"},
    "det_crop_mode": {"window_data": "window_data_param.crop_mode"},
    "hdf5_output_param": {"hdf5_output": "hdf5_output_param"},
}
# The four fields that moved from these parameters to transform_param (UpgradeNetDataTransformation).
_TRANSFORM_FIELDS = ("scale", "mean_file", "crop_size", "mirror")
_TRANSFORM_SOURCES = {"Data": "data_param", "ImageData": "image_data_param", "WindowData": "window_data_param"}
# V1 fields that turn into entries of `param` (UpgradeV1LayerParameter)
_PARAM_LISTS = {"param": "name", "blob_share_mode": "share_mode", "blobs_lr": "lr_mult", "weight_decay": "decay_mult"}


def build_net(message: Message) -> Net:
    """The net of a NetParameter, upgraded as Caffe would. Nothing in ``message`` is changed."""
    problems: list[Problem] = []
    new = message.values("layer")
    old = message.values("layers")
    layers: list[Layer] = []
    syntax = "V2"
    _add_input_layer(message, layers, problems)
    if old:
        syntax = "V0" if any(value.value.has("layer") for value in old) else "V1"
        _add_old_layers(message, old, syntax, layers, problems)
    if old and new:
        problems.append(
            Problem(
                "mixed-formats",
                '"layer" and "layers" stand in one net; Caffe upgrades the old ones only where there are'
                " no new ones, and aborts",
                new[0].name_start,
                new[0].name_end,
                help="bring the whole file to the new format",
            )
        )
    for value in new:
        layers.append(Layer(len(layers), value.value, value.name_start, value.end))
    if old and new:
        layers.sort(key=lambda layer: layer.start)
        for index, layer in enumerate(layers):
            layer.index = index
    for layer in layers:
        if layer.type == "BatchNorm" and len(layer.message.values("param")) == 3:
            layer.message = _without_learning(layer.message)
    return Net(message, layers, syntax, problems)


# -- the parts ------------------------------------------------------------------------------------------------------


def _made(type: MessageType, like: Message, fields: dict[str, list[Value]]) -> Message:
    """A message of the upgraded view at the place of an old one."""
    return Message(type, fields, like.name_start, like.name_end, like.start, like.end)


def _at(value: Any, place: Value) -> Value:
    """A value of the upgraded view at the place of an old one."""
    return Value(value, place.name_start, place.name_end, place.start, place.end)


def _submessage(type: MessageType, field: str) -> MessageType | None:
    found = type.fields.get(field)
    return found.message_type() if found is not None and found.kind == "message" else None


def _add_input_layer(message: Message, layers: list[Layer], problems: list[Problem]) -> None:
    """The Input layer that `input` and `input_shape` or `input_dim` stand for (UpgradeNetInput)."""
    inputs = message.values("input")
    shapes = message.values("input_shape")
    dims = message.values("input_dim")
    if not inputs or not (shapes or dims):
        return
    have, need, word = (
        (len(shapes), len(inputs), "input_shape") if shapes else (len(dims), 4 * len(inputs), "input_dim")
    )
    if have < need:
        problems.append(
            Problem(
                "upgrade",
                f"{len(inputs)} input need {need} {word}, there are {have}: Caffe reads past the end of the list",
                inputs[0].name_start,
                inputs[0].end,
                field=word,
                help="give one input_shape, or four input_dim, for every input",
            )
        )
    layer_field = message.type.fields.get("layer")
    if layer_field is None:
        return
    layer_type = layer_field.message_type()
    param_type = _submessage(layer_type, "input_param")
    shape_type = _submessage(param_type, "shape") if param_type is not None else None
    if param_type is None or shape_type is None:
        return
    given: list[Value] = []
    if shapes:
        given = shapes[: len(inputs)]
    else:
        for index in range(0, len(dims) - 3, 4):
            group = dims[index : index + 4]
            shape = Message(
                shape_type,
                {"dim": group},
                group[0].name_start,
                group[0].name_end,
                group[0].name_start,
                group[-1].end,
            )
            given.append(Value(shape, group[0].name_start, group[0].name_end, group[0].name_start, group[-1].end))
        given = given[: len(inputs)]
    first = inputs[0]
    last = (shapes or dims)[-1]
    start, end = min(first.name_start, last.name_start), max(first.end, last.end)
    param = Message(param_type, {"shape": given}, first.name_start, first.name_end, first.name_start, first.end)
    fields = {
        "name": [_at("input", first)],
        "type": [_at("Input", first)],
        "top": inputs,
        "input_param": [_at(param, first)],
    }
    layer_message = Message(layer_type, fields, first.name_start, first.name_end, start, end)
    layers.append(Layer(len(layers), layer_message, start, end, from_input=True))


def _add_old_layers(
    message: Message, old: list[Value], syntax: str, layers: list[Layer], problems: list[Problem]
) -> None:
    layer_field = message.type.fields.get("layer")
    if layer_field is None:
        return
    layer_type = layer_field.message_type()
    paddings: dict[str, tuple[Value, Value]] = {}
    for value in old:
        source: Message = value.value
        if syntax == "V0":
            if _is_padding(source):
                _remember_padding(source, paddings, problems)
                continue
            upgraded = _from_v0(source, layer_type, value, paddings, problems)
        else:
            upgraded = _from_v1(source, layer_type)
        layers.append(Layer(len(layers), upgraded, value.name_start, value.end))


def _from_v1(source: Message, layer_type: MessageType) -> Message:
    """UpgradeV1LayerParameter, after UpgradeNetDataTransformation."""
    fields: dict[str, list[Value]] = {}
    for name, values in source.fields.items():
        if name == "type":
            old = values[-1]
            fields["type"] = [_at(V1_LAYER_TYPES.get(old.value, old.value if old.value != "NONE" else ""), old)]
        elif name in _PARAM_LISTS or name == "layer":
            continue
        else:
            fields[name] = values
    params = _param_entries(source, layer_type)
    if params:
        fields["param"] = params
    kind = fields["type"][0].value if "type" in fields else ""
    if kind in _TRANSFORM_SOURCES:
        _move_transform_fields(fields, _TRANSFORM_SOURCES[kind], layer_type)
    return _made(layer_type, source, fields)


def _param_entries(source: Message, layer_type: MessageType) -> list[Value]:
    """The `param` entries that the four parallel lists of V1 stand for."""
    spec = _submessage(layer_type, "param")
    if spec is None:
        return []
    entries: list[dict[str, list[Value]]] = []
    places: list[Value] = []
    for old_name, new_name in _PARAM_LISTS.items():
        for index, value in enumerate(source.values(old_name)):
            while len(entries) <= index:
                entries.append({})
                places.append(value)
            entries[index][new_name] = [value]
    return [
        _at(Message(spec, fields, place.name_start, place.name_end, place.name_start, place.end), place)
        for fields, place in zip(entries, places)
    ]


def _move_transform_fields(fields: dict[str, list[Value]], source_name: str, layer_type: MessageType) -> None:
    source_values = fields.get(source_name)
    transform_type = _submessage(layer_type, "transform_param")
    if not source_values or transform_type is None:
        return
    source: Message = source_values[-1].value
    moved = {name: source.fields[name] for name in _TRANSFORM_FIELDS if name in source.fields}
    if not moved:
        return
    place = source_values[-1]
    transform = fields.get("transform_param")
    existing: Message = transform[-1].value if transform else _made(transform_type, source, {})
    fields["transform_param"] = [
        _at(_made(transform_type, existing, {**existing.fields, **moved}), transform[-1] if transform else place)
    ]
    rest = {name: values for name, values in source.fields.items() if name not in moved}
    fields[source_name] = [_at(_made(source.type, source, rest), place)]


def _is_padding(source: Message) -> bool:
    inner = source.get("layer") if source.has("layer") else None
    return inner is not None and inner.get("type") == "padding"


def _remember_padding(source: Message, paddings: dict[str, tuple[Value, Value]], problems: list[Problem]) -> None:
    """A V0 padding layer goes into the layer that reads it (UpgradeV0PaddingLayers)."""
    inner = source.get("layer")
    bottoms, tops = source.values("bottom"), source.values("top")
    pad = inner.at("pad")
    if len(bottoms) == 1 and len(tops) == 1:
        if pad is not None:
            paddings[tops[0].value] = (bottoms[0], pad)
        return
    problems.append(
        Problem(
            "upgrade",
            f"a padding layer takes one bottom and one top, not {len(bottoms)} and {len(tops)}: Caffe aborts",
            source.name_start,
            source.name_end,
        )
    )


def _from_v0(
    source: Message,
    layer_type: MessageType,
    place: Value,
    paddings: dict[str, tuple[Value, Value]],
    problems: list[Problem],
) -> Message:
    """UpgradeV0LayerParameter and, in one step, UpgradeV1LayerParameter."""
    inner: Message = source.get("layer")
    fields: dict[str, list[Value]] = {}
    for name in ("bottom", "top"):
        if source.has(name):
            fields[name] = list(source.values(name))
    kind = inner.get("type") or ""
    type_value = inner.at("type")
    if type_value is not None:
        if kind in _V0_LAYER_TYPES:
            fields["type"] = [_at(V1_LAYER_TYPES[_V0_LAYER_TYPES[kind]], type_value)]
        else:
            fields["type"] = [type_value]
            problems.append(
                Problem(
                    "upgrade",
                    f'"{kind}" is no layer type of the oldest format (V0): Caffe aborts',
                    type_value.start,
                    type_value.end,
                    field="layer.type",
                )
            )
    params: dict[str, dict[str, list[Value]]] = {}
    for name, values in inner.fields.items():
        if name in ("name", "blobs"):
            fields[name] = values
            continue
        targets = _V0_MOVES.get(name)
        target = (targets.get(kind) or targets.get("")) if targets else None
        if target is None:
            continue
        message_name, _, field_name = target.partition(".")
        if not field_name:
            fields[message_name] = values
        else:
            params.setdefault(message_name, {})[field_name] = values
    padding = paddings.get(fields["bottom"][0].value) if fields.get("bottom") else None
    if padding is not None:
        fields["bottom"][0] = padding[0]
        target_name = {"conv": "convolution_param", "pool": "pooling_param"}.get(kind)
        if target_name is None:
            problems.append(
                Problem(
                    "upgrade",
                    f'a padding layer may be read by conv and pool only, not by "{kind}": Caffe aborts',
                    place.name_start,
                    place.name_end,
                )
            )
        else:
            params.setdefault(target_name, {})["pad"] = [padding[1]]
    for message_name, moved in params.items():
        type = _submessage(layer_type, message_name)
        if type is not None:
            message = Message(type, moved, inner.name_start, inner.name_end, inner.start, inner.end)
            fields[message_name] = [_at(message, place)]
    entries = _param_entries(inner, layer_type)
    if entries:
        fields["param"] = entries
    return _made(layer_type, source, fields)


def _without_learning(message: Message) -> Message:
    """A BatchNorm with three `param` entries: Caffe sets their multipliers to 0 (UpgradeNetBatchNorm)."""
    entries = []
    for value in message.values("param"):
        spec: Message = value.value
        zero = [_at(0.0, value)]
        entries.append(_at(_made(spec.type, spec, {**spec.fields, "lr_mult": zero, "decay_mult": zero}), value))
    return _made(message.type, message, {**message.fields, "param": entries})
