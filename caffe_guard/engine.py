"""From paths to diagnostics: load, group, bind, run the rules in isolation, suppress, sort.

A solver and the nets it names are one job: their dialect is found together, and rules see both. A net that two
solvers name is judged once.
"""

from __future__ import annotations

import os

from caffe_guard import dialect as dialects
from caffe_guard import files
from caffe_guard.diagnostic import Diagnostic, Finding, Fix, Severity
from caffe_guard.prototxt import parse
from caffe_guard.rules import all_rules
from caffe_guard.rules.context import FileContext, LinkedNet, MissingNet, NetContext, SolverContext
from caffe_guard.schema.bind import bind
from caffe_guard.schema.dialects import schema_for
from caffe_guard.source import Source
from caffe_guard.suppress import Suppressions, read_suppressions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from caffe_guard.config import Settings
    from caffe_guard.rules.rule import Rule

_MESSAGE_TYPES = {files.SOLVER: "SolverParameter", files.NET: "NetParameter"}
# Findings of one rule in one file beyond this number are counted, not listed.
_MOST_PER_RULE = 100


class JudgedFile:
    """What a report says of a file: its path, kind, dialect and syntax (V0, V1, V2, or None)."""

    __slots__ = ("dialect", "kind", "path", "syntax")

    def __init__(self, path: str, kind: str, dialect: str | None, syntax: str | None) -> None:
        self.path = path
        self.kind = kind
        self.dialect = dialect
        self.syntax = syntax


class Result:
    """Everything one run found, sorted: by path, then place, then code."""

    __slots__ = ("diagnostics", "files", "judged", "sources", "suppressed")

    def __init__(self) -> None:
        self.files: list[JudgedFile] = []
        self.diagnostics: list[Diagnostic] = []
        self.sources: dict[str, Source] = {}
        self.suppressed = 0
        # How many files could be judged: with none, the exit code says that the input was of no use.
        self.judged = 0

    def merge(self, other: Result) -> None:
        """Take over another run's findings."""
        self.files.extend(other.files)
        self.diagnostics.extend(other.diagnostics)
        self.sources.update(other.sources)
        self.suppressed += other.suppressed
        self.judged += other.judged

    def sort(self) -> None:
        """Put files and diagnostics into the order of every report."""
        self.files.sort(key=lambda file: file.path)
        self.diagnostics.sort(key=Diagnostic.sort_key)

    def count(self, severity: Severity) -> int:
        """How many diagnostics have exactly that severity."""
        return sum(1 for diagnostic in self.diagnostics if diagnostic.severity == severity)


class _Document:
    """A loaded file."""

    __slots__ = ("context", "kind", "source", "tree")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tree = parse(source.text)
        self.kind = files.classify(self.tree)
        self.context: FileContext | None = None


