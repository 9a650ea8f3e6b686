"""The frames of the generated loops: statements that open and close a cycle, and that keep its items."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from ..declaration.contexts import POSITIONS, Entries

BUILT: Final = ("steps", "rounds", "fed", "made", "response", "groups", "group", "calls_of_group")
"""The views of the open cycle."""


@dataclass(frozen=True)
class Variant:
    """One of the three loops: the same rows in another frame.

    ``session`` tests the event's session. It stands in each structure's branch: where several structures' attributes
    are read at one place, CPython does not specialise the read, which costs 30 ns. ``own`` are the state's names that
    the loop works on besides the registers; ``home`` is the prefix of these and of the registers. ``outputs`` maps an
    output of the core machine to its statements: a template in which ``{n}`` is its n-th argument (the event's position
    is the last), ``{state.name}`` a register or an own name, and ``{event.name}`` a field of the event.
    """

    frame: str
    outputs: Mapping[str, str]
    own: tuple[str, ...]
    session: str = ""
    home: str = ""
    entries: Entries = POSITIONS


def _lines(*statements: str) -> str:
    return "\n".join(filter(None, statements))


def _outputs(
    *, anomaly: str, close: str, begin: str = "", item: str = "", skip: str = "", **items: str
) -> Mapping[str, str]:
    """Return the statements of each output, given those that a loop adds.

    *item* is for an event of the open cycle, *items* adds more by kind, *skip* is for all other events. *anomaly* is
    the template of an anomaly from its kind and position.
    """
    return {
        "open": _lines("{state.kind} = {0}", begin),
        **{f"append-{kind}": items.get(kind, item) for kind in ("text", "call", "result", "steer")},
        "queue": skip,
        "observe": skip,
        "close": _lines("assert {state.kind} is not None", close, "{state.kind} = None"),
        "drop": "{state.dropped}.extend({0})",
        "reject": _lines(f"anomalies.append({anomaly})", skip),
        "remark": f"anomalies.append({anomaly})",
    }


_NAMED: Final = "({state.name}, Anomaly({0}, {1}))"

SINGLE_SESSION: Final = Variant(
    frame='''

def feed(state: LoopState, events: Sequence[Event], first: int, progress: Progress) -> int:
    """Run the machine of the unnamed session over events at consecutive positions from *first* on.

    Stops before the first event of a named session; returns the number of events taken. O(events). Cycles closed and
    anomalies revealed are added to *progress*.
    """
    if not events:
        return 0
    {load}
    {tables}
    closed, anomalies = progress
    begin = at = first  # from begin on, this batch is the open cycle's, skips aside
    skips: list[int] = []
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in enumerate(events, first):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
{body}    else:
        at += 1
    if kind is not None:
        places += between(begin, at, skips) if skips else range(begin, at)
    {store}
    return at - first
''',
    session="if event.session_id is not None:\n    break",
    own=("kind", "name", "dropped", "places"),
    outputs=_outputs(
        anomaly=_NAMED,
        begin="skips.clear()\nbegin = at + 1",
        skip="skips.append(at)",
        close=_lines(
            "if {state.places} or skips:",
            "    closed.append(({state.name}, Cycle({state.root}, {state.kind}, at, {event.reason}, begin, "
            "tuple({state.places}), tuple(skips))))",
            "    {state.places}.clear()",
            "else:",
            "    closed.append(({state.name}, Cycle({state.root}, {state.kind}, at, {event.reason}, begin)))",
        ),
    ),
)

MULTI_SESSION: Final = Variant(
    frame='''

def feed_sessions(
    states: dict[str | None, LoopState],
    new: Callable[[str | None], LoopState],
    events: Sequence[Event],
    ats: Sequence[int],
    progress: Progress,
) -> None:
    """Run each event through its session's machine; *new* makes the state of a session at its first event.

    *ats* are the events' positions, ascending; several events may share one. Cycles closed and anomalies revealed are
    added to *progress*. O(events).
    """
    if not events:
        return
    name = events[0].session_id
    state = states[name] = states.get(name) or new(name)
    {tables}
    closed, anomalies = progress
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in zip(ats, events, strict=True):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
{body}''',
    session=_lines(
        "try:",
        "    state = states[event.session_id]",
        "except KeyError:",
        "    state = states[event.session_id] = new(event.session_id)",
    ),
    home="state.",
    own=("kind", "name", "dropped", "places"),
    outputs=_outputs(
        anomaly=_NAMED,
        item="{state.places}.append(at)",
        close=_lines(
            "closed.append(({state.name}, Cycle({state.root}, {state.kind}, at, {event.reason}, at, "
            "tuple({state.places}))))",
            "{state.places}.clear()",
        ),
    ),
)

# RC-D3: consecutive outputs of one response are a round; without ids, an input between them (in fed) separates them.
_ROUND: Final = _lines(
    "identity = {event.response_id}",
    "if identity != response or (identity is None and fed):",
    "    made = []",
    "    rounds.append(Round(fed, made))",
    "    fed, response = [], identity",
    "made.append(at)",
)

WITH_VIEWS: Final = Variant(
    frame='''

def feed_views(
    state: ViewState, show: Callable[[CycleViews], object], events: Sequence[Event], ats: Sequence[int]
) -> None:
    """Run one session's machine over its next events, and build both views meanwhile; session ids are ignored.

    *ats* are the events' positions, ascending; several events may share one. O(events). Each closed cycle is handed to
    *show* at once: a caller that does not keep it saves the collector its lists. Anomalies are added to the state.
    """
    steps: list[Step]
    groups: list[Group] | None
    made: list[int]
    calls_of_group: list[Call]
    {load}
    {tables}
    {views}
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in zip(ats, events, strict=True):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
{body}    {store}
    {store_views}
''',
    own=("kind", "anomalies", "dropped"),
    # A call's entry is its part of the view: its position, and its result's position once it is answered.
    entries=Entries(
        opened="call = {place} = Call({value})",
        answered="{entry}.result = at",
        is_answered="{entry}.result is not None",
        is_open="{entry}.result is None",
        position="{entry}.at",
    ),
    outputs=_outputs(
        anomaly="Anomaly({0}, {1})",
        begin=_lines(
            "steps = [RootStep({state.root})]",
            "rounds, fed = [], [{state.root}]",
            "response, groups, group = NO_RESPONSE, None, None",
        ),
        text=_lines(_ROUND, "groups = []", "group = None", "steps.append(AiBlock(at, groups))"),
        call=_lines(
            _ROUND,
            "of_tool = GROUPS[{event.tool}] if {event.tool} in GROUPS else OTHER",
            "if of_tool is not group:",
            "    if groups is None:",
            "        groups = []",
            "        steps.append(AiBlock(None, groups))",
            "    group, calls_of_group = of_tool, []",
            "    groups.append(Group(of_tool, calls_of_group))",
            "calls_of_group.append(call)",
        ),
        result="fed.append(at)",
        steer=_lines("fed.append(at)", "steps.append(SteerStep(at))", "groups, group = None, None"),
        close=_lines(
            "if fed:",
            "    rounds.append(Round(fed, []))",
            "show(CycleViews({state.root}, {state.kind}, at, {event.reason}, steps, rounds))",
        ),
    ),
)

CYCLES: Final = (
    *("GROUPS", "OTHER", "AiBlock", "Anomaly", "Call", "Cycle", "CycleViews", "Group"),
    *("RootStep", "Round", "SteerStep", "Step", "between"),
)
"""The names that a loop imports from ``core.cycles``."""

HEADER = '''"""The hot path, generated from the rows of request_cycle: run `make generate`, do not edit."""

from collections.abc import Callable, Sequence
from typing import Any

from .cycles import (
{cycles})
from .events import (
{events})
from .session_state import NO_RESPONSE, LoopState, Progress, State, ViewState
'''

FINISH = '''

def finish(state: State) -> list[Anomaly]:
    """Return the anomalies that the log's end reveals; the state does not change."""
    anomalies: list[Anomaly] = []
    active, root = state.active, state.root
{body}    return anomalies
'''
