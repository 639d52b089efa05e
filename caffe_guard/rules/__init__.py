"""The rules: one module each, in folders by family, found by being there.

Nothing has to be registered. Codes that were given up stand in ``retired.py`` and are never used again.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType

from caffe_guard.rules.rule import Example, Rule

__all__ = ["Example", "Rule", "all_rules", "find_rule", "load_plugin"]

_loaded: list[Rule] = []
_plugins: list[Rule] = []


def all_rules() -> list[Rule]:
    """Every rule, sorted by code; loaded once a process."""
    if not _loaded:
        _loaded.extend(Rule(_load(name, path)) for name, path in _modules())
        _loaded.sort(key=lambda rule: rule.code)
    if _plugins:
        return sorted(_loaded + _plugins, key=lambda rule: rule.code)
    return _loaded


def _modules() -> list[tuple[str, str]]:
    """Dotted name and path of every rule module: those in the folders of this package."""
    here = os.path.dirname(__file__)
    found = []
    for family in os.listdir(here):
        folder = os.path.join(here, family)
        if family.startswith(("_", ".")) or not os.path.isdir(folder):
            continue
        for entry in os.listdir(folder):
            if entry.endswith(".py") and not entry.startswith("_"):
                found.append((f"caffe_guard.rules.{family}.{entry[:-3]}", os.path.join(folder, entry)))
    return sorted(found)


def _load(name: str, path: str) -> ModuleType:
    """Import a rule module whose place is known.

    Asking the import system to find each of a hundred modules takes longer than loading them: this is a third of the
    whole run on a small net. The module is the same that ``import`` would give, and is found there afterwards.
    """
    module = sys.modules.get(name)
    if module is not None:
        return module
    loader = SourceFileLoader(name, path)
    code = loader.get_code(name)
    assert code is not None
    module = ModuleType(name)
    module.__file__ = path
    module.__loader__ = loader
    module.__package__ = name.rpartition(".")[0]
    sys.modules[name] = module
    try:
        exec(code, module.__dict__)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def find_rule(word: str) -> Rule | None:
    """The rule with that code or name, in any case."""
    for rule in all_rules():
        if word.upper() == rule.code or word.lower() == rule.name:
            return rule
    return None


def load_plugin(module_name: str) -> Rule:
    """Add a rule module of the user's own, by its importable name.

    Only the command line asks for this, never a settings file: a file beside the nets under judgement must not be
    able to run code. Raises ImportError, or TypeError when the module has not the form of a rule.
    """
    rule = Rule(importlib.import_module(module_name))
    for known in all_rules():
        if known.code == rule.code and known.module_name != rule.module_name:
            raise TypeError(f"the code {rule.code} of {module_name} is taken by {known.module_name}")
    if all(known.module_name != rule.module_name for known in _plugins):
        _plugins.append(rule)
    return rule
