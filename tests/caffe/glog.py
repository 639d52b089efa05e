"""What Caffe's own log (glog on stderr) says: the fatal line, the layers it set up, rates and losses.

Runs inside the judge's worker, so it must stay free of the project's own packages: the judge is not
allowed to lean on what it judges.
"""

from __future__ import annotations

import re

_NUMBER = r"[-+]?(?:nan|inf|[0-9][0-9.]*(?:e[-+]?[0-9]+)?)"
_LINE = re.compile(r"^([IWEF])\d+ \d\d:\d\d:\d\d\.\d+ +\d+ ([\w.+-]+):(\d+)\] ?(.*)$")
_LR = re.compile(rf"^Iteration (\d+), lr = ({_NUMBER})")
_LOSS = re.compile(rf"^Iteration (\d+)(?: \([^)]*\))?, loss = ({_NUMBER})")
_OUTPUT = re.compile(rf"^ *(Train|Test) net output #(\d+): (.*) = ({_NUMBER})(?: \(.*\))?$")
_TEST = re.compile(r"^Iteration (\d+), Testing net \(#(\d+)\)")


def lines(text):
    """Yield (severity, file, line, message) for each log line; lines that glog did not begin belong to the last."""
    current = None
    for raw in text.split("\n"):
        match = _LINE.match(raw)
        if match:
            if current:
                yield tuple(current)
            current = [match.group(1), match.group(2), int(match.group(3)), match.group(4)]
        elif raw.startswith("*** "):
            if current:
                yield tuple(current)
            current = None
        elif current:
            current[3] += "\n" + raw
    if current:
        yield tuple(current)


def fatal(text):
    """The last fatal line as {"message","file","line"}, or what() of an uncaught C++ exception, or None."""
    found = None
    for severity, name, number, message in lines(text):
        if severity == "F":
            found = {"message": message.strip(), "file": name, "line": number}
    if found is None:
        match = re.search(r"terminate called after throwing an instance of '(.*)'(?:\n *what\(\): +(.*))?", text)
        if match:
            message = match.group(1) + (": " + match.group(2) if match.group(2) else "")
            found = {"message": message, "file": None, "line": None}
    return found


def net(text):
    """{"creating_layer": last layer begun, "set_up": [{name,bottoms,tops,top_shapes}], "backward": {layer: bool}}."""
    layers, by_name, backward, last, current = [], {}, {}, None, None
    for _, name, _, message in lines(text):
        if name != "net.cpp":
            continue
        if message.startswith("Creating Layer "):
            last = message[len("Creating Layer ") :]
            by_name[last] = {"name": last, "bottoms": [], "tops": [], "top_shapes": []}
            layers.append(by_name[last])
        elif message.startswith("Setting up "):
            current = by_name.get(message[len("Setting up ") :])
        elif message.startswith("Top shape: ") and current is not None:
            dims = message[len("Top shape: ") :].split("(")[0].split()
            current["top_shapes"].append([int(dim) for dim in dims])
        elif message.endswith(" does not need backward computation."):
            backward[message[: -len(" does not need backward computation.")]] = False
        elif message.endswith(" needs backward computation."):
            backward[message[: -len(" needs backward computation.")]] = True
        elif last is not None and message.startswith(last + " <- "):
            by_name[last]["bottoms"].append(message[len(last) + 4 :])
        elif last is not None and message.startswith(last + " -> "):
            by_name[last]["tops"].append(re.sub(r" \(in-place\)$", "", message[len(last) + 4 :]))
    return {"creating_layer": last, "set_up": layers, "backward": backward}


def training(text):
    """{"logged_lrs": [[iteration, lr]], "losses": [[iteration, loss]], "outputs": [{phase,net,index,name,value,...}]}."""
    lrs, losses, outputs, iteration, test_net = [], [], [], None, 0
    for _, _, _, message in lines(text):
        match = _LR.match(message)
        if match:
            lrs.append([int(match.group(1)), float(match.group(2))])
            continue
        match = _LOSS.match(message)
        if match:
            iteration = int(match.group(1))
            losses.append([iteration, float(match.group(2))])
            continue
        match = _TEST.match(message)
        if match:
            iteration, test_net = int(match.group(1)), int(match.group(2))
            continue
        match = _OUTPUT.match(message)
        if match:
            phase = match.group(1).upper()
            outputs.append(
                {
                    "iteration": iteration,
                    "phase": phase,
                    "net": test_net if phase == "TEST" else None,
                    "index": int(match.group(2)),
                    "name": match.group(3),
                    "value": float(match.group(4)),
                }
            )
    return {"logged_lrs": lrs, "losses": losses, "outputs": outputs}
