"""Build a net in real Caffe and look at it; run it forward and backward and count what is not a number."""

from __future__ import annotations

import caffe
import glog
import numpy as np

LOWEST = -np.finfo(np.float32).max  # what max pooling over an empty window leaves behind


def _build(request):
    path = request.get("path") or "net.prototxt"
    if "text" in request:
        with open(path, "wb") as stream:
            stream.write(request["text"].encode("utf-8", "surrogateescape"))
    options = {"level": int(request.get("level") or 0), "stages": list(request.get("stages") or [])}
    if request.get("weights"):
        options["weights"] = request["weights"]
    return caffe.Net(path, getattr(caffe, request.get("phase") or "TRAIN"), **options)


def _names(net, ids, origin):
    names = list(net._blob_names)
    return [origin.get(names[i], names[i]) for i in ids]


def describe(net):
    """Layers in Caffe's order, without the Split layers it inserted itself: their bottoms stand for their tops."""
    blob_names, names = list(net._blob_names), list(net._layer_names)
    origin, layers = {}, []
    for index, layer in enumerate(net.layers):
        bottoms, tops = list(net._bottom_ids(index)), list(net._top_ids(index))
        name = names[index]
        if (
            layer.type == "Split"
            and name.endswith("_split")
            and all(blob_names[top].startswith(name + "_") for top in tops)
        ):
            source = blob_names[bottoms[0]]
            origin.update({blob_names[top]: origin.get(source, source) for top in tops})
            continue
        layers.append(
            {
                "name": name,
                "type": layer.type,
                "bottoms": _names(net, bottoms, origin),
                "tops": _names(net, tops, origin),
                "bottom_shapes": [list(net._blobs[i].shape) for i in bottoms],
                "top_shapes": [list(net._blobs[i].shape) for i in tops],
                "param_shapes": [list(blob.shape) for blob in layer.blobs],
                "loss_weights": [float(net._blob_loss_weights[i]) for i in tops],
            }
        )
    return {"layers": layers, "inputs": list(net.inputs), "outputs": list(net.outputs)}


def net(request):
    """Answer to "net": {"result": "builds", "layers", "inputs", "outputs"}."""
    return dict(describe(_build(request)), result="builds")


def from_log(log, layers):
    """What only the log tells: who needs backward, and on an abort how far the building came."""
    seen = glog.net(log)
    for layer in layers:
        layer["need_backward"] = seen["backward"].get(layer["name"])
    return {"creating_layer": seen["creating_layer"], "set_up": [] if layers else seen["set_up"]}


def count(array):
    """{"size","nan","inf","lowest"} and, of the finite values, min, max, mean and standard deviation (or None)."""
    finite = np.isfinite(array)
    good = array[finite].astype(np.float64)
    nan = int(np.isnan(array).sum())
    return {
        "size": int(array.size),
        "nan": nan,
        "inf": int(array.size - finite.sum()) - nan,
        "lowest": int((array == LOWEST).sum()),
        "min": float(good.min()) if good.size else None,
        "max": float(good.max()) if good.size else None,
        "mean": float(good.mean()) if good.size else None,
        "std": float(good.std()) if good.size else None,
    }


def verdict(counts):
    """ "nan" (a NaN or an infinity), else "garbage" (-FLT_MAX), else "finite"."""
    if any(each["nan"] or each["inf"] for each in counts):
        return "nan"
    return "garbage" if any(each["lowest"] for each in counts) else "finite"


def _fill(net, inputs, random):
    for name in set(net.inputs) | set(inputs):
        data = net.blobs[name].data
        value = inputs.get(name, "gaussian")
        if value == "gaussian":
            data[...] = random.standard_normal(data.shape)
        elif value == "uniform":
            data[...] = random.random_sample(data.shape)
        elif isinstance(value, list):
            data[...] = np.array(value, dtype=np.float32).reshape(data.shape)
        else:
            data[...] = value


class _Watch:
    """The last count of every array, and the first that was bad: {"iteration","pass","layer","what","index","counts"}."""

    def __init__(self):
        self.first, self.worst = None, "finite"

    def look(self, iteration, direction, layer, what, index, array):
        counts = count(array)
        bad = verdict([counts])
        if bad != "finite":
            if self.first is None or (bad == "nan" and self.worst == "garbage"):
                place = {"iteration": iteration, "pass": direction, "layer": layer, "what": what, "index": index}
                self.first = dict(place, result=bad, counts=counts)
            self.worst = "nan" if "nan" in (bad, self.worst) else "garbage"
        return counts


def forward(request):
    """Answer to "forward": {"result": "finite"|"garbage"|"nan", "first_bad", "blobs", "diffs", "param_diffs"} and the layers.

    Layer by layer, so that a blob overwritten in place is looked at each time. `blobs` etc. are the counts at the
    end of the last iteration; `result` covers all.
    """
    net = _build(request)
    random = np.random.RandomState(int(request.get("input_seed", 1)))
    names, watch, params = list(net._layer_names), _Watch(), {}
    for iteration in range(int(request.get("iterations") or 1)):
        _fill(net, request.get("inputs") or {}, random)
        for index, name in enumerate(names):
            net._forward(index, index)
            for position, top in enumerate(net._top_ids(index)):
                watch.look(iteration, "forward", name, "top", position, net._blobs[top].data)
        if request.get("backward"):
            net.clear_param_diffs()
            for index in reversed(range(len(names))):
                net._backward(index, index)
                for position, bottom in enumerate(net._bottom_ids(index)):
                    watch.look(iteration, "backward", names[index], "bottom", position, net._blobs[bottom].diff)
                params[names[index]] = [
                    watch.look(iteration, "backward", names[index], "param", position, blob.diff)
                    for position, blob in enumerate(net.layers[index].blobs)
                ]
    result = dict(describe(net), result=watch.worst, first_bad=watch.first)
    ours = dict.fromkeys(
        name for layer in result["layers"] for name in layer["tops"]
    )  # not the tops of Caffe's own splits
    blobs = {name: count(net.blobs[name].data) for name in ours}
    diffs = {name: count(net.blobs[name].diff) for name in ours} if request.get("backward") else {}
    result.update(blobs=blobs, diffs=diffs, param_diffs={name: found for name, found in params.items() if found})
    if request.get("values"):
        result["values"] = {name: net.blobs[name].data.ravel().tolist() for name in request["values"]}
    return result
