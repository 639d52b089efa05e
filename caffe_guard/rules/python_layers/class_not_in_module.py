"""The module of a Python layer was found, and has no class of the layer's name.

What happens
    Caffe takes the attribute `python_param.layer` of the imported module; Python raises "AttributeError: module … has no
    attribute …" and Caffe ends. caffe-guard reads the module's text, and never runs it.

How to fix
    Write the class's name as the module has it; capitals count.

When it is fine
    When the module makes the class by means that its text does not show.

Source
    GetPythonLayer, src/caffe/layer_factory.cpp.
"""

from __future__ import annotations

import os
import re

from caffe_guard.diagnostic import Edit, Finding, Fix, Severity
from caffe_guard.rules.python_layers._modules import find_module, is_dotted_name
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from collections.abc import Iterator

    from caffe_guard.rules.context import NetContext

CODE = "CG404"
NAME = "python-class-not-in-module"
SEVERITY = Severity.WARNING
SCOPE = "net"
SINCE = "0.1.0"

_MODULE = "import caffe\n\n\nclass Feed(caffe.Layer):\n    pass\n"
BAD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed_it" layer: "feed" }
}
""",
        expect=[5],
        fixed="""\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed_it" layer: "Feed" }
}
""",
        caffe="aborts",
        files={"feed_it.py": _MODULE},
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed_it" layer: "Feed" }
}
""",
        files={"feed_it.py": _MODULE},
    ),
    Example(
        """\
layer {
  name: "feed"
  type: "Python"
  top: "x"
  python_param { module: "feed_it" layer: "Feed" }
}
""",
        files={"feed_it.py": "from other_layers import *\n"},
    ),
)

# A layer's module is short; a longer text is not worth the time.
_MOST_BYTES = 512 * 1024
# Whatever binds names in a way that the text does not show.
_HIDDEN_MEANS = r"\bimport\s*\(?\s*\*|\bglobals\s*\(|\bsetattr\s*\(|\bexec\b|\b__getattr__\b|\bsys\.modules\b"


def check(ctx: NetContext) -> Iterator[Finding]:
    """Layers whose class is not among the names that the module's text binds at its top level."""
    bound: dict[str, tuple[str, frozenset[str] | None]] = {}
    for layer in ctx.by_type("Python"):
        param = layer.param("python_param")
        module: str = param.get("module")
        value = param.at("layer")
        if value is None or not value.value or not is_dotted_name(module):
            continue
        if module not in bound:
            path = find_module(ctx, module)
            bound[module] = (path or "", names_in(path) if path is not None else None)
        path, names = bound[module]
        if names is None or value.value in names:
            continue
        near = _nearest(value.value, names)
        yield Finding(
            f'{os.path.normpath(path)} has no class "{value.value}": Caffe cannot create the layer and ends',
            value.name_start,
            value.end,
            help=f'did you mean "{near}"?' if near else "write the name of the class as the module has it",
            fix=Fix(f'write layer: "{near}"', [Edit(value.start, value.end, f'"{near}"')]) if near else None,
            layer=layer.name,
            field="python_param.layer",
        )


def names_in(path: str) -> frozenset[str] | None:
    """The names that a module's text binds at its top level; None when that cannot be told."""
    if not path.endswith(".py"):
        return None
    try:
        if os.path.getsize(path) > _MOST_BYTES:
            return None
        with open(path, "rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except (OSError, ValueError):
        return None
    text = data.decode("utf-8", "replace")
    if re.search(_HIDDEN_MEANS, text):
        return None
    import ast

    try:
        tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        # Python 2's grammar, most likely: then any word of the text may be the class.
        return frozenset(re.findall(r"\w+", text)) if text else None
    return frozenset(_bound_names(tree))


def _bound_names(tree: ast.Module) -> Iterator[str]:
    """Names of classes, functions, imports and assignments outside functions and classes."""
    import ast

    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            for alias in node.names:
                yield (alias.asname or alias.name).split(".", 1)[0]
        elif isinstance(node, ast.Name):
            yield node.id
        elif not isinstance(node, ast.Lambda):
            waiting.extend(ast.iter_child_nodes(node))


def _nearest(word: str, names: frozenset[str]) -> str | None:
    from caffe_guard.schema.hints import nearest

    return nearest(word, sorted(name for name in names if name[:1].isalpha()))
