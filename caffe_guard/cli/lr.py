"""``caffe-guard lr solver.prototxt``: the learning rate over the run, as Caffe computes it."""

from __future__ import annotations

import math
import sys

from caffe_guard.cli import FOUND, OK, add_format, fail
from caffe_guard.files import SOLVER, InputError, classify, read_source, what_it_is_instead
from caffe_guard.solver.schedule import Bad, abort, fault, first_bad, rate
from caffe_guard.solver.turning_points import TurningPoint, turning_points

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from caffe_guard.solver.model import Solver
    from caffe_guard.source import Source

DESCRIPTION = (
    "Prints the turning points of a solver's learning rate, computed in Caffe's own float32 arithmetic.\n"
    "The exit code is 1 when the rate turns nan, infinite, 0, negative or huge, or when Caffe aborts."
)

#: What is shown of a solver without max_iter, which a script steps as often as it likes.
_UNKNOWN_LENGTH = 100_000
_MOST_ITERATIONS = 2**31 - 1
_PICTURES = (".png", ".svg", ".pdf")
#: Fields shown in the heading, by policy; base_lr always is.
_FIELDS = {
    "step": ("gamma", "stepsize"),
    "exp": ("gamma",),
    "inv": ("gamma", "power"),
    "multistep": ("gamma", "stepvalue"),
    "poly": ("power", "max_iter"),
    "sigmoid": ("gamma", "stepsize"),
}


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("solver", nargs="?", help="the solver's prototxt, or - for standard input")
    parser.add_argument(
        "--at", metavar="N", type=int, action="append", help="print the rate at iteration N; repeatable"
    )
    parser.add_argument(
        "--max-iter", metavar="N", type=int, help="iterations to look at (default: the file's max_iter)"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        nargs="?",
        const="-",
        help="plot in the terminal, or into a .png, .svg or .pdf file (needs matplotlib)",
    )
    add_format(parser, "text", "json")


def run(args: argparse.Namespace) -> int:
    """Do the command; 0, 1 for a bad schedule, 2 for input that cannot be used."""
    if args.solver is None and args.plot not in (None, "-") and not args.plot.lower().endswith(_PICTURES):
        args.solver, args.plot = args.plot, "-"  # `lr --plot solver.prototxt`
    try:
        return _run(args)
    except InputError as error:
        return fail(str(error))


def _run(args: argparse.Namespace) -> int:
    if args.solver is None:
        raise InputError("lr", "name a solver's prototxt")
    if args.max_iter is not None and not 1 <= args.max_iter <= _MOST_ITERATIONS:
        raise InputError("--max-iter", f"takes 1 to {_MOST_ITERATIONS}")
    if any(not 0 <= iteration <= _MOST_ITERATIONS for iteration in args.at or ()):
        raise InputError("--at", f"takes 0 to {_MOST_ITERATIONS}")
    if args.plot not in (None, "-") and not args.plot.lower().endswith(_PICTURES):
        raise InputError(args.plot, "the picture's name must end in " + ", ".join(_PICTURES))
    source, solver = _load(args.solver)
    iterations = args.max_iter or (solver.max_iter if solver.max_iter > 0 else _UNKNOWN_LENGTH)
    if args.plot not in (None, "-"):
        _draw(args.plot, solver, iterations, source.path)
    bad = first_bad(solver, 0, iterations)
    if args.format == "json":
        import json

        print(json.dumps(_as_json(args, source, solver, iterations, bad), indent=2))
    else:
        print("\n".join(_as_text(args, source, solver, iterations, bad)))
    if args.at:
        return FOUND if any(_is_bad(solver, iteration) for iteration in args.at) else OK
    return OK if bad is None else FOUND


def _load(path: str) -> tuple[Source, Solver]:
    """The solver under the schema of the fork it was written for. Raises InputError."""
    from caffe_guard.dialect import BVLC, detect
    from caffe_guard.prototxt import parse
    from caffe_guard.schema.bind import bind
    from caffe_guard.schema.dialects import schema_for
    from caffe_guard.solver.model import Solver
    from caffe_guard.source import Source

    source = Source.from_bytes("<stdin>", sys.stdin.buffer.read()) if path == "-" else read_source(path)
    instead = what_it_is_instead(source)
    if instead is not None:
        raise InputError(source.path, f"is {instead}")
    tree = parse(source.text)
    kind = classify(tree)
    if kind != SOLVER:
        raise InputError(source.path, f"is no solver ({kind})")
    if tree.problems:
        problem = tree.problems[0]
        raise InputError(_at(source, problem.start), problem.message)
    bound = bind(tree, "SolverParameter", schema_for(BVLC))
    dialect = detect([(tree, "SolverParameter", bound)]) if bound.problems else BVLC
    if dialect != BVLC:
        bound = bind(tree, "SolverParameter", schema_for(dialect))
    for bind_problem in bound.problems:
        if bind_problem.field_name in _SCHEDULE_FIELDS:
            what = bind_problem.message or "is given twice"
            raise InputError(_at(source, bind_problem.start), f"{bind_problem.field_name} {what}")
    return source, Solver(bound.message)


