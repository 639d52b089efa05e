"""Where a Python layer's module lies, found by looking at the file system; nothing is ever imported."""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.rules.context import NetContext

_SUFFIXES = (".py", ".so", ".pyd", ".pyc")
# Folders of a project that scripts put on sys.path by themselves: looked into to give better advice only.
_USUAL_FOLDERS = ("lib", "python", "src", "layers", "python_layers", "pylayers", "pylayer", "tools", "caffe/python")
_MOST_PARENTS = 4
# The modules of caffe-guard's own pack that take options in param_str.
PACK = ("check_finite_layer",)


def search_folders(ctx: NetContext) -> list[str]:
    """The folders a module is looked for in: the net's, its solvers', the working directory, PYTHONPATH; each once."""
    folders = [ctx.base_dir or "."]
    folders.extend(solver.base_dir or "." for solver in ctx.solvers)
    folders.append(".")
    folders.extend(entry or "." for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep))
    found: dict[str, str] = {}
    for folder in folders:
        found.setdefault(os.path.abspath(folder), folder)
    return list(found.values())


def find_module(ctx: NetContext, module: str) -> str | None:
    """The path of a dotted module: in the search folders, else among the modules of the running Python."""
    for folder in search_folders(ctx):
        path = module_in(folder, module)
        if path is not None:
            return path
    for folder in sys.path:
        path = module_in(folder or ".", module)
        if path is not None:
            return path
    return module if module in sys.builtin_module_names else None


def find_nearby(ctx: NetContext, module: str) -> str | None:
    """A folder of the project that holds the module: the net's parents, and the folders below them that scripts usually
    put on sys.path."""
    folder = os.path.abspath(ctx.base_dir or ".")
    for _ in range(_MOST_PARENTS):
        for name in ("", *_USUAL_FOLDERS):
            candidate = os.path.join(folder, name) if name else folder
            if module_in(candidate, module) is not None:
                return os.path.relpath(candidate)
        parent = os.path.dirname(folder)
        if parent == folder or os.path.exists(os.path.join(folder, ".git")):
            break
        folder = parent
    return None


def module_in(folder: str, module: str) -> str | None:
    """The file of a dotted module below a folder; for a package its ``__init__.py`` or, without one, the folder."""
    base = os.path.join(folder, *module.split("."))
    try:
        for suffix in _SUFFIXES:
            if os.path.isfile(base + suffix):
                return base + suffix
        if os.path.isdir(base):
            inside = os.path.join(base, "__init__.py")
            return inside if os.path.isfile(inside) else base
        # Compiled modules carry the Python's tag in their name: name.cpython-39-x86_64-linux-gnu.so
        parent, name = os.path.split(base)
        if os.path.isdir(parent):
            for entry in os.listdir(parent):
                if entry.startswith(name + ".") and entry.endswith((".so", ".pyd")):
                    return os.path.join(parent, entry)
    except (OSError, ValueError):
        return None
    return None


def is_dotted_name(module: str) -> bool:
    """Whether a word can be a module's name at all: identifiers joined by dots."""
    return bool(module) and all(part.isidentifier() for part in module.split("."))
