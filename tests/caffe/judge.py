"""Real Caffe as the judge: what it does with a net or a solver, asked from tests.

    judge = Judge.find()                 # None where no Caffe is found; in tests use the `judge` fixture
    judge.net('layer {...}').result      # "builds" | "aborts"

Caffe is found, in this order: the Debian root named by CAFFE_GUARD_CAFFE_ROOT, the root that `make caffe` builds in
build/caffe-root, a Caffe that this Python can import. One server process (worker.py) holds Caffe and answers each
question in a forked child, so that an abort or a crash of Caffe's costs nothing but its child.

Text may hold any bytes (decoded with surrogateescape). `files` puts files beside the net: {name: str | bytes | dict},
the dicts (LMDB, LevelDB, HDF5, caffemodel, binaryproto) as make_data.py says; the working directory is a fresh folder
and is on Python's path, so a Python layer's module is just another file.
"""

from __future__ import annotations

import base64
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Tuple, Union

HERE = os.path.dirname(os.path.abspath(__file__))
PROJECT = os.path.dirname(os.path.dirname(HERE))
STAMP = ".caffe-guard-complete"  # written last by tools/make_caffe_root.sh
Content = Union[str, bytes, Dict[str, Any]]
Files = Optional[Dict[str, Content]]


class JudgeError(RuntimeError):
    """The judge itself failed: its server did not start, or died."""


@dataclass
class Verdict:
    """What became of one question.

    result: see each question; "aborts" (a failed check, an exception, a signal) and "timeout" are possible everywhere.
    message, file, line: Caffe's last fatal log line, e.g. "Check failed: ...", "pooling_layer.cpp", 84; for a Python
        or C++ exception its text, file None.
    signal: name of the signal that ended it ("SIGABRT" for a failed check), or None; exit: exit status, or None.
    log: Caffe's log, in full if asked by log=True, else its end if it aborted; stdout: what was printed.
    collected: the files asked for by collect=("pattern", ...).
    data: the whole answer as it came from worker.py.
    """

    result: str
    message: Optional[str] = None
    file: Optional[str] = None
    line: Optional[int] = None
    signal: Optional[str] = None
    exit: Optional[int] = None
    log: str = ""
    stdout: str = ""
    collected: Dict[str, bytes] = field(default_factory=dict)
    data: Dict[str, Any] = field(default_factory=dict, repr=False)


@dataclass
class LayerSeen:
    """A layer as Caffe built it; Caffe's own Split layers are left out and named by what they split."""

    name: str
    type: str
    bottoms: List[str]
    tops: List[str]
    bottom_shapes: List[List[int]]
    top_shapes: List[List[int]]
    param_shapes: List[List[int]]
    loss_weights: List[float]
    need_backward: Optional[bool]


@dataclass
class NetVerdict(Verdict):
    """result "builds" | "aborts"; creating_layer: the last layer Caffe began; set_up: as far as an abort let it come
    ([{"name","bottoms","tops","top_shapes"}]); inputs, outputs: blob names of the net."""

    creating_layer: Optional[str] = None
    layers: List[LayerSeen] = field(default_factory=list)
    set_up: List[Dict[str, Any]] = field(default_factory=list)
    inputs: List[str] = field(default_factory=list)
    outputs: List[str] = field(default_factory=list)

    def layer(self, name: str) -> LayerSeen:
        """The first layer of that name."""
        return next(layer for layer in self.layers if layer.name == name)


@dataclass
class ForwardVerdict(NetVerdict):
    """result "finite" | "garbage" (a -FLT_MAX, as an empty max-pooling window leaves) | "nan" (NaN or infinity) | "aborts".

    first_bad: {"iteration","pass":"forward"|"backward","layer","what":"top"|"bottom"|"param","index","result","counts"}.
    blobs, diffs: {blob: {"size","nan","inf","lowest","min","max","mean","std"}} after the last iteration;
    param_diffs: {layer: [the same]}; values: {blob: flat list} for the blobs asked for.
    """

    first_bad: Optional[Dict[str, Any]] = None
    blobs: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    diffs: Dict[str, Dict[str, Any]] = field(default_factory=dict)
    param_diffs: Dict[str, List[Dict[str, Any]]] = field(default_factory=dict)
    values: Dict[str, List[float]] = field(default_factory=dict)


