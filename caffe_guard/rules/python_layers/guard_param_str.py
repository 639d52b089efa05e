"""The param_str of a guard is not what the guard reads.

What happens
    `checkFiniteLayer` takes a plain prefix for its messages, or options as JSON or `key=value`. Text that starts like JSON
    and is none, or an option with an impossible value, makes the guard raise an error when the net is built.

How to fix
    `param_str: "fc2"`, or `param_str: '{"prefix": "fc2", "every": 10, "action": "warn"}'`: JSON wants double quotes
    around names, so the prototxt string is best put into single ones.

When it is fine
    Never for the guards of caffe-guard; other modules are not judged.

Source
    layers/check_finite_layer.py.
"""

from __future__ import annotations

import re

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.python_layers._modules import PACK
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG405"
NAME = "guard-param-str"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"

_DATA = """\
layer { name: "d" type: "DummyData" top: "x" dummy_data_param { shape { dim: 1 } } }
"""
BAD = (
    Example(
        _DATA
        + """\
layer {
  name: "guard_x"
  type: "Python"
  bottom: "x"
  python_param { module: "check_finite_layer" layer: "checkFiniteLayer" param_str: "{'prefix': 'x'}" }
}
""",
        expect=[6],
    ),
    Example(
        _DATA
        + """\
layer {
  name: "guard_x"
  type: "Python"
  bottom: "x"
  python_param { module: "check_finite_layer" layer: "checkFiniteLayer" param_str: "prefix=x every=0" }
}
""",
        expect=[6],
    ),
    Example(
        _DATA
        + """\
layer {
  name: "guard_x"
  type: "Python"
  bottom: "x"
  python_param { module: "check_finite_layer" layer: "checkFiniteLayer" }
}
""",
        expect=[(6, "info")],
    ),
)
GOOD = (
    Example(
        _DATA
        + """\
layer {
  name: "guard_x"
  type: "Python"
  bottom: "x"
  python_param { module: "check_finite_layer" layer: "checkFiniteLayer" param_str: "x" }
}
layer {
  name: "guard_x2"
  type: "Python"
  bottom: "x"
  python_param { module: "check_finite_layer" layer: "checkFiniteLayer" param_str: '{"prefix": "x", "every": 10}' }
}
""",
    ),
)

ACTIONS = ("raise", "warn", "record")
_OPTION = r"\b(every|action|max_abs|history)\s*=\s*([^\s,;]*)"


def check(ctx: NetContext) -> Iterator[Finding]:
    """Guards of the pack: an empty param_str, broken JSON, and options that cannot be."""
    for layer in ctx.by_type("Python"):
        param = layer.param("python_param")
        if param.get("module") not in PACK:
            continue
        value = param.at("param_str")
        text: str = param.get("param_str").strip()
        severity = None
        if not text:
            what: str | None = "the guard has no param_str, so its messages do not say where it stands"
            severity = Severity.INFO
        else:
            what = _fault(text)
        if what is None:
            continue
        start, end = (value.name_start, value.end) if value is not None else (param.name_start, param.name_end)
        yield Finding(
            what,
            start,
            end,
            help=f'write a prefix: param_str: "{layer.name}"'
            if severity is not None
            else 'write a plain prefix, or JSON such as \'{"prefix": "fc2", "every": 10}\'',
            layer=layer.name,
            field="python_param.param_str",
            severity=severity,
        )


def _fault(text: str) -> str | None:
    """What is wrong with a param_str; None when nothing is."""
    if text[0] not in "{[":
        options: dict[str, object] = {match.group(1): match.group(2) for match in re.finditer(_OPTION, text)}
    else:
        import json

        try:
            options = json.loads(text)
        except (ValueError, RecursionError):
            return "the param_str starts like JSON and is none: the guard refuses it"
        if not isinstance(options, dict):
            return "the param_str is JSON, but no object of options: the guard refuses it"
    for name in ("every", "history"):
        if name in options and not _is_count(options[name]):
            return f"the guard's option {name} is {options[name]!r}; a whole number from 1 is needed"
    if "action" in options and options["action"] not in ACTIONS:
        return f"the guard's option action is {options['action']!r}; it is one of {', '.join(ACTIONS)}"
    return None


def _is_count(value: object) -> bool:
    if isinstance(value, bool):
        return False
    return re.fullmatch(r"0*[1-9]\d*", str(value)) is not None
