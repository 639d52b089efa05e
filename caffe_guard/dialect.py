"""Which Caffe the files were written for: BVLC's, or the fork that explains what BVLC does not know.

The files of one job (a solver and its nets) are judged together: a field of SSD in the solver explains SSD's layers in
the net. Only what BVLC lacks speaks for a fork; files that BVLC understands are BVLC's.
"""

from __future__ import annotations

from caffe_guard.prototxt import tree
from caffe_guard.schema import bind as binding
from caffe_guard.schema.dialects import (
    layer_types,
    owners_of_enum_value,
    owners_of_field,
    owners_of_layer_type,
    schema_for,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from caffe_guard.prototxt.tree import File
    from caffe_guard.schema.bind import BindProblem, Bound

BVLC = "bvlc"
AUTO = "auto"
# How many forks that explain equally many unknown words are tried by binding the files with their schema.
_MOST_TRIED = 6


def unknown_owners(problem: BindProblem) -> tuple[str, ...] | None:
    """The forks that know what a problem says BVLC does not know; None when the problem is of another kind."""
    if problem.kind == binding.UNKNOWN_FIELD:
        return owners_of_field(problem.type_name, problem.field_name)
    if problem.kind == binding.UNKNOWN_ENUM_VALUE and problem.node is not None and problem.node.kind is tree.NAME:
        return owners_of_enum_value(problem.expected, problem.raw)
    if problem.kind == binding.WRONG_TYPE and problem.node is not None and problem.node.kind is tree.LIST:
        return _owners_of_repeated_field(problem.type_name, problem.field_name)
    return None


def _owners_of_repeated_field(type_name: str, field_name: str) -> tuple[str, ...]:
    """The forks in which a field may be given more than once (yjxiong's device_id)."""
    from caffe_guard.schema.dialects import DIALECTS

    owners = []
    for fork in DIALECTS:
        schema = schema_for(fork)
        if type_name in schema.message_names():
            field = schema.message(type_name).fields.get(field_name)
            if field is not None and field.repeated:
                owners.append(fork)
    return tuple(owners)


def unknown_layer_types(bound: Bound) -> list[str]:
    """The V2 layer types of a net that BVLC does not register, in order, each once."""
    known = layer_types(BVLC)
    found: dict[str, None] = {}
    for layer in bound.message.fields.get("layer", ()):
        values = layer.value.fields.get("type")
        if values and values[-1].value not in known:
            found[values[-1].value] = None
    return list(found)


def detect(documents: Iterable[tuple[File, str, Bound]]) -> str:
    """The dialect that explains the documents best; each is (tree, message type name, binding with BVLC's schema)."""
    documents = list(documents)
    unknown: dict[tuple[str, str, str], tuple[str, ...]] = {}
    for _, type_name, bound in documents:
        for problem in bound.problems:
            owners = unknown_owners(problem)
            if owners is not None:
                word = problem.raw if problem.kind == binding.UNKNOWN_ENUM_VALUE else ""
                unknown[problem.type_name, problem.field_name, word] = owners
        if type_name == "NetParameter":
            for layer_type in unknown_layer_types(bound):
                unknown["", "", layer_type] = owners_of_layer_type(layer_type)
    scores: dict[str, int] = {}
    for owners in unknown.values():
        for owner in owners:
            scores[owner] = scores.get(owner, 0) + 1
    if not scores:
        return BVLC
    best = max(scores.values())
    tied = [fork for fork, score in scores.items() if score == best]
    if len(tied) == 1:
        return tied[0]
    return min(_in_order(tied)[:_MOST_TRIED], key=lambda fork: _problems_with(fork, documents))


def _in_order(forks: list[str]) -> list[str]:
    """Forks in the order of the dialects' list: the better known first."""
    from caffe_guard.schema.dialects import DIALECTS

    names = list(DIALECTS)
    return sorted(forks, key=lambda fork: names.index(fork) if fork in names else len(names))


def _problems_with(fork: str, documents: list[tuple[File, str, Bound]]) -> int:
    """How many problems are left when the documents are bound with a fork's schema and layer types."""
    schema = schema_for(fork)
    known = layer_types(fork)
    count = 0
    for file, type_name, bvlc in documents:
        count += len(binding.bind(file, type_name, schema).problems)
        if type_name == "NetParameter":
            count += sum(1 for layer_type in unknown_layer_types(bvlc) if layer_type not in known)
    return count
