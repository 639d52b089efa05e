"""The net has no layer in a phase that the solver runs.

What happens
    Caffe builds an empty net without a word, and aborts as soon as it runs it: "Check failed: end < layers_.size() (-1 vs. 0)".

How to fix
    Give the phase its layers: drop the include and exclude rules that leave it none, or name another net. A solver that is
    not to test needs no test_iter and no test_interval.

When it is fine
    Never for a phase that is run.

Source
    Net::FilterNet and Net::ForwardFromTo, src/caffe/net.cpp. Run on real Caffe.
"""

from __future__ import annotations

from caffe_guard.diagnostic import Finding, Severity
from caffe_guard.rules.rule import Example

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from caffe_guard.net.phase import NetState
    from caffe_guard.rules.context import NetContext

CODE = "CG219"
NAME = "no-layers-in-phase"
SEVERITY = Severity.ERROR
SCOPE = "net"
SINCE = "0.1.0"
_TRAIN = 'net: "net.prototxt"\nbase_lr: 0.01\nlr_policy: "fixed"\nmax_iter: 3\nsolver_mode: CPU\n'
BAD = (
    Example(
        """\
name: "only_for_tests"
layer {
  name: "d"
  type: "DummyData"
  top: "x"
  include { phase: TEST }
  dummy_data_param { shape { dim: 2 dim: 3 } }
}
""",
        expect=[2],
        caffe="aborts",
        files={"solver.prototxt": _TRAIN},
    ),
    Example(
        """\
layer {
  name: "d"
  type: "DummyData"
  top: "x"
  include { phase: TRAIN }
  dummy_data_param { shape { dim: 2 dim: 3 } }
}
""",
        expect=[1],
        caffe="aborts",
        files={"solver.prototxt": "test_iter: 1\ntest_interval: 1\n" + _TRAIN},
    ),
)
GOOD = (
    Example(
        """\
layer {
  name: "d"
  type: "DummyData"
  top: "x"
  include { phase: TRAIN }
  dummy_data_param { shape { dim: 2 dim: 3 } }
}
""",
        caffe="finite",
        files={"solver.prototxt": _TRAIN},
    ),
)


def check(ctx: NetContext) -> Iterator[Finding]:
    """Phases of a solver whose layers are all filtered out."""
    if not ctx.solvers:
        return
    for net in ctx.phases:
        # A layer that Caffe refuses to filter is an abort of its own.
        if net.layers or not ctx.layers or any(problem.layer is not None for problem in net.problems):
            continue
        first = ctx.layers[0]
        severity = Severity.WARNING if net.phase == "TEST" and not _tests_at_start(ctx) else None
        yield Finding(
            f"the net has no layer for {_words(net.state)}: Caffe builds an empty net and aborts when it runs it",
            first.message.name_start,
            first.message.name_end,
            help="check the include and exclude rules of the layers",
            field="include",
            severity=severity,
        )


def _tests_at_start(ctx: NetContext) -> bool:
    return any(solver.message.get("test_initialization") is not False for solver in ctx.solvers)


def _words(state: NetState) -> str:
    words = f"the {state.phase} phase"
    if state.stages:
        words += f" with stage {', '.join(state.stages)}"
    if state.level:
        words += f" at level {state.level}"
    return words
