"""checkFiniteLayer: a pycaffe layer that stops at the first tensor with a NaN or an infinity, and says what it saw.

Copy this one file, or put its folder on PYTHONPATH. Python 2.7 and 3, numpy and pycaffe only.

    layer {
      name: "check_fc2"
      type: "Python"
      bottom: "fc2"
      top: "fc2"
      python_param { module: "check_finite_layer" layer: "checkFiniteLayer" param_str: "fc2" }
    }

In place, as above, it checks the data of its bottoms in the forward pass and the gradients of its tops in the
backward pass, and changes neither. In place on the top of a loss it needs the loss's weight for its own (loss_weight: 1
here, loss_weight: 0 in the loss), or nothing learns any more. Without tops it checks the data only; with tops of other
names it copies.

param_str is a prefix for the messages, or options as JSON ('{"prefix": "fc2", "every": 10}') or as text
("prefix=fc2 every=10"):

    prefix    what messages and records call this place
    every     check every so many forward passes of this layer (1)
    action    raise: stop the run; warn: print each incident and go on; record: write it and go on (raise)
    max_abs   values of this size or more are bad too: about to overflow (none)
    allow     a value that is meant: -inf, inf or nan; several with | between (none)
    history   how many passes of every guard are kept for the incident (20)
    dump      a folder for incident records (JSON lines) and the bad arrays (.npz); records alone go to
              caffe_guard_incidents.jsonl in the working directory

A clean pass costs one dot product of the blob with itself, which is finite exactly when nothing is bad, unless finite
values overflow it: then, and only then, the blob is looked at item by item.
"""

from __future__ import division, print_function

import collections
import json
import os
import re
import sys
import time

import caffe
import numpy as np

ACTIONS = ("raise", "warn", "record")
OPTIONS = ("prefix", "every", "action", "max_abs", "allow", "history", "dump")
RECORDS = "caffe_guard_incidents.jsonl"
# In the order in which the layers of the process were set up, which is forward order net by net.
_GUARDS = []


class NonFiniteError(FloatingPointError):
    """A guard found a bad tensor. ``incident`` is the record that was written."""

    def __init__(self, message, incident):
        FloatingPointError.__init__(self, message)
        self.incident = incident


def read_options(text):
    """The options of a param_str as a dict. Raises ValueError with what is wrong."""
    text = text.strip()
    if text[:1] in ("{", "["):
        try:
            given = json.loads(text)
        except ValueError as error:
            raise ValueError("param_str starts like JSON and is none: %s" % error)
        if not isinstance(given, dict):
            raise ValueError("param_str is JSON, but no object of options")
    elif re.match(r"[a-z_]+\s*=", text):
        given = dict(re.findall(r"([a-z_]+)\s*=\s*([^\s,;]*)", text))
    else:
        given = {"prefix": text}
    unknown = sorted(set(given) - set(OPTIONS))
    if unknown:
        raise ValueError("unknown option %s; known: %s" % (", ".join(unknown), ", ".join(OPTIONS)))
    options = {
        # "%s" keeps what Python 2 has as unicode.
        "prefix": "%s" % given.get("prefix", ""),
        "every": _count(given, "every", 1),
        "action": str(given.get("action", "raise")),
        "max_abs": None,
        "allow": [word for word in str(given.get("allow", "")).lower().split("|") if word],
        "history": _count(given, "history", 20),
        "dump": given.get("dump") or None,
    }
    if options["action"] not in ACTIONS:
        raise ValueError("action is %r; it is one of %s" % (options["action"], ", ".join(ACTIONS)))
    for word in options["allow"]:
        if word not in ("inf", "-inf", "nan"):
            raise ValueError("allow is %r; it takes inf, -inf and nan" % word)
    if given.get("max_abs") is not None:
        options["max_abs"] = float(given["max_abs"])
        if not options["max_abs"] > 0:
            raise ValueError("max_abs is %r; a number above 0 is needed" % given["max_abs"])
    return options


def _count(given, name, default):
    try:
        value = int(given.get(name, default))
    except (TypeError, ValueError):
        value = 0
    if value < 1:
        raise ValueError("%s is %r; a whole number from 1 is needed" % (name, given[name]))
    return value


def squares(values):
    """The sum of the squares of an array's items, in one pass; not finite when an item is not, or when it overflows."""
    flat = values.ravel()
    with np.errstate(over="ignore", invalid="ignore"):
        return float(np.dot(flat, flat))


def census(values, allow=(), max_abs=None):
    """Counts of an array: size, nan, posinf, neginf, large, bad, and min and max of the finite items."""
    flat = np.asarray(values).ravel()
    nan = np.isnan(flat)
    posinf = np.isposinf(flat)
    neginf = np.isneginf(flat)
    finite = ~(nan | posinf | neginf)
    bad = np.zeros(flat.shape, dtype=bool)
    for word, mask in (("nan", nan), ("inf", posinf), ("-inf", neginf)):
        if word not in allow:
            bad |= mask
    large = np.zeros(flat.shape, dtype=bool)
    if max_abs is not None:
        large[finite] = np.abs(flat[finite]) >= max_abs
        bad |= large
    clean = flat[finite]
    where = np.flatnonzero(bad)
    return {
        "size": int(flat.size),
        "nan": int(nan.sum()),
        "posinf": int(posinf.sum()),
        "neginf": int(neginf.sum()),
        "large": int(large.sum()),
        "bad": int(where.size),
        "min": float(clean.min()) if clean.size else None,
        "max": float(clean.max()) if clean.size else None,
        "first": [int(index) for index in np.unravel_index(int(where[0]), np.shape(values))] if where.size else None,
    }


