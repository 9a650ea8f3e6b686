"""The machine record: one declaration in native `transitions` rows, from which everything else is derived."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeAlias

from .contexts import Context
from .guards import Guard
from .vocabulary import HISTORY, REGISTER_KINDS, Effect

NativeRow: TypeAlias = list[str | list[str] | None]
"""``[trigger, source, dest, conditions, unless, before]``, as ``transitions.Machine.add_transition`` takes it.

``source`` may be ``"*"`` (every state) or a list of states; ``dest`` None is an internal transition.
"""

Invariant: TypeAlias = Callable[[str, Mapping[str, Any]], bool]
"""A predicate of a control state and the registers."""

EVERY: Final = "*"


@dataclass(frozen=True)
class Row:
    """One transition, wildcards expanded."""

    event: str
    source: str
    dest: str
    conditions: tuple[str, ...]
    unless: tuple[str, ...]
    effects: tuple[str, ...]
    internal: bool

    @property
    def guards(self) -> tuple[str, ...]:
        """All guard names, negated ones included."""
        return self.conditions + self.unless

    @property
    def label(self) -> str:
        """``event [guard, not guard] / effect; effect`` in words, as on a diagram's edge."""
        conditions = [*self.conditions, *(f"not {name}" for name in self.unless)]
        guard = f" [{', '.join(conditions)}]" if conditions else ""
        effects = f" / {'; '.join(self.effects)}" if self.effects else ""
        return (self.event + guard + effects).replace("_", " ")


class Choice(NamedTuple):
    """A row with what it stands for: all of ``holds`` and none of ``fails`` hold, and then ``effects`` are applied."""

    row: Row
    holds: Sequence[Callable[[Context], bool]]
    fails: Sequence[Callable[[Context], bool]]
    effects: Sequence[Callable[[Context], None]]


@dataclass(frozen=True)
class Machine:
    """A declared machine. ``clauses`` maps an event to the clauses that its rows state.

    ``always`` holds in every reachable state; ``sometimes`` in at least one, or the model is vacuous.
    ``boundary`` names the event, if any, whose reasons are one boundary class; ``final`` the states in which a log may
    end.

    ``opposites`` gives the negation of a guard a positive name, for people: "no call left" instead of "not called".

    ``ignored`` are the effects of every (event, state) that the table does not name, for events that it names in some
    other state: they become rows behind the event's last one, before anything reads the table. An event that the table
    never names gets none, and the lint reports it.
    """

    name: str
    title: str
    states: Sequence[str]
    initial: str
    final: Sequence[str]
    events: Mapping[str, tuple[str, ...]]
    table: Sequence[NativeRow]
    guards: Mapping[str, Guard]
    effects: Mapping[str, Effect]
    registers: Mapping[str, str]
    always: Mapping[str, Invariant]
    sometimes: Mapping[str, Invariant]
    boundary: str | None = None
    opposites: Mapping[str, str] = field(default_factory=dict[str, str])
    ignored: InitVar[Sequence[str] | None] = None

    def __post_init__(self, ignored: Sequence[str] | None) -> None:
        if ignored is not None:
            object.__setattr__(self, "table", [*self._completed(ignored)])

    def _completed(self, ignored: Sequence[str]) -> Iterator[NativeRow]:
        last = {str(row[0]): row for row in self.table}
        for row in self.table:
            yield row
            event = str(row[0])
            named = {state for other in self.table if other[0] == event for state in self.sources(other[1])}
            if row is last[event] and (rest := [state for state in self.states if state not in named]):
                yield [event, rest, None, [], [], [*ignored]]

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The table's rows with wildcards expanded, in the table's order: each is one object, compared with ``is``."""
        return tuple(self._expanded())

    def _expanded(self) -> Iterator[Row]:
        for event, source, dest, conditions, unless, before in self.table:
            assert isinstance(event, str)
            for state in self.sources(source):
                yield Row(
                    event=event,
                    source=state,
                    dest=dest if isinstance(dest, str) else state,
                    conditions=tuple(conditions or ()),
                    unless=tuple(unless or ()),
                    effects=tuple(before or ()),
                    internal=dest is None,
                )

    def sources(self, source: str | list[str] | None) -> Sequence[str]:
        """Return the states that a native row's source names."""
        if source == EVERY:
            return self.states
        return source if isinstance(source, list) else [source or ""]

    @cached_property
    def deciding(self) -> Mapping[str, str]:
        """The registers that tell states apart, with their kinds: all but histories."""
        return {name: kind for name, kind in self.registers.items() if kind != HISTORY}

    @cached_property
    def by_event(self) -> Mapping[tuple[str, str], Sequence[Row]]:
        """(event, state) → its rows."""
        found: dict[tuple[str, str], list[Row]] = {(event, state): [] for event in self.events for state in self.states}
        for row in self.rows:
            found.setdefault((row.event, row.source), []).append(row)
        return found

    @cached_property
    def choices(self) -> Mapping[tuple[str, str], Sequence[Choice]]:
        """``by_event`` for stepping: each row with its guards and effects looked up once.

        `verify` takes six steps per stimulus, and finds a row in a quarter of the time.
        """
        return {
            key: [
                Choice(
                    row,
                    tuple(self.guards[name].holds for name in row.conditions),
                    tuple(self.guards[name].holds for name in row.unless),
                    tuple(self.effects[name].apply for name in row.effects),
                )
                for row in rows
            ]
            for key, rows in self.by_event.items()
        }

    def permits(self, row: Row, context: Context) -> bool:
        """Return whether the row's guards hold in *context*."""
        return all(self.guards[name].holds(context) for name in row.conditions) and not any(
            self.guards[name].holds(context) for name in row.unless
        )

    def fresh(self, tables: Mapping[str, object]) -> Context:
        """Return a context with initial registers, for the given tables."""
        return Context({name: REGISTER_KINDS[kind]() for name, kind in self.registers.items()}, tables)