class Job:
    """One group of files that belong together. ``overlay`` gives, by path, texts to use instead of the files' own."""

    def __init__(self, settings: Settings, overlay: dict[str, str] | None = None) -> None:
        self.settings = settings
        self.result = Result()
        self._overlay = {os.path.realpath(path): text for path, text in (overlay or {}).items()}
        self._documents: dict[str, _Document | None] = {}
        self._solvers: list[SolverContext] = []
        self._nets: dict[str, NetContext] = {}
        self._inline: list[NetContext] = []
        self._suppressions: dict[str, Suppressions] = {}
        self._rules = {rule.code: rule for rule in all_rules()}

    # -- loading ------------------------------------------------------------------------------------------------

    def add(self, path: str) -> None:
        """Load an entry file and, for a solver, the nets it names. Faults become findings."""
        document = self._load(path)
        if document is not None and document.kind == files.SOLVER:
            for written in solver_net_paths(document):
                found, _ = files.find_beside(written, os.path.dirname(path), self._exists)
                if found is not None:
                    self._load(found)

    def _exists(self, path: str) -> bool:
        return os.path.realpath(path) in self._overlay or os.path.isfile(path)

    def _load(self, path: str) -> _Document | None:
        key = os.path.realpath(path)
        if key not in self._documents:
            self._documents[key] = self._read(path, self._overlay.get(key))
        return self._documents[key]

    def _read(self, path: str, text: str | None) -> _Document | None:
        try:
            source = files.read_source(path) if text is None else Source(path, text)
        except files.InputError as error:
            empty = Source(path, "")
            self.result.sources[path] = empty
            self._report("CG006", empty, Finding(f"cannot be read: {error.reason}", 0, 0))
            return None
        self.result.sources[path] = source
        instead = files.what_it_is_instead(source)
        if instead is not None:
            self.result.files.append(JudgedFile(path, files.NOT_PROTOTXT, None, None))
            self._report("CG005", source, Finding(f"this is {instead}", 0, 0))
            return None
        document = _Document(source)
        self._suppressions[path] = read_suppressions(source, document.tree)
        self.result.judged += 1
        return document

    # -- binding ------------------------------------------------------------------------------------------------

    def run(self) -> Result:
        """Bind everything that was added, run every rule, and return what was found, sorted."""
        documents = [document for document in self._documents.values() if document is not None]
        self._bind(documents)
        self._link_solvers(documents)
        for document in documents:
            self._judge(document)
        self._report_unused_suppressions()
        self.result.sort()
        return self.result

    def kind_of(self, path: str) -> str | None:
        """What an entry file is; None when it could not be read or is no text format."""
        document = self._documents.get(os.path.realpath(path))
        return None if document is None else document.kind

    def nets_of(self, path: str) -> list[NetContext]:
        """The nets that a file holds, or that it names as a solver: the one it trains first. After :meth:`run`."""
        document = self._documents.get(os.path.realpath(path))
        if document is None:
            return []
        if document.kind == files.NET:
            return [self._net_context(document)]
        found: list[NetContext] = []
        for solver in self._solvers:
            if solver.file is document.context:
                found.extend(linked.net for linked in solver.nets if linked.net is not None)
        return found

    def _bind(self, documents: list[_Document]) -> None:
        bvlc = schema_for(dialects.BVLC)
        bound = {}
        for document in documents:
            type_name = _MESSAGE_TYPES.get(document.kind)
            if type_name is not None:
                bound[id(document)] = bind(document.tree, type_name, bvlc)
        asked = self.settings.dialect
        name = asked
        if asked == dialects.AUTO:
            name = dialects.detect(
                (document.tree, _MESSAGE_TYPES[document.kind], bound[id(document)])
                for document in documents
                if id(document) in bound
            )
        schema = schema_for(name)
        for document in documents:
            first = bound.get(id(document))
            own = first
            if first is not None and name != dialects.BVLC:
                own = bind(document.tree, _MESSAGE_TYPES[document.kind], schema)
            document.context = FileContext(
                document.source, document.tree, document.kind, own, first, schema, name, asked
            )

    def _link_solvers(self, documents: list[_Document]) -> None:
        """Make the contexts of nets and solvers and join them."""
        for document in documents:
            if document.kind == files.NET:
                self._net_context(document)
        for document in documents:
            if document.kind == files.SOLVER:
                self._solvers.append(self._solver_context(document))

    def _net_context(self, document: _Document) -> NetContext:
        from caffe_guard.net.upgrade import build_net

        key = document.source.path
        if key not in self._nets:
            context = document.context
            assert context is not None
            net = build_net(context.message)
            context.syntax = net.syntax
            self._nets[key] = NetContext(context, net, os.path.dirname(key), self.settings.data)
        return self._nets[key]

    def _solver_context(self, document: _Document) -> SolverContext:
        from caffe_guard.net.upgrade import build_net
        from caffe_guard.solver.model import Solver

        context = document.context
        assert context is not None
        base_dir = os.path.dirname(document.source.path)
        solver = SolverContext(context, Solver(context.message), base_dir)
        missing: dict[int, MissingNet] = {}
        inline: dict[int, NetContext] = {}
        for source in solver.solver.net_sources():
            net: NetContext | None = None
            found: str | None = None
            kind: str | None = None
            if source.inline is not None:
                net = inline.get(id(source.value))
                if net is None:
                    net = NetContext(context, build_net(source.inline), base_dir, self.settings.data, inline=True)
                    inline[id(source.value)] = net
                    self._inline.append(net)
            elif source.path is not None:
                found, looked = files.find_beside(source.path, base_dir, self._exists)
                if found is None:
                    missing.setdefault(id(source.value), MissingNet(source.field, source.value, looked))
                else:
                    linked_document = self._load(found)
                    if linked_document is not None:
                        kind = linked_document.kind
                        if kind == files.NET:
                            net = self._net_context(linked_document)
            inline_net = source.inline is not None
            solver.nets.append(
                LinkedNet(source.role, source.index, source.field, source.value, found, net, inline_net, kind)
            )
            if net is not None and solver not in net.solvers:
                net.solvers.append(solver)
        solver.missing_nets.extend(missing.values())
        return solver

    # -- judging ------------------------------------------------------------------------------------------------

    def _judge(self, document: _Document) -> None:
        context = document.context
        assert context is not None
        path = document.source.path
        net = self._nets.get(path)
        kind = document.kind
        if net is not None and net.is_deploy:
            kind = files.DEPLOY
        dialect = context.dialect if context.bound is not None else None
        self.result.files.append(JudgedFile(path, kind, dialect, context.syntax))
        contexts: list[Any] = [context]
        contexts.extend(solver for solver in self._solvers if solver.file is context)
        contexts.extend(inline for inline in self._inline if inline.file is context)
        if net is not None:
            contexts.append(net)
        for one in contexts:
            for rule in all_rules():
                if rule.scope == one.scope and self.settings.selects(rule.code, rule.name):
                    self._run(rule, one)

    def _run(self, rule: Rule, context: Any) -> None:
        source: Source = context.source
        seen: set[object] = set()
        try:
            for finding in rule.check(context):
                # Several phases of a net reach the same fault: it is told once.
                key = (finding.source and finding.source.path, finding.start, finding.end, finding.message)
                if key in seen:
                    continue
                seen.add(key)
                if len(seen) > _MOST_PER_RULE:
                    text = f"more findings of {rule.code} in this file are not listed"
                    self._report(rule.code, source, Finding(text, finding.start, finding.start, severity=Severity.INFO))
                    break
                if finding.layer is None and isinstance(context, NetContext):
                    finding.layer = context.net.layer_name_at(finding.start)
                self._report(rule.code, finding.source or source, finding)
        except Exception as error:  # a fault of ours must not hide the other rules' findings
            words = f"{type(error).__name__}: {error}"
            self._report("CG000", source, Finding(f"the rule {rule.code} {rule.name} failed: {words}", 0, 0))

    def _report(self, code: str, source: Source, finding: Finding) -> None:
        rule = self._rules[code]
        if not self.settings.selects(code, rule.name):
            return
        suppressions = self._suppressions.get(source.path)
        if suppressions is not None and suppressions.all and _silence(finding, suppressions, code, rule.name):
            self.result.suppressed += 1
            return
        severity = self.settings.severity_of(code, rule.name)
        if severity is None:
            severity = rule.severity if finding.severity is None else finding.severity
        self.result.diagnostics.append(Diagnostic(code, rule.name, severity, source, finding))

    def _report_unused_suppressions(self) -> None:
        from caffe_guard.rules.engine import unknown_suppression, unused_suppression

        for path, suppressions in self._suppressions.items():
            source = self.result.sources[path]
            for suppression in suppressions.all:
                for finding in unknown_suppression.judge(suppression, source):
                    self._report("CG008", source, finding)
                if self.settings.select or self.settings.ignore:
                    # With only some rules run, nothing can be said about a comment that silenced none of them.
                    continue
                for finding in unused_suppression.judge(suppression, source):
                    self._report("CG007", source, finding)


