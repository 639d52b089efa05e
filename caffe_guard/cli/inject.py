"""``caffe-guard inject``: put guards of the pack behind layers of a net."""

from __future__ import annotations

import os
import sys

from caffe_guard.cli import OK, fail

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from caffe_guard.engine import Job
    from caffe_guard.inject.places import Place
    from caffe_guard.rules.context import NetContext

DESCRIPTION = """\
Puts a guard behind layers of a net: a Python layer that stops the training at the first NaN or infinity, forward or
backward, and says where. The guard changes nothing of the training; caffe-guard eject takes it out, byte for byte.

NET is a net, or a solver whose train net is meant; without it, the working directory's solver.prototxt or
train_val.prototxt."""
FALLBACKS = ("solver.prototxt", "train_val.prototxt")
_GUARD_OPTIONS = ("every", "action", "max_abs", "allow", "history", "dump")


def configure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("net", nargs="?", metavar="NET", help="a net's or a solver's prototxt")
    add(
        "--after",
        action="append",
        default=[],
        metavar="NAME",
        help="a layer, else a blob; or a pattern such as 'conv*'",
    )
    add("--all", action="store_true", help="behind every layer")
    add("--losses", action="store_true", help="behind every loss")
    add("--inputs", action="store_true", help="behind every layer of data")
    add("--phase", choices=("train", "test"), help="guards for one phase only")
    for name in _GUARD_OPTIONS:
        add(f"--{name.replace('_', '-')}", metavar="VALUE", help=f"the guard's option {name}; see its file")
    add("--template", metavar="FILE", help="a jinja2 template to write the guards with, in place of our own")
    add("--output", "-o", metavar="FILE", help="write here instead of into the net's own file")
    add("--diff", action="store_true", help="show the change and make none")
    add("--dry-run", action="store_true", help="tell which guards would be put where, and change nothing")


def run(args: argparse.Namespace) -> int:
    from caffe_guard.inject.places import PlaceError, choose

    if not (args.after or args.all or args.losses or args.inputs):
        return fail("say where: --after NAME, --all, --losses or --inputs")
    found = open_net(args.net)
    if isinstance(found, str):
        return fail(found)
    _, context = found
    refusal = _unfit(context)
    if refusal is not None:
        return fail(f"{context.source.path}: {refusal}")
    phases = [net for net in context.phases if args.phase is None or net.phase == args.phase.upper()]
    try:
        places = choose(
            context.source.text, context.net, phases or context.phases, args.after, args.all, args.losses, args.inputs
        )
        text, made = _put(args, context, places)
    except (PlaceError, _TemplateError) as error:
        return fail(f"{context.source.path}: {error}")
    if args.dry_run:
        for place in made:
            what = " (takes over the loss weight)" if place.is_loss else ""
            sys.stdout.write(f"{place.layer.name}: {', '.join(_blobs(place))}{what}\n")
        return OK
    code = write_out(args, context.source.path, context.source.text, text)
    if code == OK and not args.diff:
        _tell(context, made, args.output)
    return code


def open_net(path: str | None) -> tuple[Job, NetContext] | str:
    """The net that a path stands for, loaded; or why there is none."""
    from caffe_guard.config import Settings
    from caffe_guard.engine import Job
    from caffe_guard.files import NET, SOLVER

    if path is None:
        path = next((name for name in FALLBACKS if os.path.isfile(name)), None)
        if path is None:
            return f"name a net: neither {' nor '.join(FALLBACKS)} is here"
    settings = Settings()
    settings.select = ("CG006", "CG005")
    settings.data = False
    job = Job(settings)
    job.add(path)
    job.run()
    kind = job.kind_of(path)
    if kind is None:
        said = job.result.diagnostics
        return f"{path}: {said[0].finding.message}" if said else f"{path}: cannot be read"
    if kind not in (NET, SOLVER):
        return f"{path}: this is neither a net nor a solver ({kind})"
    contexts = job.nets_of(path)
    if not contexts:
        return f"{path}: its net was not found or is no net; caffe-guard lint says more"
    if contexts[0].inline:
        return f"{path}: the net stands inside the solver; guards are put into nets of their own"
    return job, contexts[0]


def write_out(args: argparse.Namespace, path: str, before: str, after: str) -> int:
    """Show a change, or write it: into the file itself, or to ``--output``."""
    from caffe_guard import files, fixing

    if args.diff:
        sys.stdout.flush()
        sys.stdout.buffer.write(fixing.unified_diff(path, before, after).encode("utf-8", "surrogateescape"))
        sys.stdout.buffer.flush()
        return OK
    target = args.output or path
    if after == before and args.output is None:
        return OK
    try:
        if args.output is None and files.read_source(path).text != before:
            return fail(f"{path}: was changed by somebody else meanwhile; it was left alone")
        files.replace_file(target, after.encode("utf-8", "surrogateescape"))
    except (OSError, files.InputError) as error:
        return fail(f"{target}: cannot be written: {getattr(error, 'strerror', None) or error}")
    return OK


