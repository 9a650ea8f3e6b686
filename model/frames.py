"""The frames that the generated loops share their rows in: what opens and closes a cycle, and how its share is kept."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

BUILT: Final = (
    "steps",
    "rounds",
    "fed",
    "made",
    "response",
    "apart",
    "groups",
    "group",
    "calls_of_group",
    "answers",
)
"""The views under way."""
PLACES: Final = ("items", "places")
"""Where the loop that knows other sessions keeps a cycle's share."""

OUTPUTS: Final = {
    "open": "kind = {0}\nBEGIN",
    "append-text": "TEXT",
    "append-call": "CALL",
    "append-result": "RESULT",
    "append-steer": "STEER",
    "queue": "SKIP",
    "observe": "SKIP",
    "close": "assert kind is not None\nCLOSE\nkind = None\nNEWS",
    "drop": "dropped.extend({0})",
    "reject": "anomalies.append(Anomaly({0}, at))\nSKIP\nNEWS",
    "remark": "anomalies.append(Anomaly({0}, {1}))",
}
"""Output of the core machine → the loop's fragment for it; ``{n}`` is the n-th argument, capitals are the variant's."""


@dataclass(frozen=True)
class Variant:
    """One of the three loops: the same rows in another frame.

    ``session`` looks at the event's session. It stands in each structure's branch: an attribute that is read of several
    structures at one place is not specialised by CPython, which costs 30 ns. ``own`` are the state's names that the
    loop works on besides the registers; ``registers`` says where they all are found (a replacement for ``re.sub``).
    ``fragments`` are what the capitals in OUTPUTS stand for.
    """

    frame: str
    session: str
    own: tuple[str, ...]
    registers: str
    fragments: Mapping[str, str]


_APPENDED: Final = ("TEXT", "CALL", "RESULT", "STEER")

_CLOSE: Final = (
    "share = {share}\n"
    "if parts:\n"
    "    parts.append((share, {skips}, {ats}))\n"
    "    closed.append(Cycle(root, kind, at, event.reason, *joined(parts)))\n"
    "    parts.clear()\n"
    "else:\n"
    "    closed.append(Cycle(root, kind, at, event.reason, share, {skips}, {kept}))"
)

ALONE: Final = Variant(
    frame='''

def feed(state: LoopState, events: tuple[Event, ...], first: int) -> int:
    """Run the machine of the session without a name over events that stand without a gap from position *first* on.

    Ends before the first event of a session with a name; returns how many events it took. O(events). What it closes
    and reveals is added to the state.
    """
    if not events:
        return 0
    state.settle()
    {load}
    {tables}
    mark = 0  # where the open cycle's share of this batch begins
    skips: list[int] = []  # what in that share is no part of the cycle, counted from mark
    at = first
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in enumerate(events, first):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
{body}    else:
        at += 1
    if kind is not None:
        parts.append((events[mark : at - first], tuple(skips), range(first + mark, at)))
    {store}
    return at - first
''',
    session="if event.session_id is not None:\n    break",
    own=("kind", "anomalies", "dropped", "closed", "parts"),
    registers=r"\1",
    fragments={
        "BEGIN": "skips.clear()\nmark = at - first + 1",
        **dict.fromkeys(_APPENDED, ""),
        "NEWS": "",
        "SKIP": "skips.append(at - first - mark)",
        "CLOSE": _CLOSE.format(
            share="events[mark : at - first]", skips="tuple(skips)", ats="range(first + mark, at)", kept="None"
        ),
    },
)