def _silence(finding: Finding, suppressions: Suppressions, code: str, name: str) -> bool:
    """Whether comments silence a finding at all its places; where they silence some, it moves to what is left."""
    places = ((finding.start, finding.end), *finding.others)
    left = [place for place in places if not suppressions.cover(place[0], code, name)]
    if left and len(left) < len(places):
        finding.start, finding.end = left[0]
        if finding.fix is not None:
            edits = [edit for edit in finding.fix.edits if not suppressions.cover(edit.start, code, name)]
            finding.fix = Fix(finding.fix.description, edits, finding.fix.safe) if edits else None
    return not left


def solver_net_paths(document: _Document) -> list[str]:
    """The net paths that a solver's text names, each once, in order."""
    from caffe_guard.prototxt import tree
    from caffe_guard.prototxt.values import string_value

    paths: dict[str, None] = {}
    for field in document.tree.fields:
        if field.name in ("net", "train_net", "test_net") and field.kind is tree.STRING:
            try:
                paths[string_value(document.source.text[field.start : field.end])] = None
            except ValueError:
                continue
    return list(paths)


def expand(paths: Iterable[str], settings: Settings) -> tuple[list[str], list[tuple[str, str]]]:
    """The files that paths stand for, folders walked; and (path, reason) for what holds nothing to judge."""
    found: dict[str, str] = {}
    empty: list[tuple[str, str]] = []
    for path in paths:
        if os.path.isdir(path):
            inside = [file for file in files.walk(path) if not _excluded(file, settings.exclude)]
            if not inside:
                empty.append((path, "the folder holds no .prototxt file"))
            for file in inside:
                found.setdefault(os.path.realpath(file), file)
        else:
            found.setdefault(os.path.realpath(path), path)
    return list(found.values()), empty


