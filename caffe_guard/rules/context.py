"""What a rule is given: a file, a solver with its nets, or a net with its solvers.

Everything here is read-only for rules. What is costly is computed on first use.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from caffe_guard.net.model import Layer, Net
    from caffe_guard.net.phase import NetState
    from caffe_guard.net.shapes import PhaseNet
    from caffe_guard.prototxt.tree import File
    from caffe_guard.schema.bind import Bound
    from caffe_guard.schema.message import Message, Value
    from caffe_guard.schema.types import Schema
    from caffe_guard.solver.model import Solver
    from caffe_guard.source import Source


class FileContext:
    """A text and what could be read of it.

    ``kind`` is one of the words of ``caffe_guard.files``; ``bound`` is None when the kind has no message type.
    ``dialect`` is the fork whose schema ``bound`` was made with, ``asked_dialect`` what the user asked for (``auto``
    or a name). ``unknown_in_bvlc`` are the problems that BVLC's own schema has with the text.
    """

    scope = "file"

    __slots__ = (
        "asked_dialect",
        "bound",
        "bvlc_bound",
        "dialect",
        "kind",
        "path",
        "schema",
        "source",
        "syntax",
        "tree",
    )

    def __init__(
        self,
        source: Source,
        tree: File,
        kind: str,
        bound: Bound | None,
        bvlc_bound: Bound | None,
        schema: Schema,
        dialect: str,
        asked_dialect: str,
    ) -> None:
        self.source = source
        self.path = source.path
        self.tree = tree
        self.kind = kind
        self.bound = bound
        self.bvlc_bound = bvlc_bound
        self.schema = schema
        self.dialect = dialect
        self.asked_dialect = asked_dialect
        self.syntax: str | None = None

    @property
    def message(self) -> Message:
        """The root message. Only for kinds that have one."""
        assert self.bound is not None
        return self.bound.message


class LinkedNet:
    """A net that a solver trains or tests.

    ``role`` is ``train`` or ``test``, ``index`` counts within it; ``field`` and ``value`` say where the solver names it;
    ``net`` is its context, None when the file was not found or is no net. ``kind`` is what the file is, None when it was
    not found or could not be read. ``inline`` is true for ``net_param`` and its siblings.
    """

    __slots__ = ("field", "index", "inline", "kind", "net", "path", "role", "value")

    def __init__(
        self,
        role: str,
        index: int,
        field: str,
        value: Value,
        path: str | None,
        net: NetContext | None,
        inline: bool,
        kind: str | None,
    ) -> None:
        self.role = role
        self.index = index
        self.field = field
        self.value = value
        self.path = path
        self.net = net
        self.inline = inline
        self.kind = kind


class MissingNet:
    """A net file that a solver names and that is not there; ``looked`` are the paths that were tried."""

    __slots__ = ("field", "looked", "value")

    def __init__(self, field: str, value: Value, looked: list[str]) -> None:
        self.field = field
        self.value = value
        self.looked = looked


class SolverContext:
    """A solver, with the nets it names."""

    scope = "solver"

    __slots__ = ("base_dir", "file", "missing_nets", "nets", "solver")

    def __init__(self, file: FileContext, solver: Solver, base_dir: str) -> None:
        self.file = file
        self.solver = solver
        self.base_dir = base_dir
        self.nets: list[LinkedNet] = []
        self.missing_nets: list[MissingNet] = []

    @property
    def source(self) -> Source:
        return self.file.source

    @property
    def message(self) -> Message:
        return self.solver.message

    @property
    def dialect(self) -> str:
        return self.file.dialect


class NetContext:
    """A net, with the solvers that name it (none when it was given alone).

    ``inline`` is true for a net written inside a solver: ``source`` is then the solver's.
    """

    scope = "net"

    __slots__ = ("_by_type", "_has_loss", "_phases", "base_dir", "data", "file", "inline", "net", "solvers")

    def __init__(self, file: FileContext, net: Net, base_dir: str, data: bool, inline: bool = False) -> None:
        self.file = file
        self.net = net
        self.base_dir = base_dir
        self.data = data
        self.inline = inline
        self.solvers: list[SolverContext] = []
        self._by_type: dict[str, list[Layer]] | None = None
        self._has_loss: bool | None = None
        self._phases: list[PhaseNet] | None = None

    @property
    def source(self) -> Source:
        return self.file.source

    @property
    def message(self) -> Message:
        return self.net.message

    @property
    def dialect(self) -> str:
        return self.file.dialect

    @property
    def layers(self) -> list[Layer]:
        """The layers of all phases in the file's order, in the V2 view."""
        return self.net.layers

    def by_type(self, *types: str) -> list[Layer]:
        """The layers of these types, in the file's order within a type."""
        if self._by_type is None:
            table: dict[str, list[Layer]] = {}
            for layer in self.net.layers:
                table.setdefault(layer.type, []).append(layer)
            self._by_type = table
        if len(types) == 1:
            return self._by_type.get(types[0], [])
        found: list[Layer] = []
        for name in types:
            found.extend(self._by_type.get(name, ()))
        return found

    @property
    def has_loss(self) -> bool:
        """Whether some layer is a loss by its type, or carries a loss_weight that is not 0."""
        if self._has_loss is None:
            self._has_loss = any(
                layer.type.endswith("Loss") or any(value.value != 0 for value in layer.message.values("loss_weight"))
                for layer in self.net.layers
            )
        return self._has_loss

    @property
    def trains(self) -> bool:
        """Whether the net is trained: a solver says so or, without one, it has a loss."""
        if self.solvers:
            return any(
                linked.net is self and linked.role == "train" for solver in self.solvers for linked in solver.nets
            )
        return self.has_loss

    @property
    def is_deploy(self) -> bool:
        """Whether the net is for use only: it has no loss, and no solver names it."""
        return not self.solvers and not self.has_loss

    @property
    def phases(self) -> list[PhaseNet]:
        """The net as Caffe would build it, once for every state that it would be built in.

        With solvers: the states that they ask for. A net alone: those that its data layers speak of; a deploy net: TEST.
        """
        if self._phases is None:
            phases: list[PhaseNet] = []
            for state in self._states():
                alike = (built.in_state(state) for built in phases)
                phases.append(next((one for one in alike if one is not None), None) or self.built_for(state))
            self._phases = phases
        return self._phases

    def built_for(self, state: NetState) -> PhaseNet:
        """The net as Caffe would build it in a state."""
        from caffe_guard.net.shapes import infer

        return infer(self.net, state, self.base_dir, self.data, self._unread())

    def _unread(self) -> frozenset[int]:
        """The layers that lost a value to the parser or the schema."""
        bound = self.file.bound
        if bound is None or not bound.lost:
            return frozenset()
        layers = (self.net.layer_at(place) for place in bound.lost)
        return frozenset(layer.index for layer in layers if layer is not None)

    def _states(self) -> list[NetState]:
        from caffe_guard.net.phase import NetState
        from caffe_guard.net.states import has_source, meant_states

        states: list[NetState] = []
        for solver in self.solvers:
            for linked in solver.nets:
                if linked.net is self:
                    state = self._state_for(solver, linked)
                    if state not in states:
                        states.append(state)
        if states:
            return states
        test = NetState("TEST")
        return [test] if self.is_deploy and has_source(self.net, test) else meant_states(self.net)

    def _state_for(self, solver: SolverContext, linked: LinkedNet) -> NetState:
        """The phase, overridden by the net's own state, then by the solver's (solver.cpp, InitTrainNet, InitTestNets)."""
        from caffe_guard.net.phase import NetState

        phase = "TRAIN" if linked.role == "train" else "TEST"
        level = 0
        stages: list[str] = []
        given = [self.net.message.get("state")] if self.net.message.has("state") else []
        if linked.role == "train" and solver.solver.train_state is not None:
            given.append(solver.solver.train_state)
        if linked.role == "test" and linked.index < len(solver.solver.test_states):
            given.append(solver.solver.test_states[linked.index])
        for state in given:
            phase = state.get("phase") if state.has("phase") else phase
            level = state.get("level") if state.has("level") else level
            stages.extend(state.get("stage"))
        return NetState(phase, level, tuple(stages))
