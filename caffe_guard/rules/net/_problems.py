"""Problems of the built net as findings: what Caffe would abort on, told once for all phases."""

from __future__ import annotations

from caffe_guard.diagnostic import Finding
from caffe_guard.schema import bind as binding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.diagnostic import Severity
    from caffe_guard.net.problem import Problem
    from caffe_guard.rules.context import NetContext

_UNREAD = (binding.UNKNOWN_FIELD, binding.WRONG_TYPE, binding.OUT_OF_RANGE, binding.UNKNOWN_ENUM_VALUE)


def findings(ctx: NetContext, kinds: tuple[str, ...], in_forks: Severity | None = None) -> Iterator[Finding]:
    """The problems of some kinds. A problem of one phase only, where the net is built for both, says which.

    ``in_forks`` is the severity to use when the files are for a fork: for checks that forks are known to have changed.
    """
    phases = ctx.phases
    found: dict[tuple[int, int, str], tuple[Problem, list[str]]] = {}
    spoilt = _layers_with_unread_values(ctx)
    for net in phases:
        for problem in net.problems:
            if problem.kind in kinds and (problem.layer is None or problem.layer.name not in spoilt):
                key = (problem.start, problem.end, problem.message)
                found.setdefault(key, (problem, []))[1].append(net.phase)
    all_phases = {net.phase for net in phases}
    severity = in_forks if ctx.dialect != "bvlc" else None
    for problem, where in found.values():
        message = problem.message
        if len(all_phases) > 1 and len(set(where)) == 1:
            message += f" ({where[0]} phase only)"
        yield Finding(
            message,
            problem.start,
            problem.end,
            help=problem.help,
            related=problem.related,
            layer=problem.layer.name if problem.layer is not None else None,
            field=problem.field,
            severity=severity,
        )


def _layers_with_unread_values(ctx: NetContext) -> set[str]:
    """The layers in which the schema refused something: what is missing there is told already, by another rule."""
    bound = ctx.file.bound
    if bound is None:
        return set()
    places = [problem.start for problem in bound.problems if problem.kind in _UNREAD]
    names = (ctx.net.layer_name_at(place) for place in (*places, *bound.lost))
    return {name for name in names if name is not None}
