"""The oracle: the rows run by `transitions` itself, one event at a time, and a projection built by definition.

Slow and plain on purpose. It shares the rows and the terms with the generated loop, and nothing else: the cycles are
folded from the outputs here, and the views are those of ``reference_views``.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Protocol

from transitions import EventData
from transitions import Machine as TransitionsMachine

from ..core.cycles import Anomaly, CycleViews, Projection
from ..core.events import Event, symbol_of
from ..core.policies import DEFAULT, Policies
from ..declaration.contexts import Context, Output
from ..declaration.machine import Machine
from ..machines.request_cycle import SPEC, tables
from .reference_views import rounds, steps


class Interpreter:
    """A declared machine as a `transitions` machine. ``outputs`` gather in ``context.outputs``."""

    state: str

    def __init__(self, spec: Machine, fixed: Mapping[str, object]) -> None:
        self.context: Context = spec.fresh(fixed)
        guards = {name: guard.holds for name, guard in spec.guards.items()}
        effects = {name: effect.apply for name, effect in spec.effects.items()}
        for name, term in {**guards, **effects}.items():
            setattr(self, name, partial(self._evaluated, term))
        rows: list[Any] = list(spec.table)
        self.machine = TransitionsMachine(
            model=self,
            states=list(spec.states),
            transitions=rows,
            initial=spec.initial,
            auto_transitions=False,
            send_event=True,
        )

    def _evaluated(self, term: Any, _: EventData) -> Any:
        return term(self.context)

    def step(self, symbol: str, event: Event | None, at: int) -> list[Output]:
        """Fire one event; return the outputs that it caused. Raises transitions.MachineError where no row fits."""
        before = len(self.context.outputs)
        self.context.event, self.context.at = event, at
        self.trigger(symbol)  # type: ignore[attr-defined]
        return self.context.outputs[before:]


class _Open:
    """A cycle while it runs: the root and the accepted (position, event) pairs after it."""

    def __init__(self, kind: Any, root: int) -> None:
        self.kind, self.root = kind, root
        self.items: list[tuple[int, Event]] = []

    def closed(self, stop: int | None, reason: Any) -> CycleViews:
        shown, made = steps(self.root, self.items), rounds(self.root, self.items)
        return CycleViews(self.root, self.kind, stop, reason, shown, made)


class Runs(Protocol):
    """A running machine: its registers, and a step that returns outputs."""

    context: Context

    def step(self, symbol: str, event: Event | None, at: int) -> list[Output]:
        """Fire one event; return the outputs that it caused."""
        ...


def project(events: Iterable[Event], policies: Policies = DEFAULT, runs: Runs | None = None) -> Projection:
    """Project one session's log; positions index *events*. *runs*, for instance a mutant, replaces the oracle.

    Raises AssertionError where the outputs form no cycle; errors of *runs* pass through.
    """
    machine = runs or Interpreter(SPEC, tables(policies))
    cycles: list[CycleViews] = []
    anomalies: list[Anomaly] = []
    dropped: list[int] = []
    current: _Open | None = None

    def fold(outputs: list[Output], at: int, event: Event | None) -> None:
        nonlocal current
        for output in outputs:
            match output.name, output.arguments:
                case "open", (kind, root):
                    current = _Open(kind, root)
                case (("append-text" | "append-call" | "append-result" | "append-steer"), ()):
                    assert current is not None
                    assert event is not None
                    current.items.append((at, event))
                case "close", (reason,):
                    assert current is not None
                    cycles.append(current.closed(at, reason))
                    current = None
                case "drop", (positions,):
                    dropped.extend(positions)
                case "reject", (kind,):
                    anomalies.append(Anomaly(kind, at))
                case "remark", (kind, where):
                    anomalies.append(Anomaly(kind, where))
                case _:
                    assert output.name in {"queue", "observe"}, output

    at = -1
    for at, event in enumerate(events):
        fold(machine.step(symbol_of(event), event, at), at, event)
    fold(machine.step("log-end", None, at + 1), at + 1, None)
    if current is not None:
        cycles.append(current.closed(None, None))
    return Projection(tuple(cycles), tuple(machine.context.registers["queue"]), tuple(dropped), tuple(anomalies))
