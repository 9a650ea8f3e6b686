"""A declared machine as a figure for a book: an overview of a large machine and its parts, or a small one whole.

What a state does not name is folded into one note. An internal row stands in its state's box, or, where several states
share it, in a box of its own. The text of an arrow is a node between two edges: Graphviz leads no edge through a node.
Effects that only keep registers are left out, unless they are asked for, or say why a run ends.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any, Final, NamedTuple

from ..declaration.machine import Row
from ..declaration.proof_roles import ProofRoles
from ..declaration.vocabulary import Emit
from .graphviz_svg import digraph
from .state_diagram import line

_WIDTH: Final = 44
"""Characters of a line."""
_SHARED: Final = 3
"""As many states share a row at least that it is drawn once for them all."""
_IGNORES: Final = {"ignore", "not-awaited"}
_GREY: Final = "#6b6b6b"
_BLANK: Final = "\N{NO-BREAK SPACE}"
_LEGEND: Final = (
    "[guard] / outputs   ·   dot: initial state   ·   double frame: a log may end here   ·   heavy: the boundary"
)
_REST: Final = "What a state does not name changes nothing there."


class _Case(NamedTuple):
    """The text of a row, and where it leads; ``dest`` is None for a row that stays."""

    event: str
    text: str
    dest: str | None
    boundary: bool


class _Arrow(NamedTuple):
    """The cases that lead from one state, or from any of several, to another, if both are drawn as one edge."""

    sources: tuple[str, ...]
    dest: str | None
    boundary: bool
    cases: tuple[_Case, ...]


def to_dot(roles: ProofRoles, part: str | None = None, *, registers: bool = False) -> str:
    """Write a machine as DOT: of one with ``parts`` the overview, or one *part* (or aside); *registers*: all effects.

    Raises KeyError for a part that the machine does not have.
    """
    machine = roles.machine
    overview = bool(roles.parts) and part is None
    aside = part in roles.asides
    states = machine.states if part is None or aside else roles.parts[part]
    apart = {event for events in roles.asides.values() for event in events}
    events = (
        roles.asides[part] if part is not None and aside else [name for name in machine.events if name not in apart]
    )
    title = machine.title if part is None else f"{machine.title}: {part}"
    sizes = {"fontsize": "10", "nodesep": "0.3", "ranksep": "0.28", "labelloc": "t"}
    heading = f"{title}\\n \\n{_LEGEND}\\n{_REST}\\n \\n"
    name = machine.name if part is None else f"{machine.name} {part}"
    graph = digraph(name, heading, sizes, {"shape": "box", "fontsize": "10.5"}, {"fontsize": "10.5"})
    rows = [row for row in machine.rows if row.source in states and row.event in events]
    arrows = [*_arrows(roles, rows, overview=overview, registers=registers)]
    inner = [arrow for arrow in arrows if arrow.dest is None]
    if machine.initial in states:
        graph.node("start", label="", shape="circle", width="0.16", style="filled", fillcolor="black", **_class("mark"))
        graph.edge("start", machine.initial)
    outside = [arrow.dest for arrow in arrows if arrow.dest is not None and arrow.dest not in states]
    for state in dict.fromkeys([*states, *outside]):
        own = [case for arrow in inner if arrow.sources == (state,) for case in arrow.cases]
        _state(graph, roles, state, _lines(own), here=state in states)
    for number, arrow in enumerate(arrows):
        _draw(graph, arrow, f"text {number}", states)
    if rejected := _rejected(roles, rows):
        graph.node(
            "rejected", label=_left(rejected), shape="note", color=_GREY, fontcolor=_GREY, style="", **_class("quiet")
        )
        graph.edge(states[0], "rejected", style="invis")
    return str(graph.source)


def _class(name: str) -> dict[str, str]:
    return {"class": name}


def _state(graph: Any, roles: ProofRoles, state: str, lines: Sequence[str], *, here: bool) -> None:
    title = state.replace("_", " ")
    if not here:
        graph.node(state, label=title, style="rounded,dashed", color=_GREY, fontcolor=_GREY, **_class("quiet"))
        return
    final = {"peripheries": "2"} if state in roles.machine.final else {}
    if lines and final:  # a record has no double frame
        graph.node(state, label=f"{title}\\n{_left(lines)}", **final, **_class("state"))
    elif lines:
        label = f"{{{title}|{_left(map(_escaped, lines))}}}"
        graph.node(state, label=label, shape="record", **_class("state"))
    else:
        graph.node(state, label=title, margin="0.2,0.1", **final, **_class("state"))


def _draw(graph: Any, arrow: _Arrow, name: str, states: Sequence[str]) -> None:
    """Draw an arrow: from its source, or from a box that names several, over its text to where it leads."""
    lines, several = _lines(arrow.cases), len(arrow.sources) > 1
    shared = {"style": "rounded,dashed", **_class("shared")}
    if arrow.dest is None:
        if several:
            graph.node(name, label=_left([*wrap(f"in {_named(arrow.sources, states)}:", _WIDTH), *lines]), **shared)
        return
    wide = {"penwidth": "2.6", **_class("boundary")} if arrow.boundary else {"penwidth": "1.1"}
    graph.node(name, label=_left(lines), color="none", style="", margin="0.06,0.03", **_class("text"))
    source = f"{name} of" if several else arrow.sources[0]
    if several:
        graph.node(source, label=_left(wrap(_named(arrow.sources, states), _WIDTH)), **shared)
    graph.edge(source, name, arrowhead="none", **wide)
    graph.edge(name, arrow.dest, **wide)


def _named(some: Sequence[str], states: Sequence[str]) -> str:
    """Name several of the states, by the others if these are fewer."""
    others = [state for state in states if state not in some]
    if not others:
        return "every state" if len(states) > 1 else states[0]
    fewer = len(others) < len(some)
    named = ", ".join(one.replace("_", " ") for one in (others if fewer else some))
    return f"all but {named}" if fewer else f"any of {named}"


def _arrows(roles: ProofRoles, rows: Sequence[Row], *, overview: bool, registers: bool) -> Iterator[_Arrow]:
    """Yield the arrows: rows that several states share first, then each state's own, in the table's order."""
    cases: dict[tuple[str, _Case], None] = {}
    for row in rows:
        if not _quiet(roles, row) and not (overview and row.source == row.dest):
            cases[row.source, _case(roles, row, overview=overview, registers=registers)] = None
    sources: dict[_Case, list[str]] = {}
    for state, case in cases:
        sources.setdefault(case, []).append(state)
    found: dict[tuple[tuple[str, ...], str | None, bool], list[_Case]] = {}
    for state, case in cases:
        shared = tuple(sources[case]) if len(sources[case]) >= _SHARED else (state,)
        kept = found.setdefault((shared, case.dest, case.boundary), [])
        if case not in kept:
            kept.append(case)
    for (shared, dest, boundary), own in found.items():
        yield _Arrow(shared, dest, boundary, tuple(own))


def _case(roles: ProofRoles, row: Row, *, overview: bool, registers: bool) -> _Case:
    machine = roles.machine
    said = line(machine, row)
    effects = [
        name
        for name in row.effects
        if registers or isinstance(machine.effects[name], Emit) or name in roles.run.reasons
    ]
    outputs = f"/ {', '.join(effects)}".replace("_", " ") if effects else ""
    text = "" if overview else " ".join(filter(None, (said.guard, outputs)))
    marks = {*roles.run.ends} or {*roles.boundary}
    boundary = not row.internal and bool(marks.intersection(row.effects))
    return _Case(said.event, text, None if row.internal else row.dest, boundary)


def _quiet(roles: ProofRoles, row: Row) -> bool:
    """Return whether a row changes nothing and says at most that it does not."""
    return row.source == row.dest and (not row.effects or line(roles.machine, row).quiet)


def _lines(cases: Iterable[_Case]) -> list[str]:
    """Write cases: an event once for its consecutive ones, and once with others that have the same cases."""
    by_event: dict[str, list[str]] = {}
    for case in cases:
        by_event.setdefault(case.event, []).append(case.text)
    alike: dict[tuple[str, ...], list[str]] = {}
    for event, cases_of in by_event.items():
        alike.setdefault(tuple(cases_of), []).append(event)
    found: list[str] = []
    for texts, events in alike.items():
        one = len(texts) == 1
        head = ", ".join(events)
        found += wrap(f"{head} {texts[0]}" if one else head, _WIDTH, subsequent_indent=_BLANK * 4)
        for text in () if one else filter(None, texts):
            found += wrap(_BLANK * 2 + text, _WIDTH, subsequent_indent=_BLANK * 6)
    return found


def _rejected(roles: ProofRoles, rows: Sequence[Row]) -> list[str]:
    """Write what is not ignored but rejected: by its anomaly, the events and the states."""
    machine = roles.machine
    found: dict[str, dict[str, list[str]]] = {}
    for row in rows:
        effects = [machine.effects[name] for name in row.effects]
        rejects = [one for one in effects if isinstance(one, Emit) and one.output not in _IGNORES]
        if _quiet(roles, row) and rejects:
            told = " ".join(filter(None, (row.event, line(machine, row).guard)))
            what = row.effects[0].replace("_", " ")
            found.setdefault(what, {}).setdefault(row.source, []).append(told)
    lines: list[str] = []
    for what, by_state in found.items():
        for events, group in groupby(by_state.items(), key=lambda item: item[1]):
            where = " or ".join(state for state, _ in group)
            lines += wrap(f"{where}: {', '.join(events)} / {what}", 2 * _WIDTH, subsequent_indent=_BLANK * 4)
    return lines


def _left(lines: Iterable[str]) -> str:
    return "".join(f"{text}\\l" for text in lines)


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "{}|<>" else char for char in text)


def figures(roles: ProofRoles) -> Mapping[str, str | None]:
    """Return the figures of a machine: file name without its ending → part, None for the machine or its overview."""
    name = roles.machine.name
    return {name: None} | {f"{name}_{part}": part for part in (*roles.parts, *roles.asides)}