_SCHEDULE_FIELDS = ("base_lr", "lr_policy", "gamma", "power", "stepsize", "stepvalue", "max_iter")


def _at(source: Source, offset: int) -> str:
    line, column = source.line_column(offset)
    return f"{source.path}:{line}:{column}"


def _draw(path: str, solver: Solver, iterations: int, title: str) -> None:
    from caffe_guard.report.rate_plot import as_picture, sample

    try:
        as_picture(path, sample(lambda iteration: rate(solver, iteration), iterations, 2000), title)
    except ImportError:
        raise InputError(path, "a picture needs matplotlib: pip install 'caffe-guard[report]'") from None
    except OSError as error:
        raise InputError(path, (error.strerror or str(error)).lower()) from None


def _is_bad(solver: Solver, iteration: int) -> bool:
    value = rate(solver, iteration)
    return abort(solver) is not None or (value is not None and fault(value) is not None)


# --- text -----------------------------------------------------------------------------------------


def _as_text(args: argparse.Namespace, source: Source, solver: Solver, iterations: int, bad: Bad | None) -> list[str]:
    lines = [f"{source.path}: {_heading(solver)}"]
    if args.at:
        lines += _table([TurningPoint(at, None if abort(solver) else rate(solver, at), "") for at in args.at])
        return lines
    if args.max_iter is None and solver.max_iter <= 0:
        lines.append(f"no max_iter: `caffe train` runs no iteration; shown is a script's run of {iterations} steps")
    points = turning_points(solver, iterations)
    lines += _table(points)
    if all(point.rate is None for point in points) and abort(solver) is None:
        lines.append(f'the rate of "{solver.policy}" follows the loss and cannot be known before the run')
    if args.plot == "-" and abort(solver) is None:
        from caffe_guard.report.rate_plot import as_text, sample

        lines += ["", as_text(sample(lambda iteration: rate(solver, iteration), iterations, _columns()))]
    return lines


def _columns() -> int:
    import shutil

    return max(16, min(100, shutil.get_terminal_size().columns - 14))


def _heading(solver: Solver) -> str:
    words = [
        f'lr_policy "{solver.policy}"' if solver.policy else "no lr_policy",
        f"base_lr {solver.base_lr:g}",
    ]
    for field in _FIELDS.get(solver.policy, ()):
        value = solver.message.get(field)
        if isinstance(value, list):
            shown = ", ".join(str(item) for item in value[:8]) + (", …" if len(value) > 8 else "")
            words.append(f"{field} {shown or 'none'}")
        else:
            words.append(f"{field} {value:g}" if isinstance(value, float) else f"{field} {value}")
    return ", ".join(words)


def _table(points: list[TurningPoint]) -> list[str]:
    lines = [f"{'iteration':>11}  {'rate':>12}"]
    for point in points:
        shown = "unknown" if point.rate is None else f"{point.rate:g}"
        lines.append(f"{point.iteration:>11}  {shown:>12}  {point.event}".rstrip())
    return lines


# --- json -----------------------------------------------------------------------------------------


def _as_json(
    args: argparse.Namespace, source: Source, solver: Solver, iterations: int, bad: Bad | None
) -> dict[str, Any]:
    answer: dict[str, Any] = {
        "version": 1,
        "path": source.path,
        "policy": solver.policy,
        "base_lr": _number(solver.base_lr),
        "max_iter": solver.max_iter,
        "iterations": iterations,
        "points": [
            {"iteration": point.iteration, "rate": _number(point.rate), "event": point.event}
            for point in turning_points(solver, iterations)
        ],
        "first_bad": None,
        "diagnostics": [],
    }
    if args.at:
        refused = abort(solver) is not None
        answer["at"] = [{"iteration": at, "rate": None if refused else _number(rate(solver, at))} for at in args.at]
    if bad is not None:
        answer["first_bad"] = {"iteration": bad.iteration, "rate": _number(bad.rate), "reason": bad.reason}
        line, column = source.line_column(solver.anchor[0])
        what = "Caffe aborts" if bad.reason == "aborts" else f"the rate is {bad.rate:g}"
        answer["diagnostics"] = [
            {
                "code": "CG106",
                "severity": "warning" if bad.reason in ("zero", "huge") else "error",
                "path": source.path,
                "line": line,
                "column": column,
                "message": f"iteration {bad.iteration}: {what}",
                "help": "run `caffe-guard lint` for the cause",
            }
        ]
    return answer


def _number(value: float | None) -> float | str | None:
    """A float32 in the fewest digits that keep it; what JSON has no number for as a word."""
    if value is None:
        return None
    return float(f"{value:.9g}") if math.isfinite(value) else f"{value:g}"
