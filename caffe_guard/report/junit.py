"""JUnit XML: one test case a file; its findings at or above the failing severity are failures, others its output."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from caffe_guard.diagnostic import Severity

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.diagnostic import Diagnostic
    from caffe_guard.engine import Result

# What XML 1.0 cannot hold, however it is escaped.
_NOT_XML = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(result: Result, fail_on: Severity) -> str:
    """The XML text."""
    by_path: dict[str, list[Diagnostic]] = {file.path: [] for file in result.files}
    for diagnostic in result.diagnostics:
        by_path.setdefault(diagnostic.source.path, []).append(diagnostic)
    suites = ElementTree.Element("testsuites", name="caffe-guard")
    suite = ElementTree.SubElement(suites, "testsuite", name="caffe-guard lint", tests=str(len(by_path)), errors="0")
    failed = 0
    for path, diagnostics in sorted(by_path.items()):
        case = ElementTree.SubElement(suite, "testcase", classname="caffe-guard.lint", name=_clean(path))
        failures = [diagnostic for diagnostic in diagnostics if diagnostic.severity >= fail_on]
        others = [diagnostic for diagnostic in diagnostics if diagnostic.severity < fail_on]
        if failures:
            failed += 1
            first = failures[0]
            failure = ElementTree.SubElement(
                case, "failure", type=first.code, message=_clean(f"{len(failures)} found, the first: {_line(first)}")
            )
            failure.text = _clean("\n".join(_line(diagnostic) for diagnostic in failures))
        if others:
            ElementTree.SubElement(case, "system-out").text = _clean("\n".join(_line(one) for one in others))
    suite.set("failures", str(failed))
    suites.set("tests", str(len(by_path)))
    suites.set("failures", str(failed))
    ElementTree.indent(suites)
    # ASCII with character references is right in whatever encoding the output has.
    body = ElementTree.tostring(suites, encoding="us-ascii").decode("ascii")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'


def _line(diagnostic: Diagnostic) -> str:
    line, column = diagnostic.source.line_column(diagnostic.finding.start)
    label = diagnostic.severity.label
    return f"{diagnostic.source.path}:{line}:{column}: {label} {diagnostic.code} {diagnostic.finding.message}"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