AMONG: Final = Variant(
    frame='''

def feed_sessions(
    states: dict[str | None, LoopState],
    new: Callable[[str | None], LoopState],
    events: Sequence[Event],
    ats: Sequence[int],
) -> list[LoopState]:
    """Run each event's session over it; *new* makes the state of one that is not there.

    Events stand at *ats*, ascending; several may share a position. Returns the states to which something closed or
    revealed was added, some more than once. O(events).
    """
    news: list[LoopState] = []
    if not events:
        return news
    name = events[0].session_id
    state = states[name] = states.get(name) or new(name)
    {tables}
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in zip(ats, events, strict=True):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
{body}    return news
''',
    session=(
        "try:\n"
        "    state = states[event.session_id]\n"
        "except KeyError:\n"
        "    state = states[event.session_id] = new(event.session_id)"
    ),
    own=("kind", "anomalies", "dropped", "closed", "parts"),
    registers=r"state.\1",
    fragments={
        "BEGIN": "items.clear()\nplaces.clear()",
        **dict.fromkeys(_APPENDED, "items.append(event)\nplaces.append(at)"),
        "SKIP": "",
        "NEWS": "news.append(state)",
        "CLOSE": _CLOSE.format(share="tuple(items)", skips="()", ats="tuple(places)", kept="tuple(places)"),
    },
)

# RC-D3: consecutive outputs of one response are a round; without ids, an input between them parts them.
_ROUND: Final = (
    "identity = event.response_id\n"
    "if identity != response or (apart and identity is None):\n"
    "    made = [at]\n"
    "    rounds.append(Round(fed, made))\n"
    "    fed, response = [], identity\n"
    "else:\n"
    "    made.append(at)\n"
    "apart = False\n"
)

VIEWS: Final = Variant(
    frame='''

def feed_views(
    state: ViewState, show: Callable[[CycleViews], object], events: Sequence[Event], ats: Sequence[int]
) -> None:
    """Run one session's machine over its next events, and build both views as it goes; session ids are not looked at.

    Events stand at *ats*, ascending; several may share a position. O(events). Each cycle that closes is handed to
    *show* at once: who does not keep it spares the collector its lists. What is revealed is added to the state.
    """
    steps: list[Step]
    groups: list[Group] | None
    {load}
    {tables}
    {views}
    event: Any  # its type is told apart by identity, which type checkers do not follow
    for at, event in zip(ats, events, strict=True):
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
{body}    {store}
    {store_views}
''',
    session="",
    own=("kind", "anomalies", "dropped"),
    registers=r"\1",
    fragments={
        "BEGIN": (
            "steps = [RootStep(root)]\n"
            "rounds, fed, answers = [], [root], {}\n"
            "response, apart, groups, group = NO_RESPONSE, False, None, None"
        ),
        "TEXT": _ROUND + "groups = []\ngroup = None\nsteps.append(AiBlock(at, groups))",
        "CALL": (
            _ROUND + "call = answers[event.call_id] = Call(at)\n"
            "of_tool = GROUPS[event.tool] if event.tool in GROUPS else OTHER\n"
            "if of_tool == group:\n"
            "    calls_of_group.append(call)\n"
            "else:\n"
            "    if groups is None:\n"
            "        groups = []\n"
            "        steps.append(AiBlock(None, groups))\n"
            "    group, calls_of_group = of_tool, [call]\n"
            "    groups.append(Group(of_tool, calls_of_group))"
        ),
        "RESULT": "answers[event.call_id].result = at\nfed.append(at)\napart = True",
        "STEER": "fed.append(at)\napart = True\nsteps.append(SteerStep(at))\ngroups, group = None, None",
        "SKIP": "",
        "NEWS": "",
        "CLOSE": (
            "if fed:\n    rounds.append(Round(fed, []))\nshow(CycleViews(root, kind, at, event.reason, steps, rounds))"
        ),
    },
)

HEADER = '''"""The hot path, generated from the rows of request_cycle: run `make generate`, do not edit."""

from collections.abc import Callable, Sequence
from typing import Any

from .cycles import (
    GROUPS,
    OTHER,
    AiBlock,
    Anomaly,
    Call,
    Cycle,
    CycleViews,
    Group,
    RootStep,
    Round,
    SteerStep,
    Step,
)
from .events import (
{imports}
)
from .state import NO_RESPONSE, LoopState, ViewState, joined

{states}
'''

FINISH = '''

def finish(state: LoopState) -> list[Anomaly]:
    """What the log's end reveals; the state is left as it is."""
    anomalies: list[Anomaly] = []
    control, root = state.control, state.root
{body}    return anomalies
'''
