"""The form of a rule: one module with a page, examples and one function.

A rule module has

* a docstring, which *is* its ``explain`` page: the first line says what is wrong, then paragraphs under the headings
  ``What happens``, ``How to fix`` and, as they apply, ``Why it matters``, ``When it is fine`` and ``Source``;
* ``CODE``, ``NAME``, ``SEVERITY``, ``SCOPE`` and ``SINCE``;
* ``BAD`` and ``GOOD``: tuples of :class:`Example`, which the tests lint and, where they say what Caffe does, run;
* ``check(ctx)``, a generator of findings. It holds no state and changes nothing it is given.

``SCOPE`` is ``"file"``, ``"solver"`` or ``"net"``: the kind of context that ``check`` takes (``context.py``); a rule
of scope ``"engine"`` is reported by the engine itself, and its module holds its page and examples only.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

    from caffe_guard.diagnostic import Finding, Severity

SCOPES = ("file", "solver", "net", "engine")
CAFFE_RESULTS = (None, "aborts", "nan", "garbage", "finite")


class Example:
    """A small input and what must come of it.

    ``text`` is the file the rule judges: ``solver.prototxt`` for a solver rule, else ``net.prototxt``. ``files`` are
    the files beside it, by name; when one of them is ``solver.prototxt``, linting starts there.
    ``expect`` lists this rule's findings in order: a line, or (line, severity label); a finding in another file is
    (line, severity, file name). ``fixed`` is the text after all fixes of this rule, unsafe ones too.
    ``caffe`` is what real Caffe does with it: ``aborts``, ``nan``, ``garbage`` (a finite but meaningless number such
    as -FLT_MAX), ``finite``, or None when it is not asked. ``phase`` is the net's phase for that.
    """

    __slots__ = ("caffe", "dialect", "expect", "files", "fixed", "phase", "text")

    def __init__(
        self,
        text: str,
        expect: Iterable[Any] = (),
        fixed: str | None = None,
        caffe: str | None = None,
        files: dict[str, str] | None = None,
        phase: str = "TRAIN",
        dialect: str = "auto",
    ) -> None:
        self.text = text
        self.expect = tuple(expect)
        self.fixed = fixed
        self.caffe = caffe
        self.files = files or {}
        self.phase = phase
        self.dialect = dialect


class Rule:
    """A loaded rule module, its form checked."""

    __slots__ = ("bad", "check", "code", "good", "module_name", "name", "page", "scope", "severity", "since")

    def __init__(self, module: Any) -> None:
        self.module_name: str = module.__name__
        for attribute in ("CODE", "NAME", "SEVERITY", "SCOPE", "SINCE", "BAD", "GOOD", "__doc__"):
            if getattr(module, attribute, None) is None:
                raise TypeError(f"the rule module {self.module_name} has no {attribute}")
        self.code: str = module.CODE
        self.name: str = module.NAME
        self.severity: Severity = module.SEVERITY
        self.scope: str = module.SCOPE
        self.since: str = module.SINCE
        self.bad: tuple[Example, ...] = module.BAD
        self.good: tuple[Example, ...] = module.GOOD
        self.page: str = module.__doc__
        if self.scope not in SCOPES:
            raise TypeError(f"the rule module {self.module_name} has SCOPE {self.scope!r}; one of {SCOPES} is meant")
        self.check: Callable[[Any], Iterator[Finding]] = getattr(module, "check", _nothing)

    @property
    def summary(self) -> str:
        """The page's first line."""
        return self.page.strip().split("\n", 1)[0].strip()

    @property
    def fixable(self) -> bool:
        """Whether some bad example shows a fixed text."""
        return any(example.fixed is not None for example in self.bad)

    def __repr__(self) -> str:
        return f"Rule({self.code} {self.name})"


def _nothing(context: Any) -> Iterator[Finding]:
    return iter(())
