"""From the rows of ``request_cycle`` to ``loop.py``: the hot path as readable, typed, committed Python.

A loop generated from the rows runs as fast as the best one written by hand (99 against 105 ns an event), and two to
three times as fast as a table interpreter or a ``match`` statement; see docs/performance.md. ``turncheck diagrams``'
sibling ``python -m turncheck.model.codegen`` writes the file; tests/model/test_loop.py fails when it drifts.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .events import SYMBOLS, Symbol
from .machine import Machine, Row
from .request_cycle import SPEC
from .vocabulary import Emit, Operand

_PLACES: Final = ("items", "places")
_BUILT: Final = (
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
    "shown",
)
"""The views under way."""
_TABLES: Final = ("while_active", "queue_fate")
_ABREAST: Final = 4
"""Names on a line."""

LOOP: Final = Path(__file__).with_name("loop.py")

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

_ALONE: Final = Variant(
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

_AMONG: Final = Variant(
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
        "if event.session_id != name:\n"
        "    name = event.session_id\n"
        "    try:\n"
        "        state = states[name]\n"
        "    except KeyError:\n"
        "        state = states[name] = new(name)"
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

_VIEWS: Final = Variant(
    frame='''

def feed_views(state: LoopState, events: Sequence[Event], ats: Sequence[int]) -> None:
    """Run one session's machine over its next events, and build both views as it goes; session ids are not looked at.

    Events stand at *ats*, ascending; several may share a position. O(events). What it closes and reveals is added to
    the state.
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
            "of_tool = GROUPS.get(event.tool, OTHER)\n"
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
            "if fed:\n"
            "    rounds.append(Round(fed, []))\n"
            "shown.append(CycleViews(root, kind, at, event.reason, steps, rounds))"
        ),
    },
)

_HEADER = '''"""The hot path, generated from the rows of request_cycle: run `make generate`, do not edit."""

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
from .state import NO_RESPONSE, LoopState, joined

{states}
'''

_FINISH = '''

def finish(state: LoopState) -> list[Anomaly]:
    """What the log's end reveals; the state is left as it is."""
    anomalies: list[Anomaly] = []
    control, root = state.control, state.root
{body}    return anomalies
'''


def generate(spec: Machine = SPEC) -> str:
    """The text of ``loop.py``."""
    tested = list(_groups())[:-1]
    structs = sorted({struct.__name__ for group in tested for struct in group} | {"Event"})
    text = _HEADER.format(
        imports=_indented([f"{name}," for name in structs], 4).rstrip(),
        states="\n".join(f"{_constant(state)} = {number}" for number, state in enumerate(spec.states)),
    )
    for variant in (_ALONE, _AMONG, _VIEWS):
        body = _indented(list(_dispatch(spec, variant)), 8)
        names = ["control", *spec.registers, *variant.own]
        state = rf"(?<![.\w])({'|'.join([*names, *_PLACES])})\b"
        text += variant.frame.format(
            body=re.sub(state, variant.registers, body),
            tables=_load(_TABLES)[0],
            load=_indented(_load(names), 4).strip(),
            store=_store(spec),
            views="\n    ".join(_load(_BUILT)),
            store_views="\n    ".join(_stored(_BUILT)),
        )
    return text + _FINISH.format(body=_indented(list(_states(spec, "log-end", _ALONE)), 4))


def _load(names: Sequence[str]) -> list[str]:
    """A state's attributes as locals."""
    some = [names[start : start + _ABREAST] for start in range(0, len(names), _ABREAST)]
    return [f"{', '.join(part)} = {', '.join(f'state.{name}' for name in part)}" for part in some]


def _store(spec: Machine) -> str:
    """Back into the state goes what is no object of its own."""
    return _stored(["control", "kind", *(name for name, kind in spec.registers.items() if kind == "number")])[0]


def _stored(names: Sequence[str]) -> list[str]:
    """Locals as a state's attributes."""
    some = [names[start : start + _ABREAST] for start in range(0, len(names), _ABREAST)]
    return [f"{', '.join(f'state.{name}' for name in part)} = {', '.join(part)}" for part in some]


