"""Files: what is to be read, what kind of file it is, where a solver's net lies, and how a file is replaced.

Reading never follows anything out of the file system, and nothing is written but by :func:`replace_file`.
"""

from __future__ import annotations

import os
import re
import stat

from caffe_guard.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from caffe_guard.prototxt.tree import File

# Kinds of text that are bound to a message type …
SOLVER = "solver"
NET = "net"
DEPLOY = "deploy"
# … and kinds that are only named.
LABEL_MAP = "label map"
OTHER = "other text"
EMPTY = "empty file"
NOT_PROTOTXT = "not a prototxt"

# No real prototxt comes near this; the limit keeps a mistyped path to a database from filling the memory.
MOST_BYTES = 256 * 1024 * 1024
_SNIFFED = 8192
# Top-level fields that only one kind of file has (caffe.proto, SolverParameter and NetParameter).
_SOLVER_WORDS = """
net net_param train_net test_net train_net_param test_net_param train_state test_state test_iter test_interval
base_lr display average_loss max_iter iter_size lr_policy gamma power momentum weight_decay
regularization_type stepsize stepvalue clip_gradients snapshot snapshot_prefix snapshot_diff snapshot_format
solver_mode device_id random_seed type delta momentum2 rms_decay snapshot_after_train solver_type
test_initialization test_compute_loss
"""
_SOLVER_FIELDS = frozenset(_SOLVER_WORDS.split())
_NET_FIELDS = frozenset(["layer", "layers", "input", "input_dim", "input_shape", "force_backward", "state"])
_LABEL_MAP_FIELDS = frozenset(("item",))


class InputError(Exception):
    """A file that cannot be judged at all: its path and the reason, one line."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def read_bytes(path: str) -> bytes:
    """The content of a regular file. Raises InputError with a reason a user can act on."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            raise InputError(path, "is a folder")
        if not stat.S_ISREG(status.st_mode) and not stat.S_ISFIFO(status.st_mode):
            raise InputError(path, "is neither a file nor a pipe")
        if status.st_size > MOST_BYTES:
            raise InputError(path, f"is larger than {MOST_BYTES >> 20} MiB; a prototxt is not")
        with open(path, "rb") as stream:
            return stream.read(MOST_BYTES + 1)
    except OSError as error:
        raise InputError(path, (error.strerror or str(error)).lower()) from None
    except ValueError:
        raise InputError(path, "is not a path") from None


def read_source(path: str, shown_path: str | None = None) -> Source:
    """A file's text. Raises InputError."""
    return Source.from_bytes(shown_path or path, read_bytes(path))


def what_it_is_instead(source: Source) -> str | None:
    """What a file is when it is no text format at all, in words, told from its first bytes; None when it may be one."""
    head = source.text[:_SNIFFED]
    start = head.lstrip("\ufeff \t\r\n").lower()
    if start.startswith("version https://git-lfs.github.com/"):
        return "a Git LFS pointer, not the file itself: fetch it with `git lfs pull`"
    if re.match(r"<(!doctype html|html|head|\?xml|!--|svg|body)", start):
        return "a saved web page, not a prototxt: download the raw file"
    if head.startswith(("\x89HDF", "\udc89HDF")):
        return "an HDF5 file (a snapshot or data), not a prototxt"
    if head.startswith(("\x1f\udc8b", "PK\x03\x04")):
        return "a compressed archive, not a prototxt"
    if head.startswith(("\udcff\udcfe", "\udcfe\udcff")) and "\0" in head:
        return "UTF-16 text: Caffe reads prototxt files as UTF-8; save it again in that encoding"
    odd = sum(1 for character in head if (character < " " and character not in "\t\n\r\f\v") or character > "\udc7f")
    zeros = head.count("\0")
    if zeros and odd * 20 > len(head):
        return "a binary file, perhaps a .caffemodel or .binaryproto, not a prototxt"
    return None


def classify(tree: File) -> str:
    """The kind of a parsed text, by the fields at its top level."""
    solver = net = labels = 0
    for field in tree.fields:
        name = field.name
        if name in _NET_FIELDS:
            net += 1
        elif name in _SOLVER_FIELDS:
            solver += 1
        elif name in _LABEL_MAP_FIELDS:
            labels += 1
    if net and net >= solver:
        return NET
    if solver:
        return SOLVER
    if labels:
        return LABEL_MAP
    if not tree.fields and not tree.problems:
        return EMPTY
    # `name: "x"` alone, or only fields of forks.
    return NET if any(field.name in ("name", "debug_info") for field in tree.fields) else OTHER


def walk(path: str) -> list[str]:
    """The prototxt files of a folder and its subfolders, sorted; hidden folders are left out."""
    found: list[str] = []
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found.extend(os.path.join(folder, name) for name in sorted(names) if name.endswith(".prototxt"))
    return found


def find_beside(
    written: str, base_dir: str, exists: Callable[[str], bool] = os.path.isfile
) -> tuple[str | None, list[str]]:
    """Where a path written in a solver leads: as Caffe tries it, then from the solver's folder and its parents.

    Returns the first one that exists (None when none does) and every path that was tried.
    """
    tried: list[str] = []
    if not written or "\0" in written:
        return None, tried
    candidates = [written]
    if not os.path.isabs(written):
        folder = os.path.abspath(base_dir)
        while True:
            beside = os.path.normpath(os.path.join(folder, written))
            candidates.append(beside if os.path.isabs(base_dir) else os.path.relpath(beside))
            parent = os.path.dirname(folder)
            if parent == folder:
                break
            folder = parent
    for candidate in candidates:
        if candidate in tried:
            continue
        tried.append(candidate)
        if exists(candidate):
            return candidate, tried
    return None, tried


def replace_file(path: str, data: bytes) -> None:
    """Write a file so that at every moment the old or the new content is there, whole.

    The data go to a new file beside it, are flushed to the disk, and take the old one's name, owner permitting, and
    mode. A symbolic link stays a link: its target is replaced. Raises OSError.
    """
    target = os.path.realpath(path)
    temporary = f"{target}.caffe-guard-{os.getpid()}.tmp"
    try:
        mode = stat.S_IMODE(os.stat(target).st_mode)
    except FileNotFoundError:
        mode = 0o666 & ~_umask()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, target)
    except BaseException:
        _remove_quietly((temporary,))
        raise
    _sync_folder(os.path.dirname(target))


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


def _remove_quietly(paths: Iterable[str]) -> None:
    for path in paths:
        try:
            os.unlink(path)
        except OSError:
            pass


def _sync_folder(folder: str) -> None:
    """Make the rename itself durable, where the system lets a folder be opened."""
    try:
        descriptor = os.open(folder or ".", os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