def _unfit(context: NetContext) -> str | None:
    """Why no guard can be put into a net."""
    if context.file.tree.problems:
        line, _ = context.source.line_column(context.file.tree.problems[0].start)
        return f"line {line}: {context.file.tree.problems[0].message}; mend it first (caffe-guard lint)"
    if context.net.syntax != "V2":
        return (
            f"this is a net of the old format {context.net.syntax}, which has no Python layers;"
            " upgrade it with Caffe's upgrade_net_proto_text first"
        )
    return None


class _TemplateError(Exception):
    """A template of the user's that cannot be used; one line."""


def _put(args: argparse.Namespace, context: NetContext, places: list[Place]) -> tuple[str, list[Place]]:
    """The net's text with the guards that it does not have yet, and those."""
    from caffe_guard.fixing import apply_edits
    from caffe_guard.inject.text import edits_for, guarded
    from caffe_guard.prototxt import parse

    text = context.source.text
    there = guarded(text)
    made = [
        place
        for place in places
        if not all((place.layer.name, place.layer.tops[top].value) in there for top in place.tops)
    ]
    names = {layer.name for layer in context.net.layers}
    edits = []
    for place in made:
        edits.extend(edits_for(text, place, _statements(args, context, place, names)))
    after = apply_edits(text, edits)
    if parse(after).problems:
        raise _TemplateError("the guards would break the text; nothing was changed")
    return after, made


def _statements(args: argparse.Namespace, context: NetContext, place: Place, names: set[str]) -> str:
    from caffe_guard.inject.text import quoted

    name = f"check_{place.layer.name}"
    while name in names:
        name += "_"
    names.add(name)
    text = context.source.text
    layer = place.layer
    rules = [
        text[value.name_start : value.end] for field in ("include", "exclude") for value in layer.message.values(field)
    ]
    if args.phase and not rules:
        rules = [f"include {{ phase: {args.phase.upper()} }}"]
    tops = [layer.tops[top] for top in place.tops]
    rendered: str = _template(args).render(
        name=quoted(name),
        blobs=[text[top.start : top.end] for top in tops],
        loss_weights=place.weights,
        rules=rules,
        module=quoted("check_finite_layer"),
        layer=quoted("checkFiniteLayer"),
        param_str=quoted(_param_str(args, layer.name)),
    )
    return rendered


def _param_str(args: argparse.Namespace, prefix: str) -> str:
    """The plain prefix, or JSON where the guard gets options."""
    import json

    options = {name: getattr(args, name) for name in _GUARD_OPTIONS if getattr(args, name) is not None}
    if not options:
        return prefix
    for name in ("every", "history"):
        if name in options and options[name].isdigit():
            options[name] = int(options[name])
    return json.dumps({"prefix": prefix, **options})


def _template(args: argparse.Namespace):  # type: ignore[no-untyped-def]
    try:
        import jinja2
    except ImportError:
        raise _TemplateError("the guards' text is a template: pip install jinja2") from None

    # Prototxt is no HTML: nothing is escaped, names come as literals of the text format.
    if args.template is None:
        environment = jinja2.Environment(loader=jinja2.PackageLoader("caffe_guard.inject"))
        return environment.get_template("guard.prototxt.j2")
    try:
        with open(args.template, encoding="utf-8") as stream:
            return jinja2.Environment().from_string(stream.read())
    except (OSError, UnicodeDecodeError, jinja2.TemplateError) as error:
        raise _TemplateError(f"{args.template}: {error}") from None


def _blobs(place: Place) -> list[str]:
    return [place.layer.tops[top].value for top in place.tops]


def _tell(context: NetContext, made: list[Place], output: str | None) -> None:
    """What was done, and what the run needs."""
    say = sys.stderr.write
    if not made:
        say("caffe-guard: every guard is there already; nothing was changed\n")
        return
    count = len(made)
    say(f"caffe-guard: {count} {'guard' if count == 1 else 'guards'} put into {output or context.source.path}\n")
    hiding = sorted(
        {
            place.layer.name
            for net in context.phases
            for place in made
            for layer, entry in zip(net.layers, net.types)
            if layer is place.layer and entry is not None and entry.hides_nan
        }
    )
    if hiding:
        say(f"caffe-guard: {', '.join(hiding)} can hide a NaN that goes in; a guard before it sees more\n")
    from caffe_guard.inject.pack import folder

    where = folder()
    say("caffe-guard: Caffe must be built WITH_PYTHON_LAYER, and find the guard:\n")
    say(f"  export PYTHONPATH={where or 'FOLDER_OF_check_finite_layer.py'}:$PYTHONPATH\n")
