"""The frames that the generated loops share their rows in: what opens and closes a cycle, and how its share is kept."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

BUILT: Final = (
    "steps",
    "rounds",
    "fed",
    "made",
    "response",
    "groups",
    "group",
    "calls_of_group",
)
"""The views under way."""


def _outputs(anomaly: str) -> Mapping[str, str]:
    """Output of the core machine → the loop's fragment for it; ``{n}`` is its n-th argument, capitals the variant's.

    *anomaly* is how the loop tells one.
    """
    return {
        "open": "kind = {0}\nBEGIN",
        "append-text": "TEXT",
        "append-call": "CALL",
        "append-result": "RESULT",
        "append-steer": "STEER",
        "queue": "SKIP",
        "observe": "SKIP",
        "close": "assert kind is not None\nCLOSE\nkind = None",
        "drop": "dropped.extend({0})",
        "reject": f"anomalies.append({anomaly.replace('AT', 'at')})\nSKIP",
        "remark": f"anomalies.append({anomaly.replace('AT', '{1}')})",
    }


_OF_SESSION: Final = _outputs("(name, Anomaly({0}, AT))")


@dataclass(frozen=True)
class Variant:
    """One of the three loops: the same rows in another frame.

    ``session`` looks at the event's session. It stands in each structure's branch: an attribute that is read of several
    structures at one place is not specialised by CPython, which costs 30 ns. ``own`` are the state's names that the
    loop works on besides the registers; ``registers`` says where they all are found (a replacement for ``re.sub``).
    ``outputs`` are the fragments of the machine's outputs, ``fragments`` what the capitals in them stand for;
    ``spelling`` says what stands here for pieces of the rows' code.
    """

    frame: str
    session: str
    own: tuple[str, ...]
    registers: str
    outputs: Mapping[str, str]
    fragments: Mapping[str, str]
    spelling: Mapping[str, str] = field(default_factory=dict[str, str])


_APPENDED: Final = ("TEXT", "CALL", "RESULT", "STEER")

SINGLE_SESSION: Final = Variant(
    frame='''

def feed(state: LoopState, events: Sequence[Event], first: int, progress: Progress) -> int:
    """Run the machine of the session without a name over events that stand without a gap from position *first* on.

    Ends before the first event of a session with a name; returns how many events it took. O(events). What it closes
    and reveals is added to *progress*.
    """
    if not events:
        return 0
    {load}
    {tables}
    closed, anomalies = progress
    begin = at = first  # from begin on, this batch is the open cycle's, but for skips
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
    registers=r"\1",
    outputs=_OF_SESSION,
    fragments={
        "BEGIN": "skips.clear()\nbegin = at + 1",
        **dict.fromkeys(_APPENDED, ""),
        "SKIP": "skips.append(at)",
        "CLOSE": (
            "if places or skips:\n"
            "    closed.append((name, Cycle(root, kind, at, event.reason, begin, tuple(places), tuple(skips))))\n"
            "    places.clear()\n"
            "else:\n"
            "    closed.append((name, Cycle(root, kind, at, event.reason, begin)))"
        ),
    },
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
    """Run each event's session over it; *new* makes the state of one that is not there.

    Events stand at *ats*, ascending; several may share a position. What closes and is revealed is added to *progress*.
    O(events).
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
    session=(
        "try:\n"
        "    state = states[event.session_id]\n"
        "except KeyError:\n"
        "    state = states[event.session_id] = new(event.session_id)"
    ),
    own=("kind", "name", "dropped", "places"),
    registers=r"state.\1",
    outputs=_OF_SESSION,
    fragments={
        "BEGIN": "",
        **dict.fromkeys(_APPENDED, "places.append(at)"),
        "SKIP": "",
        "CLOSE": "closed.append((name, Cycle(root, kind, at, event.reason, at, tuple(places))))\nplaces.clear()",
    },
)

# RC-D3: consecutive outputs of one response are a round; without ids, an input between them parts them: fed holds it.
_ROUND: Final = (
    "identity = event.response_id\n"
    "if identity != response or (identity is None and fed):\n"
    "    made = []\n"
    "    rounds.append(Round(fed, made))\n"
    "    fed, response = [], identity\n"
    "made.append(at)\n"
)

WITH_VIEWS: Final = Variant(
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
    session="",
    own=("kind", "anomalies", "dropped"),
    registers=r"\1",
    outputs=_outputs("Anomaly({0}, AT)"),
    fragments={
        "BEGIN": (
            "steps = [RootStep(root)]\nrounds, fed = [], [root]\nresponse, groups, group = NO_RESPONSE, None, None"
        ),
        "TEXT": _ROUND + "groups = []\ngroup = None\nsteps.append(AiBlock(at, groups))",
        "CALL": (
            _ROUND + "of_tool = GROUPS[event.tool] if event.tool in GROUPS else OTHER\n"
            "if of_tool is not group:\n"
            "    if groups is None:\n"
            "        groups = []\n"
            "        steps.append(AiBlock(None, groups))\n"
            "    group, calls_of_group = of_tool, []\n"
            "    groups.append(Group(of_tool, calls_of_group))\n"
            "calls_of_group.append(call)"
        ),
        "RESULT": "fed.append(at)",
        "STEER": "fed.append(at)\nsteps.append(SteerStep(at))\ngroups, group = None, None",
        "SKIP": "",
        "CLOSE": (
            "if fed:\n    rounds.append(Round(fed, []))\nshow(CycleViews(root, kind, at, event.reason, steps, rounds))"
        ),
    },
    # A call's entry is what the view shows of it: its position, and its result's once it is answered.
    spelling={
        "calls[call_id] = at": "call = calls[call_id] = Call(at)",
        "calls[call_id] = -1": "calls_call_id.result = at",
        "calls_call_id == -1": "calls_call_id.result is not None",
        "calls_call_id != -1": "calls_call_id.result is None",
        "entry != -1": "entry.result is None",
        'unanswered-call", entry)': 'unanswered-call", entry.at)',
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
    between,
)
from .events import (
{imports}
)
from .session_state import NO_RESPONSE, LoopState, Progress, State, ViewState
'''

FINISH = '''

def finish(state: State) -> list[Anomaly]:
    """What the log's end reveals; the state is left as it is."""
    anomalies: list[Anomaly] = []
    active, root = state.active, state.root
{body}    return anomalies
'''
