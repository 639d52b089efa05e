"""RNN, LSTM and LSTMUnit (recurrent_layer.cpp): sequences as T × N × …, with a marker for where each begins."""

from __future__ import annotations

from caffe_guard.net.layers.entry import LayerType, Setup, count, differ, product, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.layers.entry import Extent, Shape


def _recurrent(at: Setup, gates: int) -> None:
    """``gates`` is 4 for an LSTM and 1 for an RNN."""
    outputs: int = at.param.get("num_output")
    hidden = 2 if gates == 4 else 1
    exposed = at.param.get("expose_hidden")
    _counts(at, hidden if exposed else 0)
    if outputs < 1:
        at.abort("bad-parameter", "num_output is missing or 0: Caffe aborts", "num_output")
    x, markers = at.bottoms[0], at.bottoms[1]
    if x is None:
        at.set_tops(None)
        return
    if len(x) < 3:
        # The inner net multiplies x from axis 2 on (InnerProduct with axis 2).
        at.abort("axes", f"{at.bottom_name(0)} is {words(x)}; a recurrent layer needs T × N × …: Caffe aborts")
    steps, streams = x[0], x[1]
    if markers is not None:
        if len(markers) != 2:
            at.abort(
                "axes",
                f"the sequence markers {at.bottom_name(1)} are {words(markers)}; they must be T × N: Caffe aborts",
                value=at.layer.bottoms[1],
            )
        if differ(markers[0], steps) or differ(markers[1], streams):
            at.abort(
                "shape-mismatch",
                f"the sequence markers {at.bottom_name(1)}, {words(markers)}, do not fit"
                f" {at.bottom_name(0)}, {words(x)}:"
                " Caffe aborts",
                value=at.layer.bottoms[1],
            )
    wide = gates * outputs
    at.blobs = [(wide, count(x[2:])), (wide,)]
    given = hidden if exposed else 0
    if len(at.bottoms) - given > 2:
        static = at.bottoms[2]
        if static is not None and len(static) < 2:
            at.abort(
                "axes",
                f"the static input {at.bottom_name(2)} is {words(static)}; it must be N × …: Caffe aborts",
                value=at.layer.bottoms[2],
            )
        if static and differ(static[0], streams):
            at.abort(
                "shape-mismatch",
                f"the static input {at.bottom_name(2)}, {words(static)}, does not have the {streams} streams of"
                f" {at.bottom_name(0)}: Caffe aborts",
                value=at.layer.bottoms[2],
            )
        size: Extent = None if static is None else count(static[1:])
        at.blobs.append((wide, size))
    for index in range(len(at.bottoms) - given, len(at.bottoms)):
        state = at.bottoms[index]
        wanted = (1, streams, outputs)
        if state is not None and (len(state) != 3 or any(differ(a, b) for a, b in zip(state, wanted))):
            at.abort(
                "shape-mismatch",
                f"the hidden state {at.bottom_name(index)} is {words(state)}; it must be {words(wanted)}: Caffe aborts",
                value=at.layer.bottoms[index],
            )
    at.blobs.append((wide, outputs))
    if gates == 1:
        # The RNN has an output layer of its own behind the hidden state.
        at.blobs += [(outputs, outputs), (outputs,)]
    tops = [(steps, streams, outputs)]
    if exposed:
        tops += [(1, streams, outputs)] * hidden
    at.tops = list(tops[: max(1, len(at.layer.tops))])


def _recurrent_macs(bottoms: list[Shape], tops: list[Shape], blobs: list[Shape]) -> Extent:
    """The weights of input and state, once a step and stream; those of a static input once a stream."""
    top = tops[0] if tops else None
    weights = [blob for blob in blobs if blob is not None and len(blob) == 2]
    if top is None or None in blobs:
        return None
    # Input, state, and an RNN's output: with one matrix more there is a static input, and it stands second.
    static = weights.pop(1) if len(blobs) in (4, 6) else ()
    each = [product(count(one), top[0], top[1]) for one in weights]
    each.append(product(count(static), top[1]) if static else 0)
    known = [one for one in each if one is not None]
    return sum(known) if len(known) == len(each) else None


def _counts(at: Setup, hidden: int) -> None:
    """RecurrentLayer's MinBottomBlobs, MaxBottomBlobs and ExactNumTopBlobs: ``hidden`` states more when exposed."""
    have = len(at.bottoms)
    exposing = " with expose_hidden" if hidden else ""
    if not 2 + hidden <= have <= 3 + hidden:
        at.abort(
            "bottom-count",
            f"{at.type.name}{exposing} takes {2 + hidden} or {3 + hidden} bottoms, not {have}: Caffe aborts",
        )
    if len(at.layer.tops) != 1 + hidden:
        tops = "1 top" if not hidden else f"{1 + hidden} tops"
        at.abort("top-count", f"{at.type.name}{exposing} makes {tops}, not {len(at.layer.tops)}: Caffe aborts")


def _lstm(at: Setup) -> None:
    _recurrent(at, 4)


def _rnn(at: Setup) -> None:
    _recurrent(at, 1)


def _lstm_unit(at: Setup) -> None:
    """lstm_unit_layer.cpp, Reshape."""
    cell, gates, markers = at.bottoms
    for index, (shape, axes) in enumerate(((cell, 3), (gates, 3), (markers, 2))):
        if shape is not None and len(shape) != axes:
            at.abort(
                "axes",
                f"{at.bottom_name(index)} is {words(shape)}; it must have {axes} axes: Caffe aborts",
                value=at.layer.bottoms[index],
            )
        if shape is not None and (differ(shape[0], 1) or (cell is not None and differ(shape[1], cell[1]))):
            streams = cell[1] if cell is not None else None
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(index)} is {words(shape)}; one step of"
                f" {'?' if streams is None else streams} streams is"
                " wanted: Caffe aborts",
                value=at.layer.bottoms[index],
            )
    if cell is not None and gates is not None:
        if len(gates) != 3 or (cell[2] is not None and differ(gates[2], 4 * cell[2])):
            at.abort(
                "shape-mismatch",
                f"{at.bottom_name(1)}, {words(gates)}, must be four times as wide as"
                f" {at.bottom_name(0)}, {words(cell)}:"
                " Caffe aborts",
                value=at.layer.bottoms[1],
            )
    at.set_tops(cell)


TYPES = (
    LayerType(
        "LSTM",
        _lstm,
        bottoms=(2, 5),
        tops=(1, 3),
        param="recurrent_param",
        no_force=(1,),
        no_gradient=(1,),
        macs=_recurrent_macs,
    ),
    LayerType(
        "RNN",
        _rnn,
        bottoms=(2, 4),
        tops=(1, 2),
        param="recurrent_param",
        no_force=(1,),
        no_gradient=(1,),
        macs=_recurrent_macs,
    ),
    LayerType("LSTMUnit", _lstm_unit, bottoms=(3, 3), tops=(2, 2), no_force=(2,), no_gradient=(2,)),
)
