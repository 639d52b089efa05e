"""The command line: one thin module a command, loaded only when it is asked for.

argparse, not click: importing click costs as much as importing protobuf, and `lint` promises to be done in that time.
"""

from __future__ import annotations

import gc
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

# Exit codes of every command.
OK = 0
FOUND = 1
UNUSABLE = 2

# name -> (module, one line of help); what stands here is all that `caffe-guard --help` has to load.
COMMANDS = {
    "lint": ("caffe_guard.cli.lint", "judge solvers and nets before training"),
    "shapes": ("caffe_guard.cli.shapes", "show a net's layers, shapes, cost and gradients"),
    "lr": ("caffe_guard.cli.lr", "show a solver's learning rate over the run"),
    "inject": ("caffe_guard.cli.inject", "put guards into a net that stop at the first NaN"),
    "eject": ("caffe_guard.cli.eject", "take the guards out again"),
    "layers": ("caffe_guard.cli.layers", "list the pack of pycaffe layers"),
    "rules": ("caffe_guard.cli.rules", "list the rules"),
    "explain": ("caffe_guard.cli.explain", "explain a rule: what happens, why, how to fix it"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 fine, 1 something was found, 2 the input cannot be used."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # A run is short and makes few cycles: to look for them again and again in a growing heap costs more than the work.
    # The engine collects between the files of a long run.
    gc.disable()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # Paths and texts may hold what the terminal's encoding cannot show.
            stream.reconfigure(errors="backslashreplace")
    try:
        code = _dispatch(arguments)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader has gone (a pager, head): not our fault. Keep the interpreter from flushing into the closed pipe.
        import os

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        return 130


def _dispatch(arguments: list[str]) -> int:
    if arguments and arguments[0] in COMMANDS:
        name = arguments[0]
        import importlib

        module_name, summary = COMMANDS[name]
        module = importlib.import_module(module_name)
        if name == "lint" and _only_paths(arguments[1:]):
            plain = _PlainArguments()
            module.configure(plain)
            plain.paths = arguments[1:]
            done: int = module.run(plain)
            return done
        import argparse

        parser = argparse.ArgumentParser(
            prog=f"caffe-guard {name}",
            description=getattr(module, "DESCRIPTION", summary),
            formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=_help_width()),
            allow_abbrev=False,
        )
        module.configure(parser)
        try:
            parsed = parser.parse_args(arguments[1:])
        except SystemExit as stop:
            return int(stop.code or 0)
        code: int = module.run(parsed)
        return code
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        sys.stdout.write(_help())
        return OK if arguments else UNUSABLE
    if arguments[0] in ("-V", "--version"):
        from caffe_guard import __version__

        sys.stdout.write(f"caffe-guard {__version__}\n")
        return OK
    return fail(f"unknown command {arguments[0]!r}{_nearest(arguments[0])}; see caffe-guard --help")


def _only_paths(words: list[str]) -> bool:
    return bool(words) and not any(word.startswith("-") and word != "-" for word in words)


class _PlainArguments:
    """What argparse makes of a command line without options, without argparse.

    That is how lint is mostly called, and importing argparse, with the gettext and locale that it brings, takes a tenth
    of the time of such a call.
    """

    paths: list[str]

    def add_argument(self, *names: str, **settings: object) -> None:
        """Take over an option's default."""
        if names[0].startswith("-"):
            name = next(one for one in names if one.startswith("--"))[2:].replace("-", "_")
            default = False if settings.get("action") == "store_true" else None
            setattr(self, name, settings.get("default", default))


def _help_width() -> int:
    """The width for help texts. Left to itself, argparse imports shutil for it, with three compression libraries."""
    import os

    try:
        return max(40, int(os.environ.get("COLUMNS") or os.get_terminal_size().columns) - 2)
    except (OSError, ValueError):
        return 78


def _nearest(word: str) -> str:
    import difflib

    close = difflib.get_close_matches(word, COMMANDS, 1)
    return f", did you mean {close[0]!r}?" if close else ""


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [
        "usage: caffe-guard COMMAND [OPTIONS] …",
        "",
        "Finds what makes a Caffe training turn NaN, stick, or learn nothing.",
        "",
        "commands:",
        *(f"  {name:{width}}  {summary}" for name, (_, summary) in COMMANDS.items()),
        "",
        "  caffe-guard COMMAND --help tells more; caffe-guard --version tells the version.",
        "",
    ]
    return "\n".join(lines)


def fail(message: str) -> int:
    """Say in one line why the input cannot be used; the exit code for that."""
    sys.stderr.write(f"caffe-guard: {message}\n")
    return UNUSABLE


def add_format(parser: argparse.ArgumentParser, *formats: str) -> None:
    """The option that every command has."""
    parser.add_argument("--format", choices=formats, default="text", help="the form of the output (default: text)")