class checkFiniteLayer(caffe.Layer):
    """See the module. The name is the one that prototxt files use."""

    def setup(self, bottom, top):
        """Read the options. Raises ValueError when they cannot be, or when the tops do not match the bottoms."""
        self.options = read_options(self.param_str)
        if len(top) not in (0, len(bottom)):
            raise ValueError(
                "checkFiniteLayer %s: %d tops for %d bottoms; give none, or one a bottom"
                % (self.options["prefix"], len(top), len(bottom))
            )
        self.passes = 0
        self.backwards = 0
        self.frames = collections.deque(maxlen=self.options["history"])
        # A net that is built again, or another one, starts a line of its own.
        self.number = len(_GUARDS)
        _GUARDS.append(self)

    def reshape(self, bottom, top):
        """Tops of their own have the bottoms' shapes; in place there is nothing to do."""
        for below, above in zip(_listed(bottom), _listed(top)):
            if tuple(above.shape) != tuple(below.shape):
                above.reshape(*below.shape)

    def forward(self, bottom, top):
        """Check the bottoms' data; hand them on where the tops are others."""
        self.passes += 1
        if (self.passes - 1) % self.options["every"] == 0:
            for index, blob in enumerate(_listed(bottom)):
                self._check("forward", index, blob.data)
        for below, above in zip(_listed(bottom), _listed(top)):
            if not _same(below.data, above.data):
                above.data[...] = below.data

    def backward(self, top, propagate_down, bottom):
        """Check the gradients that come from above; hand them on where the bottoms are others."""
        self.backwards += 1
        check = (self.backwards - 1) % self.options["every"] == 0
        for index, above in enumerate(_listed(top)):
            if not propagate_down[index]:
                continue
            if check:
                self._check("backward", index, above.diff)
            if not _same(above.diff, bottom[index].diff):
                bottom[index].diff[...] = above.diff

    def _check(self, direction, index, values):
        total = squares(values)
        limit = self.options["max_abs"]
        rms = (total / values.size) ** 0.5 if values.size else 0.0
        frame = {"pass": self.passes, "direction": direction, "bottom": index, "rms": _number(rms)}
        self.frames.append(frame)
        # total - total is 0 for a finite total and NaN otherwise.
        if total - total == 0 and (limit is None or total < limit * limit):
            return
        counts = census(values, self.options["allow"], limit)
        if not counts["bad"]:
            # Finite values whose squares overflow, or values that are meant.
            return
        frame["bad"] = counts["bad"]
        self._report(direction, index, values, counts)

    def _report(self, direction, index, values, counts):
        options = self.options
        share = 100.0 * counts["bad"] / max(1, counts["size"])
        message = "checkFiniteLayer %s: %s pass %d, bottom %d: %.4g%% of %d items are bad (%s), the first at %s" % (
            options["prefix"],
            direction,
            self.passes,
            index,
            share,
            counts["size"],
            ", ".join("%d %s" % (counts[name], name) for name in ("nan", "posinf", "neginf", "large") if counts[name]),
            counts["first"],
        )
        incident = {
            "version": 1,
            "kind": "non-finite",
            "prefix": options["prefix"],
            "direction": direction,
            "pass": self.passes,
            "phase": "TEST" if getattr(self, "phase", 0) else "TRAIN",
            "bottom": index,
            "shape": [int(extent) for extent in values.shape],
            "counts": counts,
            "message": message,
            "time": time.time(),
            "frames": [
                {"prefix": guard.options["prefix"], "frames": list(guard.frames)} for guard in _GUARDS if guard.frames
            ],
        }
        self._write(incident, values)
        if options["action"] == "raise":
            raise NonFiniteError(message, incident)
        if options["action"] == "warn":
            print(message, file=sys.stderr)
            sys.stderr.flush()

    def _write(self, incident, values):
        """The record is on the disk before anything is raised: `caffe train` dies of the exception."""
        folder = self.options["dump"]
        path = RECORDS
        try:
            if folder:
                if not os.path.isdir(folder):
                    os.makedirs(folder)
                path = os.path.join(folder, RECORDS)
                name = re.sub(
                    r"[^\w.-]", "_", "%s_%s_%d" % (incident["prefix"], incident["direction"], incident["pass"])
                )
                incident["array"] = name + ".npz"
                np.savez_compressed(os.path.join(folder, incident["array"]), values=values)
            with open(path, "a") as stream:
                stream.write(json.dumps(incident) + "\n")
                stream.flush()
                os.fsync(stream.fileno())
        except (IOError, OSError) as error:
            # A full disk must not hide the message.
            print("checkFiniteLayer: the record could not be written: %s" % error, file=sys.stderr)


def _listed(blobs):
    """A list of pycaffe's blobs: its vectors can be indexed, and refuse to be iterated over."""
    return [blobs[index] for index in range(len(blobs))]


def _same(one, other):
    """Whether two arrays are the same memory."""
    return one.__array_interface__["data"][0] == other.__array_interface__["data"][0]


def _number(value):
    """A float as JSON can hold it: NaN and infinities are none."""
    return value if value - value == 0 else None
