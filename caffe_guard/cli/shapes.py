"""``caffe-guard shapes``: the net as Caffe would build it, with shapes, learnable values, work and gradients."""

from __future__ import annotations

import os
import sys

from caffe_guard.cli import FOUND, OK, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from caffe_guard.engine import Job
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.rules.context import NetContext

DESCRIPTION = """\
Shows a net as Caffe would build it in one phase: layers, shapes, learnable values, multiply-accumulates, the memory of
its blobs, and which layers have a backward. Nothing is run, and no Caffe is needed.

NET is a net, or a solver whose net is meant. Exit code: 0 shown, 1 shown as far as Caffe would get before it aborts,
2 it cannot be shown."""
FORMATS = ("table", "json", "dot", "svg", "html")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("net", metavar="NET", help="a net's or a solver's prototxt, or - for standard input")
    add("--phase", choices=("train", "test", "TRAIN", "TEST"), help="the phase (default: the first that NET is for)")
    add("--level", type=int, help="the level of the net's state")
    add("--stage", action="append", default=[], metavar="NAME", help="a stage of the net's state; repeatable")
    add("--format", choices=FORMATS, default="table", help="table (default), json, dot for Graphviz, svg, or html")
    add("--output", "-o", metavar="FILE", help="write to a file; its ending chooses the format unless --format does")
    add("--dialect", metavar="NAME", help="the Caffe the net is for: auto (default), bvlc, ssd, nvcaffe, intel, …")
    add("--no-data", action="store_true", help="do not look at mean files, image lists and records that the net names")


def run(args: argparse.Namespace) -> int:
    from caffe_guard.config import ConfigError, Settings, check_dialect
    from caffe_guard.engine import Job
    from caffe_guard.files import NET, SOLVER

    settings = Settings()
    try:
        settings.dialect = check_dialect(args.dialect or "auto", "--dialect")
    except ConfigError as error:
        return fail(str(error))
    settings.data = not args.no_data
    path: str = args.net
    overlay = {}
    if path == "-":
        path = "<stdin>"
        overlay[path] = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    job = Job(settings, overlay)
    job.add(path)
    result = job.run()
    kind = job.kind_of(path)
    if kind is None:
        return fail(result.diagnostics[0].finding.message if result.diagnostics else f"{path}: nothing to show")
    if kind not in (NET, SOLVER):
        return fail(f"{path}: this is neither a net nor a solver ({kind})")
    built = _choose(args, job, path)
    if isinstance(built, str):
        return fail(f"{path}: {built}")
    context, net = built
    text = _render(args, job, context, net)
    if args.output:
        from caffe_guard.files import replace_file

        try:
            replace_file(args.output, text.encode("utf-8", "backslashreplace"))
        except OSError as error:
            return fail(f"{args.output}: cannot be written: {(error.strerror or str(error)).lower()}")
    else:
        sys.stdout.write(text)
    return _problems(context, net)


def _choose(args: argparse.Namespace, job: Job, path: str) -> tuple[NetContext, PhaseNet] | str:
    """The net in the state that is asked for; or why there is none."""
    contexts = job.nets_of(path)
    if not contexts:
        return "the solver's net was not found or is no net; caffe-guard lint says more"
    phase = args.phase.upper() if args.phase else None
    if args.level is not None or args.stage:
        from caffe_guard.net.phase import NetState

        state = NetState(phase or "TRAIN", args.level or 0, tuple(args.stage))
        return contexts[0], contexts[0].built_for(state)
    for context in contexts:
        for net in context.phases:
            if phase is None or net.phase == phase:
                return context, net
    if not contexts[0].solvers:
        from caffe_guard.net.phase import NetState

        return contexts[0], contexts[0].built_for(NetState(phase or "TRAIN"))
    return f"the solver builds no net in phase {phase}"


def _render(args: argparse.Namespace, job: Job, context: NetContext, net: PhaseNet) -> str:
    form = args.format
    if args.output and form == "table":
        ending = os.path.splitext(args.output)[1][1:].lower()
        form = ending if ending in FORMATS else form
    if form == "table":
        from caffe_guard.report import net_table

        return net_table.render(net)
    if form == "json":
        from caffe_guard.report import net_json

        return net_json.render(net)
    from caffe_guard.report.net_boxes import boxes

    found = [one for one in job.result.diagnostics if one.source is context.source]
    drawn = boxes(net, found)
    title = f"{context.net.name or os.path.basename(context.source.path)} ({net.phase})"
    if form == "dot":
        from caffe_guard.report import net_dot

        return net_dot.render(drawn, title)
    if form == "svg":
        from caffe_guard.report import net_svg

        return net_svg.render(drawn, title)
    try:
        from caffe_guard.report import net_page

        return net_page.render(net, drawn, found, title)
    except ImportError:
        raise SystemExit(fail("the page needs jinja2: pip install jinja2")) from None


def _problems(context: NetContext, net: PhaseNet) -> int:
    """Tell where Caffe would stop; the exit code."""
    for problem in net.problems[:1]:
        line, column = context.source.line_column(problem.start)
        sys.stderr.write(f"caffe-guard: {context.source.path}:{line}:{column}: {problem.message}\n")
    return FOUND if net.problems else OK