def _excluded(path: str, patterns: tuple[str, ...]) -> bool:
    if not patterns:
        return False
    import fnmatch

    plain = path[2:] if path.startswith("./") else path
    return any(fnmatch.fnmatch(plain, pattern) for pattern in patterns)


def group(paths: list[str]) -> list[list[str]]:
    """Paths in groups that must be judged together: solvers with the nets they name, solvers of one net together."""
    parent = {os.path.realpath(path): os.path.realpath(path) for path in paths}

    def root(key: str) -> str:
        while parent[key] != key:
            parent[key] = parent[parent[key]]
            key = parent[key]
        return key

    if len(paths) > 1:
        for path in paths:
            for net in _named_nets(path):
                key = os.path.realpath(net)
                parent.setdefault(key, key)
                parent[root(key)] = root(os.path.realpath(path))
    groups: dict[str, list[str]] = {}
    for path in paths:
        groups.setdefault(root(os.path.realpath(path)), []).append(path)
    return list(groups.values())


# Solvers are short; a longer file is a net, and need not be read to find its group.
_LONGEST_SOLVER = 64 * 1024


def _named_nets(path: str) -> list[str]:
    try:
        if os.path.getsize(path) > _LONGEST_SOLVER:
            return []
        source = files.read_source(path)
    except (OSError, ValueError, files.InputError):
        return []
    if "net" not in source.text or files.what_it_is_instead(source) is not None:
        return []
    document = _Document(source)
    if document.kind != files.SOLVER:
        return []
    found = (files.find_beside(written, os.path.dirname(path))[0] for written in solver_net_paths(document))
    return [net for net in found if net is not None]


def lint_group(paths: list[str], settings: Settings, overlay: dict[str, str] | None = None) -> Result:
    """Judge files that belong together."""
    job = Job(settings, overlay)
    for path in paths:
        job.add(path)
    return job.run()


# Below this much text, starting processes costs more than it gains.
_PARALLEL_BYTES = 2 * 1024 * 1024
# Text judged between two collections of garbage: at some fifty bytes of objects a byte, a few hundred megabytes.
_COLLECTED_BYTES = 4 * 1024 * 1024


def lint(paths: Iterable[str], settings: Settings, overlay: dict[str, str] | None = None, jobs: int = 0) -> Result:
    """Judge files and folders. ``jobs`` is the number of processes: 0 lets the size of the work decide."""
    entries, empty = expand(paths, settings)
    groups = group(entries)
    result = Result()
    for path, reason in empty:
        result.sources[path] = Source(path, "")
        rule = next(rule for rule in all_rules() if rule.code == "CG006")
        result.diagnostics.append(
            Diagnostic(rule.code, rule.name, rule.severity, result.sources[path], Finding(reason, 0, 0))
        )
    if jobs == 0:
        large = len(groups) > 1 and sum(_size(path) for path in entries) > _PARALLEL_BYTES
        jobs = min(os.cpu_count() or 1, len(groups)) if large else 1
    if jobs > 1 and len(groups) > 1:
        for part in _in_processes(groups, settings, overlay, jobs):
            result.merge(part)
    else:
        result.merge(_lint_groups(groups, settings, overlay))
    result.sort()
    return result


def _size(path: str) -> int:
    try:
        return os.path.getsize(path)
    except (OSError, ValueError):
        return 0


def _in_processes(
    groups: list[list[str]], settings: Settings, overlay: dict[str, str] | None, jobs: int
) -> Iterable[Result]:
    from concurrent.futures import ProcessPoolExecutor

    # Chunks of several groups: a net takes milliseconds, and passing work to a process is not free either.
    size = max(1, len(groups) // (jobs * 8))
    chunks = [groups[index : index + size] for index in range(0, len(groups), size)]
    with ProcessPoolExecutor(max_workers=jobs) as executor:
        futures = [executor.submit(_lint_groups, chunk, settings, overlay) for chunk in chunks]
        for future in futures:
            yield future.result()


def _lint_groups(groups: list[list[str]], settings: Settings, overlay: dict[str, str] | None) -> Result:
    result = Result()
    since = 0
    for one in groups:
        result.merge(lint_group(one, settings, overlay))
        # A job's contexts refer to each other. The collector may be off (see the command line): then it is done here.
        since += sum(_size(path) for path in one)
        if since > _COLLECTED_BYTES:
            import gc

            gc.collect()
            since = 0
    return result