def _dispatch(spec: Machine, variant: Variant) -> Iterator[str]:
    """Tests on the structure, then on the kind, in the order of SYMBOLS; the last structure needs no test."""
    groups = _groups()
    for number, (structs, symbols) in enumerate(groups.items()):
        test = " or ".join(f"struct is {struct.__name__}" for struct in structs)
        yield "else:" if number == len(groups) - 1 else f"{'el' if number else ''}if {test}:"
        yield from _shifted(variant.session.splitlines())
        for place, symbol in enumerate(symbols):
            if len(symbols) == 1:
                yield from _shifted(_complete(spec, symbol, variant))
                continue
            kinds = " or ".join(f'event.kind == "{kind}"' for kind in symbol.kinds)
            yield f"    if {kinds}:" if place == 0 else "    else:"
            yield from _shifted(_complete(spec, symbol, variant), 2)


def _groups() -> dict[tuple[type, ...], list[Symbol]]:
    groups: dict[tuple[type, ...], list[Symbol]] = {}
    for symbol in SYMBOLS:
        groups.setdefault(symbol.structs, []).append(symbol)
    return groups


def _complete(spec: Machine, symbol: Symbol, variant: Variant) -> Iterator[str]:
    """The symbol's rows, behind the test that the event has the fields it needs (RC-D5).

    A field that is read more than once on the way is bound to a local first.
    """
    lacks = [f"event.{name} is None" for name in symbol.needs]
    if symbol.one_of:
        left, right = symbol.one_of
        lacks.append(f"(event.{left} is None) == (event.{right} is None)")
    lines = list(_states(spec, symbol.name, variant))
    if lacks:
        chained = lines[0].startswith("if ")
        rows = [f"el{lines[0]}", *lines[1:]] if chained else ["else:", *_shifted(lines)]
        lines = [f"if {' or '.join(lacks)}:", *_shifted(_states(spec, "malformed", variant)), *rows]
    text = "\n".join(lines)
    for name in sorted(set(re.findall(r"event\.(\w+)", text))):
        if len(re.findall(rf"event\.{name}\b", text)) > 1:
            yield f"{name} = event.{name}"
            text = re.sub(rf"event\.{name}\b", name, text)
    lines = text.splitlines()
    yield from lines


def _states(spec: Machine, event: str, variant: Variant) -> Iterator[str]:
    """One branch a control state, the later ones first (a log is mostly active); none where all states agree."""
    branches = {state: list(_rows(spec, spec.rows_of(event, state), variant)) for state in reversed(spec.states)}
    if len({tuple(lines) for lines in branches.values()}) == 1:
        yield from branches[spec.initial]
        return
    busy = [(state, lines) for state, lines in branches.items() if lines != ["pass"]]
    for number, (state, lines) in enumerate(busy):
        last = number == len(branches) - 1
        yield "else:" if last else f"{'el' if number else ''}if control == {_constant(state)}:"
        yield from _shifted(lines)


def _rows(spec: Machine, rows: Sequence[Row], variant: Variant) -> Iterator[str]:
    """The rows of one event in one state: guards are disjoint and complete, so that the last row needs no test."""
    subjects = [spec.guards[name].subject for name in dict.fromkeys(name for row in rows for name in row.guards)]
    bound = {subject: _identifier(subject) for subject in subjects if subjects.count(subject) > 1}
    for subject, name in bound.items():
        yield f"{name} = {subject.code}"
    for number, row in enumerate(rows):
        tests = [spec.guards[name].code(bound) for name in row.conditions]
        tests += [spec.guards[name].negated(bound) for name in row.unless]
        effects = list(_effects(spec, row, variant)) or ["pass"]
        if len(rows) == 1:
            yield from effects
            return
        yield "else:" if number == len(rows) - 1 else f"{'el' if number else ''}if {' and '.join(tests)}:"
        yield from _shifted(effects)


def _effects(spec: Machine, row: Row, variant: Variant) -> Iterator[str]:
    for name in row.effects:
        effect = spec.effects[name]
        code = effect.fragment(OUTPUTS) if isinstance(effect, Emit) else effect.code
        for line in code.splitlines():
            filled = variant.fragments.get(line, line)
            yield from filled.splitlines()
    if row.dest != row.source:
        yield f"control = {_constant(row.dest)}"


def _identifier(operand: Operand) -> str:
    return re.sub(r"\W+", "_", re.sub(r"event\.|\.get", "", operand.code)).strip("_")


def _constant(state: str) -> str:
    return state.upper().replace("-", "_")


def _shifted(lines: Iterator[str] | Sequence[str], depth: int = 1) -> Iterator[str]:
    yield from (f"{'    ' * depth}{line}" for line in lines)


def _indented(lines: Sequence[str], width: int) -> str:
    return "".join(f"{' ' * width}{line}\n" for line in lines)


if __name__ == "__main__":
    LOOP.write_text(generate(), encoding="utf-8")
