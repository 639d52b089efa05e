"""The judge's server: real Caffe answers one JSON request a line, each in a forked child.

Runs where Caffe is (inside the Debian root, or under a Python that can `import caffe`), Python 3.7 or newer.
A failed check of Caffe's ends the process, so every request has a child of its own, a scratch folder as its
working directory and its stderr in a file; the server reads that log when the child is gone, however it went.

Request:  {"ask": "net"|"forward"|"solve"|"rates"|"parse"|"make", "files": {...}, "timeout": seconds, ...}
Answer:   {"result": ..., "message", "file", "line", "signal", "exit", "log", "stdout", ...}; see judge.py.
"""

from __future__ import annotations

import base64
import fnmatch
import gc
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
import traceback

import caffe

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import ask_net  # noqa: E402
import ask_solver  # noqa: E402
import ask_text  # noqa: E402
import glog  # noqa: E402
import make_data  # noqa: E402

ASK = {
    "net": ask_net.net,
    "forward": ask_net.forward,
    "solve": ask_solver.solve,
    "rates": ask_solver.rates,
    "parse": ask_text.parse,
    "make": lambda request: {"result": "made"},
}
LOG_LIMIT = 64 << 20  # bytes of a log that are read back; a longer one is cut in its middle


def child(request, scratch, answer):
    """Answer one request in this process: result to the pipe `answer`, log to the scratch folder's files."""
    os.setsid()
    for target, name in ((1, ".stdout"), (2, ".stderr")):
        handle = os.open(scratch + name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        os.dup2(handle, target)
        os.close(handle)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.chdir(scratch)
    sys.path.insert(0, scratch)
    os.environ["PYTHONPATH"] = scratch
    code = 0
    try:
        make_data.write_files(request.get("files") or {})
        caffe.set_mode_cpu()
        if request.get("seed") is not None:
            caffe.set_random_seed(int(request["seed"]))
        result = ASK[request["ask"]](request)
    except make_data.Unavailable as error:
        result = {"result": "unavailable", "message": str(error)}
    except BaseException as error:  # also SystemExit out of a Python layer
        traceback.print_exc()
        result = {"result": "aborts", "message": f"{type(error).__name__}: {error}", "raised": True}
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    data = json.dumps(result).encode()
    while data:
        data = data[os.write(answer, data) :]
    os._exit(code)


def wait(pid, pipe, limit):
    """Read the child's answer and reap it: (bytes, wait status, timed out)."""
    chunks, deadline, late = [], time.monotonic() + limit, False
    while True:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            late = True
            break
        chunk = os.read(pipe, 1 << 16)
        if not chunk:
            break
        chunks.append(chunk)
    if late:
        for target in (pid, -pid):  # the group too: the child may run the caffe binary
            try:
                os.kill(target, signal.SIGKILL)
            except OSError:
                pass
    return b"".join(chunks), os.waitpid(pid, 0)[1], late


def read_log(path):
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            data = stream.read(LOG_LIMIT // 2)
            if size > LOG_LIMIT:
                stream.seek(size - LOG_LIMIT // 2)
            data += stream.read()
    except OSError:
        return ""
    return data.decode("utf-8", "surrogateescape")


def collect(scratch, patterns):
    """The files of the scratch folder that match a pattern, as {name: base64}."""
    found = {}
    for folder, _, names in os.walk(scratch):
        for name in names:
            path = os.path.join(folder, name)
            short = os.path.relpath(path, scratch)
            if any(fnmatch.fnmatch(short, pattern) for pattern in patterns):
                with open(path, "rb") as stream:
                    found[short] = base64.b64encode(stream.read()).decode()
    return found


def answer(request, base):
    scratch = tempfile.mkdtemp(prefix="q", dir=base)
    read_end, write_end = os.pipe()
    try:
        pid = os.fork()
        if pid == 0:
            try:
                os.close(read_end)
                child(request, scratch, write_end)
            finally:
                os._exit(70)
        os.close(write_end)
        data, status, late = wait(pid, read_end, float(request.get("timeout") or 60))
        log = read_log(scratch + ".stderr")
        result = {"result": None, "message": None, "file": None, "line": None, "signal": None, "exit": None}
        try:
            result.update(json.loads(data.decode()))
        except ValueError:
            pass  # the child died before it could answer
        if late:
            result["result"] = "timeout"
        elif os.WIFSIGNALED(status):
            result["result"] = "aborts"
            result["signal"] = signal.Signals(os.WTERMSIG(status)).name
        elif result["exit"] is None:
            result["exit"] = os.WEXITSTATUS(status)
        if result["result"] in ("aborts", None):
            result["result"] = "aborts"
            found = glog.fatal(log)
            if found:
                result.update(found)
            elif not result["message"]:
                result["message"] = "died of " + str(result["signal"] or result["exit"])
        if request["ask"] in ("net", "forward"):
            result.setdefault("layers", [])
            result.update(ask_net.from_log(log, result["layers"]))
        elif request["ask"] == "parse":
            result.setdefault("problems", ask_text.problems(log))
        elif request["ask"] == "solve":
            result.update(ask_solver.from_log(log, result))
        if request.get("collect") is not None:
            result["collected"] = collect(scratch, request["collect"])
        aborted = result["result"] in ("aborts", "timeout", "rejects")
        result["log"] = log if request.get("log") else log[-8000:] if aborted else ""
        result["stdout"] = read_log(scratch + ".stdout")[-200000:]
        return result
    finally:
        os.close(read_end)
        shutil.rmtree(scratch, ignore_errors=True)
        for name in (".stdout", ".stderr"):
            if os.path.exists(scratch + name):
                os.unlink(scratch + name)


def main():
    # Requests come on stdin, answers go to the stdout we were started with; nothing else may write there.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    base = tempfile.mkdtemp(prefix="caffe-guard-judge-")
    try:
        hello = {
            "ready": True,
            "caffe": caffe.__version__,
            "python": sys.version.split()[0],
            "layer_types": sorted(caffe.layer_type_list()),
        }
        out.write(json.dumps(hello) + "\n")
        out.flush()
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        gc.collect()
        gc.freeze()  # a collection in the child would touch, and so copy, every page of ours
        while True:
            line = sys.stdin.readline()
            if not line:
                break
            out.write(json.dumps(answer(json.loads(line), base)) + "\n")
            out.flush()
    finally:
        shutil.rmtree(base, ignore_errors=True)
        if os.path.basename(HERE).startswith("caffe-guard-worker-"):  # our own copy inside the root
            shutil.rmtree(HERE, ignore_errors=True)


if __name__ == "__main__":
    main()