@dataclass
class SolveVerdict(Verdict):
    """result "finite" | "nan" (a loss or rate that is not finite, or a weight) | "aborts".

    lrs: [(iteration, rate)], float32-exact with pycaffe, as displayed (6 digits, needs `display`) with the binary or the
    multistep policy; losses: as displayed (smoothed); step_losses: each iteration's own (pycaffe only);
    outputs: displayed "net output" lines, {"iteration","phase","net","index","name","value"}; they don't sway the result.
    first_bad: {"iteration","what":"loss"|"lr"|"weight","layer"}; bad_weights: [{"layer","index","nan","inf",...}] at the end;
    weights_sha256: of all weights at the end, to compare two runs bit for bit (binary: of the last snapshot).
    """

    iterations: Optional[int] = None
    lrs: List[Tuple[int, float]] = field(default_factory=list)
    logged_lrs: List[Tuple[int, float]] = field(default_factory=list)
    losses: List[Tuple[int, float]] = field(default_factory=list)
    step_losses: List[Tuple[int, float]] = field(default_factory=list)
    outputs: List[Dict[str, Any]] = field(default_factory=list)
    first_bad: Optional[Dict[str, Any]] = None
    bad_weights: List[Dict[str, Any]] = field(default_factory=list)
    weights_sha256: Optional[str] = None
    snapshots: List[str] = field(default_factory=list)
    creating_layer: Optional[str] = None
    timed_out: bool = False


@dataclass
class ParseVerdict(Verdict):
    """result "parses" | "rejects" | "aborts"; problems: [{"line","column","message"}], counted from 1 (or None);
    text: what Caffe read (upgraded if asked), printed by Caffe; reader: "caffe", or "python" where Caffe hides its own."""

    problems: List[Dict[str, Any]] = field(default_factory=list)
    text: str = ""
    reader: str = "caffe"


def _jsonable(files: Files) -> Dict[str, Any]:
    done: Dict[str, Any] = {}
    for name, content in (files or {}).items():
        done[name] = {"base64": base64.b64encode(content).decode()} if isinstance(content, bytes) else content
    return done


def _fill(kind: Any, answer: Dict[str, Any]) -> Any:
    """A verdict of the given class from the worker's answer."""
    known = kind.__dataclass_fields__
    values = {key: value for key, value in answer.items() if key in known and key not in ("collected", "layers")}
    verdict = kind(data=answer, **values)
    verdict.collected = {name: base64.b64decode(text) for name, text in answer.get("collected", {}).items()}
    if "layers" in known:
        verdict.layers = [LayerSeen(**layer) for layer in answer.get("layers", [])]
    for name in ("lrs", "logged_lrs", "losses", "step_losses"):
        if name in known:
            setattr(verdict, name, [(iteration, value) for iteration, value in answer.get(name) or []])
    return verdict


_ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "PYTHONUNBUFFERED": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "GLOG_logtostderr": "1",  # the binary would else leave its logs in /tmp
    "HDF5_USE_FILE_LOCKING": "FALSE",
}
_ENTER = 'mount -t proc proc "$0/proc" 2>/dev/null; exec chroot "$0" "$@"'


