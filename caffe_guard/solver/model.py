"""A typed view of a SolverParameter: what each field is worth to Caffe, and where it stands in the text.

Facts: src/caffe/proto/caffe.proto (defaults), src/caffe/solver.cpp (InitTrainNet, InitTestNets) and
src/caffe/util/upgrade_proto.cpp (UpgradeSolverType).
"""

from __future__ import annotations

from caffe_guard.schema.message import Message
from caffe_guard.solver.float32 import f32

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from caffe_guard.schema.message import Value

#: The old enum ``solver_type`` and the solver class that Caffe turns it into.
OLD_SOLVER_TYPES = {
    "SGD": "SGD",
    "NESTEROV": "Nesterov",
    "ADAGRAD": "AdaGrad",
    "RMSPROP": "RMSProp",
    "ADADELTA": "AdaDelta",
    "ADAM": "Adam",
}

#: The solver classes BVLC Caffe registers (src/caffe/solvers/*.cpp).
SOLVER_TYPES = tuple(OLD_SOLVER_TYPES.values())

TRAIN_NET_FIELDS = ("net", "net_param", "train_net", "train_net_param")


class NetSource:
    """One net that the solver builds.

    ``field`` is the solver field that names or holds it, ``value`` its place, ``role`` is ``train`` or
    ``test``, ``index`` counts within the role (test nets in Caffe's order). Either ``path`` (as written)
    or ``inline`` is set.
    """

    __slots__ = ("field", "index", "inline", "path", "role", "value")

    def __init__(self, field: str, value: Value, role: str, index: int) -> None:
        self.field = field
        self.value = value
        self.role = role
        self.index = index
        is_message = isinstance(value.value, Message)
        self.inline: Message | None = value.value if is_message else None
        self.path: str | None = None if is_message else str(value.value)

    def __repr__(self) -> str:
        return f"NetSource({self.field} as {self.role} {self.index}: {self.path or 'inline'})"


class Solver:
    """A solver as Caffe sees it. Numbers are effective values: the default where the text gives none, and
    rounded to float32 where the schema's field is a float."""

    __slots__ = ("message",)

    def __init__(self, message: Message) -> None:
        self.message = message

    # --- the text ---------------------------------------------------------------------------------

    def has(self, name: str) -> bool:
        """Whether the text gives the field."""
        return self.message.has(name)

    def knows(self, name: str) -> bool:
        """Whether the dialect's schema has the field at all."""
        field = self.message.type.fields.get(name)
        return field is not None and not field.absent

    def place(self, *names: str) -> tuple[int, int]:
        """Where to point: the first of these fields that the text gives, else :attr:`anchor`."""
        for name in names:
            value = self.message.at(name)
            if value is not None:
                return value.name_start, value.end
        return self.anchor

    @property
    def anchor(self) -> tuple[int, int]:
        """Where to point when a field is missing: lr_policy, else base_lr, else the first field, else (0,
        0)."""
        for name in ("lr_policy", "base_lr"):
            value = self.message.at(name)
            if value is not None:
                return value.name_start, value.end
        first: Value | None = None
        for values in self.message.fields.values():
            if values and (first is None or values[0].name_start < first.name_start):
                first = values[0]
        return (first.name_start, first.end) if first is not None else (0, 0)

    # --- numbers and words ------------------------------------------------------------------------

    def _number(self, name: str, default: Any) -> Any:
        """The field's value; `default` where the dialect has no such field (an old fork has no ``type``,
        say)."""
        value = self.message.get(name)
        return default if value is None else value

    def real(self, name: str, default: float = 0.0) -> float:
        """A float field as Caffe holds it."""
        return f32(float(self._number(name, default)))

    def integer(self, name: str, default: int = 0) -> int:
        """An integer field."""
        return int(self._number(name, default))

    @property
    def policy(self) -> str:
        """``lr_policy``; empty when absent."""
        return str(self._number("lr_policy", ""))

    @property
    def type_name(self) -> str:
        """The solver class: ``type``, or ``solver_type`` translated; an unknown name is given as it
        stands."""
        if self.has("type") or not self.has("solver_type"):
            return str(self._number("type", "SGD"))
        old = str(self.message.get("solver_type"))
        return OLD_SOLVER_TYPES.get(old, old)

    @property
    def base_lr(self) -> float:
        """``base_lr``; 0 when absent."""
        return self.real("base_lr")

    @property
    def gamma(self) -> float:
        """``gamma``; 0 when absent."""
        return self.real("gamma")

    @property
    def power(self) -> float:
        """``power``; 0 when absent."""
        return self.real("power")

    @property
    def stepsize(self) -> int:
        """``stepsize``; 0 when absent."""
        return self.integer("stepsize")

    @property
    def stepvalues(self) -> list[int]:
        """``stepvalue``, in the text's order."""
        return [int(value) for value in self._number("stepvalue", [])]

    @property
    def max_iter(self) -> int:
        """``max_iter``; 0 when absent."""
        return self.integer("max_iter")

    @property
    def momentum(self) -> float:
        """``momentum``; 0 when absent, for every solver type."""
        return self.real("momentum")

    @property
    def weight_decay(self) -> float:
        """``weight_decay``; 0 when absent."""
        return self.real("weight_decay")

    @property
    def iter_size(self) -> int:
        """``iter_size``; 1 when absent."""
        return self.integer("iter_size", 1)

    # --- nets -------------------------------------------------------------------------------------

    @property
    def explicit_test_nets(self) -> list[tuple[str, Value]]:
        """The ``test_net_param`` entries, then the ``test_net`` entries: Caffe's order."""
        message = self.message
        return [(name, value) for name in ("test_net_param", "test_net") for value in message.values(name)]

    @property
    def generic_net(self) -> tuple[str, Value] | None:
        """``net`` or ``net_param``: the net that serves training and testing."""
        for name in ("net_param", "net"):
            value = self.message.at(name)
            if value is not None:
                return name, value
        return None

    @property
    def test_net_count(self) -> int:
        """How many test nets Caffe builds, if it accepts the solver: one for each ``test_iter``."""
        return len(self.message.values("test_iter"))

    @property
    def test_states(self) -> list[Message]:
        """The ``test_state`` entries; entry i belongs to test net i."""
        return [state for state in self._number("test_state", []) if isinstance(state, Message)]

    @property
    def train_state(self) -> Message | None:
        """``train_state`` where the text gives it."""
        return self.message.get("train_state") if self.has("train_state") else None

    def net_sources(self) -> list[NetSource]:
        """Every net the solver would build: train nets first (more than one is a fault that Caffe
        refuses), then the test nets in Caffe's order."""
        sources: list[NetSource] = []
        for name in TRAIN_NET_FIELDS:
            value = self.message.at(name)
            if value is not None:
                sources.append(NetSource(name, value, "train", len(sources)))
        tests = self.explicit_test_nets
        generic = self.generic_net
        if generic is not None:
            tests.extend([generic] * (self.test_net_count - len(tests)))
        sources.extend(NetSource(name, value, "test", index) for index, (name, value) in enumerate(tests))
        return sources
