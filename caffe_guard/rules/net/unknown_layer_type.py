"""A layer has a type that no known Caffe registers, or none at all.

What happens
    Caffe looks the type up in its registry and aborts: "Unknown layer type: … (known types: …)". Types are spelled with
    capitals as Caffe's documentation has them: "InnerProduct", "SoftmaxWithLoss", "ReLU".

How to fix
    Correct the spelling, or use the build that has the layer. Python layers have the type "Python".

When it is fine
    For a layer of your own build. Files of a fork get a warning only; types that a known fork registers are CG703's.

Source
    LayerRegistry::CreateLayer, include/caffe/layer_factory.hpp.
"""

from __future__ import annotations

import bisect

from caffe_guard.diagnostic import Edit, Fix, Related, Severity
from caffe_guard.rules.net._problems import findings
from caffe_guard.rules.rule import Example
from caffe_guard.schema.dialects import layer_types
from caffe_guard.schema.hints import nearest, same_word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.diagnostic import Finding
    from caffe_guard.rules.context import NetContext

CODE = "CG201"
NAME = "unknown-layer-type"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
# The kinds of caffe_guard.net.problem that this rule tells.
KINDS = ("unknown-layer-type",)
BAD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer {
  name: "r"
  type: "Relu"
  bottom: "data"
  top: "r"
}
""",
        expect=[4],
        fixed="""\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer {
  name: "r"
  type: "ReLU"
  bottom: "data"
  top: "r"
}
""",
        caffe="aborts",
    ),
)
GOOD = (
    Example(
        """\
layer { name: "data" type: "Input" top: "data" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "r" type: "ReLU" bottom: "data" top: "r" }
""",
        caffe="finite",
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Types that are in no registry, each once a file. What is told already, as a word that is no type of the format
    or as one that cannot be upgraded, is left out."""
    told = {problem.start for problem in ctx.file.bound.problems} if ctx.file.bound is not None else set()
    told.update(problem.start for problem in ctx.net.problems)
    by_type: dict[str, list[Finding]] = {}
    for finding in findings(ctx, KINDS, in_forks=Severity.WARNING):
        if finding.start not in told:
            text = ctx.source.text[finding.start : finding.end]
            by_type.setdefault(text, []).append(finding)
    types = {layer.start: layer.type for layer in ctx.layers}
    starts = sorted(types)
    for found in by_type.values():
        first = found[0]
        written = types[starts[bisect.bisect_right(starts, first.start) - 1]] if starts else ""
        first.others = tuple((other.start, other.end) for other in found[1:])
        if len(found) > 1 and written:
            first.message += f"; {len(found)} layers of this file have it"
            places = [Related(f'"{other.layer}" too', other.start, other.end) for other in found[1:4]]
            first.related = (*first.related, *places)
        # Names in capitals are those of the old format.
        near = nearest(written, sorted(name for name in layer_types(ctx.dialect) if not name.isupper()))
        if near is not None and same_word(near, written) and ctx.net.syntax == "V2":
            edits = [Edit(one.start, one.end, f'"{near}"') for one in found]
            first.fix = Fix(f'write type: "{near}"', edits, safe=True)
        if near is not None:
            first.help = f'did you mean "{near}"?'
        elif written:
            first.help = "correct the name; for a layer of your own build, silence this with ignore[CG201]"
        yield first