class Judge:
    """A running Caffe. Questions are answered one at a time; the object may be shared between threads."""

    def __init__(self, root: Optional[str] = None) -> None:
        """root: the Debian root that holds Caffe, or None to use the Caffe of this Python."""
        self.root = root
        self.caffe = self.python = ""
        self.layer_types: List[str] = []
        self._lock = threading.Lock()
        self._server: Optional[subprocess.Popen[str]] = None
        self._errors = tempfile.TemporaryFile(mode="w+")  # noqa: SIM115

    @classmethod
    def find(cls) -> Optional[Judge]:
        """The judge of this machine, started; None where there is no Caffe (or it can't be entered)."""
        for root in (os.environ.get("CAFFE_GUARD_CAFFE_ROOT"), os.path.join(PROJECT, "build", "caffe-root"), None):
            if root is not None and not os.path.exists(os.path.join(root, STAMP)):
                continue
            judge = cls(root)
            try:
                judge.start()
            except JudgeError:
                judge.close()
                continue
            return judge
        return None

    def start(self) -> None:
        """Start the server if it isn't running; JudgeError if that fails."""
        if self._server is not None and self._server.poll() is None:
            return
        reasons = []
        for command in self._commands():
            self._errors.seek(0)
            self._errors.truncate()
            environment = dict(os.environ, **_ENVIRONMENT) if self.root is None else _ENVIRONMENT
            if self.root is None:
                environment["PATH"] = os.environ.get("PATH", "") or _ENVIRONMENT["PATH"]
            try:
                self._server = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=self._errors,
                    env=environment,
                    encoding="utf-8",
                )
            except OSError as error:
                reasons.append(str(error))
                continue
            assert self._server.stdout is not None
            hello = self._server.stdout.readline()
            if hello:
                told = json.loads(hello)
                self.caffe, self.python, self.layer_types = told["caffe"], told["python"], told["layer_types"]
                return
            self._server.wait()
            self._errors.seek(0)
            reasons.append(f"{' '.join(command[:3])} ...: {self._errors.read().strip()[-500:]}")
        self._server = None
        raise JudgeError("no Caffe answers: " + "; ".join(reasons))

    def _commands(self) -> List[List[str]]:
        """Ways to start the server, best first."""
        if self.root is None:
            return [[sys.executable, os.path.join(HERE, "worker.py")]]
        root = os.path.abspath(self.root)
        folder = tempfile.mkdtemp(prefix="caffe-guard-worker-", dir=os.path.join(root, "tmp"))
        for path in glob.glob(os.path.join(HERE, "*.py")):
            shutil.copy(path, folder)
        worker = ["/usr/bin/python3", os.path.join("/tmp", os.path.basename(folder), "worker.py")]
        private = ["unshare", "--mount", "--propagation", "private"]  # its /proc goes when it goes
        entered = ["sh", "-c", _ENTER, root, *worker]
        if os.geteuid() == 0:
            return [[*private, *entered], ["chroot", root, *worker]]
        return [["unshare", "--user", "--map-root-user", *private[1:], *entered]]

    def close(self) -> None:
        """End the server; it removes its own files."""
        if self._server is not None and self._server.poll() is None:
            assert self._server.stdin is not None
            self._server.stdin.close()
            try:
                self._server.wait(10)
            except subprocess.TimeoutExpired:
                self._server.kill()
                self._server.wait()
        self._server = None

    def ask(self, question: str, **request: Any) -> Dict[str, Any]:
        """Send a raw request and return the raw answer; the methods below are the way for tests."""
        request["ask"] = question
        line = json.dumps(request) + "\n"
        with self._lock:
            self.start()
            server = self._server
            assert server is not None and server.stdin is not None and server.stdout is not None
            try:
                server.stdin.write(line)
                server.stdin.flush()
                answer = server.stdout.readline()
            except BrokenPipeError:
                answer = ""
            if not answer:
                self._errors.seek(0)
                raise JudgeError("the judge's server died: " + self._errors.read()[-2000:])
        told: Dict[str, Any] = json.loads(answer)
        if told["result"] == "unavailable":
            raise JudgeError(told["message"])
        return told

    def net(
        self,
        text: str,
        phase: str = "TRAIN",
        level: int = 0,
        stages: Sequence[str] = (),
        files: Files = None,
        weights: Optional[str] = None,
        seed: Optional[int] = 1,
        timeout: float = 60,
        log: bool = False,
    ) -> NetVerdict:
        """Build a net (Net::Init). weights: a file among `files` to copy trained layers from."""
        answer = self.ask(
            "net", text=text, phase=phase, level=level, stages=list(stages), files=_jsonable(files), weights=weights,
            seed=seed, timeout=timeout, log=log,
        )  # fmt: skip
        return _fill(NetVerdict, answer)  # type: ignore[no-any-return]

    def forward(
        self,
        text: str,
        phase: str = "TRAIN",
        level: int = 0,
        stages: Sequence[str] = (),
        files: Files = None,
        weights: Optional[str] = None,
        iterations: int = 1,
        backward: bool = False,
        inputs: Optional[Dict[str, Any]] = None,
        input_seed: int = 1,
        values: Sequence[str] = (),
        seed: Optional[int] = 1,
        timeout: float = 60,
        log: bool = False,
    ) -> ForwardVerdict:
        """Build and run a net. inputs: {blob: "gaussian" (what Input layers get unless told) | "uniform" | number | list};
        values: blobs whose numbers are wanted back."""
        answer = self.ask(
            "forward", text=text, phase=phase, level=level, stages=list(stages), files=_jsonable(files),
            weights=weights, iterations=iterations, backward=backward, inputs=inputs or {}, input_seed=input_seed,
            values=list(values), seed=seed, timeout=timeout, log=log,
        )  # fmt: skip
        return _fill(ForwardVerdict, answer)  # type: ignore[no-any-return]

    def solve(
        self,
        text: Optional[str] = None,
        files: Files = None,
        path: str = "solver.prototxt",
        steps: int = 1,
        mode: str = "pycaffe",
        arguments: Sequence[str] = (),
        cpu: bool = True,
        weights: Optional[str] = None,
        restore: Optional[str] = None,
        snapshot: bool = False,
        collect: Sequence[str] = (),
        seed: Optional[int] = 1,
        timeout: float = 60,
        log: bool = False,
    ) -> SolveVerdict:
        """Train. The solver is `text` written to `path`, or the file `path` among `files`.

        mode "pycaffe": caffe.get_solver(path).step(steps). mode "binary": `caffe train --solver=path arguments...`, which
        knows max_iter only (`steps` is not used); a run cut at the time limit is judged by what it had logged (timed_out).
        cpu: replace `solver_mode: GPU` for the binary, which has no GPU here. collect: patterns of files to bring back.
        """
        request: Dict[str, Any] = {} if text is None else {"text": text}
        answer = self.ask(
            "solve", files=_jsonable(files), path=path, steps=steps, mode=mode, arguments=list(arguments), cpu=cpu,
            weights=weights, restore=restore, snapshot=snapshot, collect=list(collect), seed=seed, timeout=timeout,
            log=log, **request,
        )  # fmt: skip
        return _fill(SolveVerdict, answer)  # type: ignore[no-any-return]

    def rates(self, text: str, iterations: Sequence[int], timeout: float = 60) -> Dict[int, float]:
        """The learning rate Caffe uses at each of `iterations` (float32 exact); JudgeError if Caffe aborts on the policy."""
        answer = self.ask("rates", text=text, iterations=list(iterations), timeout=timeout)
        if "rates" not in answer:
            raise JudgeError(f"{answer['result']} {answer['signal']}: {answer['message']}")
        return {int(iteration): float(rate) for iteration, rate in answer["rates"]}

    def parse(self, text: str, kind: str = "NetParameter", upgrade: bool = False, timeout: float = 60) -> ParseVerdict:
        """Give a text to Caffe's own reader. upgrade: also upgrade it as training does (V0/V1/inputs/solver type)."""
        answer = self.ask("parse", text=text, kind=kind, upgrade=upgrade, timeout=timeout)
        return _fill(ParseVerdict, answer)  # type: ignore[no-any-return]

    def make(self, files: Dict[str, Content], collect: Sequence[str] = ("*",)) -> Dict[str, bytes]:
        """Write files (LMDB, LevelDB, HDF5, caffemodel, ...) with Caffe's libraries and bring them back as bytes."""
        answer = self.ask("make", files=_jsonable(files), collect=list(collect))
        if answer["result"] != "made":
            raise JudgeError(str(answer["message"]))
        return {name: base64.b64decode(content) for name, content in answer["collected"].items()}
