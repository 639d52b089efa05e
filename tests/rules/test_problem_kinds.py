"""Every kind of problem of the net is told by exactly one rule."""

from __future__ import annotations

import importlib

from caffe_guard.net.problem import KINDS
from caffe_guard.rules import all_rules


def test_each_kind_belongs_to_exactly_one_rule():
    owners: dict[str, list[str]] = {kind: [] for kind in KINDS}
    for rule in all_rules():
        for kind in getattr(importlib.import_module(rule.module_name), "KINDS", ()):
            owners[kind].append(rule.code)
    assert {kind: codes for kind, codes in owners.items() if len(codes) != 1} == {}
