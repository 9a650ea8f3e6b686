"""A declared machine as a picture: its rows become DOT (built with `graphviz`, no binary) or a Mermaid stateDiagram-v2.

A row that leads to a state is an edge, shared by rows of one source and destination. An internal row is an activity
inside its state: as loops, internal rows would hide the rest. A row that only reports an anomaly is grey and stands
aside. The boundary event shows its reasons as one class.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Final, NamedTuple, get_args

from ..core.events import StopReason
from ..declaration.machine import Machine, Row
from ..declaration.vocabulary import Emit
from .graphviz_svg import digraph

_GREY: Final = "#6b6b6b"
_RULE: Final = "#b5b5b5"
_BLANK: Final = "\N{NO-BREAK SPACE}"
_WIDTH: Final = 52
"""Characters of a line beside an edge."""
_ANOMALIES: Final = {"reject", "remark", "ignore", "not-awaited"}
"""The outputs that report an event that is not permitted."""
_START, _FINAL = "start mark", "final mark"
_LEGEND: Final = (
    "dot: initial state   ·   ringed dot: a log may end here   ·   {}grey: not permitted; the state is kept"
)
_HEAVY: Final = "heavy line: the boundary   ·   "


class Line(NamedTuple):
    """A row in words; ``quiet`` if it only reports an anomaly."""

    row: Row
    event: str
    guard: str
    effects: str
    quiet: bool


def edges(machine: Machine) -> dict[tuple[str, str], list[Row]]:
    """Collect the rows that lead to a state, by (source, destination), in the table's order."""
    found: dict[tuple[str, str], list[Row]] = {}
    for row in machine.rows:
        if not row.internal:
            found.setdefault((row.source, row.dest), []).append(row)
    return found


def activities(machine: Machine, state: str) -> list[Line]:
    """Write the internal rows of *state* in words: behaviour first, anomalies after it, else in the table's order."""
    lines = [line(machine, row) for row in machine.rows if row.internal and row.source == state]
    return sorted(lines, key=lambda item: item.quiet)


def line(machine: Machine, row: Row) -> Line:
    """Write *row* in words."""
    conditions = [*row.conditions, *(machine.opposites.get(name, f"not {name}") for name in row.unless)]
    effects = [machine.effects[name] for name in row.effects]
    reasons = f" ⟨{' | '.join(get_args(StopReason))}⟩" if row.event == machine.boundary and not row.internal else ""
    return Line(
        row=row,
        event=row.event + reasons,
        guard=f"[{_words(', '.join(conditions))}]" if conditions else "",
        effects=f"/ {_words('; '.join(row.effects))}" if row.effects else "",
        quiet=bool(effects) and all(isinstance(one, Emit) and one.output in _ANOMALIES for one in effects),
    )


def aside(state: str) -> str:
    """Name the note with the anomalies of *state*."""
    return f"not permitted while {_words(state)}"


def _words(name: str) -> str:
    return name.replace("_", " ")


# ---- DOT -------------------------------------------------------------------------------------------------------
# No HTML-like labels: Graphviz in WebAssembly is built without them. Records make the tables, classes the bold heads.


def to_dot(machine: Machine) -> str:
    """Write *machine* as DOT."""
    label = f"{machine.title}\\n \\n{_LEGEND.format(_HEAVY if machine.boundary else '')}\\n \\n"
    sizes = {"fontsize": "10", "nodesep": "0.5", "ranksep": "0.6"}
    graph = digraph(machine.name, label, sizes, {"shape": "record", "fontsize": "10.5"}, {"fontsize": "10.5"})
    graph.node(_START, label="", shape="circle", width="0.16", style="filled", fillcolor="black")
    graph.edge(_START, machine.initial)
    for state in machine.states:
        lines = activities(machine, state)
        behaviour = _record(_words(state), [item for item in lines if not item.quiet])
        graph.node(state, label=behaviour, **{"class": "state"})
        if anomalies := [item for item in lines if item.quiet]:
            with graph.subgraph(graph_attr={"rank": "same"}) as side:
                note = aside(state)
                side.node(note, label=_record(note, anomalies), style="", color=_RULE, fontcolor=_GREY, penwidth="0.8")
                side.edge(note, state, style="invis")  # places it; an edge between records of one rank is not drawn
    for state in machine.final:
        mark = f"{_FINAL} {state}"
        graph.node(mark, label="", shape="doublecircle", width="0.12", style="filled", fillcolor="black")
        if state == machine.initial:  # both marks above their state
            graph.edge(mark, state, dir="back")
        else:
            graph.edge(state, mark)
    for (source, dest), rows in edges(machine).items():
        width = "2.4" if all(row.event == machine.boundary for row in rows) else "1.2"
        label = "".join(f"{_BLANK * 2}{text}\\l" for text, _ in edge_lines(machine, rows))
        graph.edge(source, dest, label=label, penwidth=width, **{"class": "step"})
    return str(graph.source)


def _record(title: str, lines: Iterable[Line]) -> str:
    """Write a record: the title above three columns; an event is named once for its consecutive rows."""
    columns: tuple[list[str], ...] = ([], [], [])
    for event, group in groupby(lines, key=lambda item: item.event):
        for index, item in enumerate(group):
            for column, text in zip(columns, ("" if index else event, item.guard, item.effects), strict=True):
                column.append(text or _BLANK)
    table = "|".join("".join(f"{_field(text)}\\l" for text in column) for column in columns if set(column) != {_BLANK})
    return f"{{{_field(title)}|{{{table}}}}}" if table else _field(title)


def _field(text: str) -> str:
    return re.sub(r"[\\{}|<>]", r"\\\g<0>", text)


def edge_lines(machine: Machine, rows: Sequence[Row]) -> Iterator[tuple[str, Row | None]]:
    """Yield the lines beside an edge, each with its row, or None for an event's name."""
    for text, row in _said(machine, rows):
        for part in wrap(text, _WIDTH, subsequent_indent=_BLANK * 6) if row else [text]:
            yield part, row


def _said(machine: Machine, rows: Sequence[Row]) -> Iterator[tuple[str, Row | None]]:
    """Yield the text beside an edge: each event once, then the cases in which it takes the edge."""
    for event, cases in groupby((line(machine, row) for row in rows), lambda item: item.event):
        yield event, None
        for case in cases:
            yield _join(case.guard, case.effects), case.row


def _join(*words: str) -> str:
    return " ".join(filter(None, words))


# ---- Mermaid ---------------------------------------------------------------------------------------------------


def to_mermaid(machine: Machine) -> str:
    """Write *machine* as Mermaid; the anomalies of a state stand in a note beside it."""
    out = ["---", f"title: {machine.title}", "---", "stateDiagram-v2", f"    [*] --> {machine.initial}"]
    for state in machine.states:
        lines = activities(machine, state)
        texts = [(item.quiet, _mermaid(_join(item.event, item.guard, item.effects))) for item in lines]
        out.append(f"    {state} : {_mermaid(_words(state))}")
        out += [f"    {state} : {text}" for quiet, text in texts if not quiet]
        anomalies = [f"        {text}" for quiet, text in texts if quiet]
        out += [f"    note right of {state}", *anomalies, "    end note"] if anomalies else []
    for (source, dest), rows in edges(machine).items():
        said = [text for text, _ in _said(machine, rows)]
        out.append(f"    {source} --> {dest} : {'<br/>'.join(map(_mermaid, said))}")
    out += [f"    {state} --> [*]" for state in machine.final]
    return "\n".join(out) + "\n"


def _mermaid(text: str) -> str:
    """Write the characters that have a meaning in Mermaid as entities."""
    return "".join(f"#{ord(char)};" if char in '#;:<>&"%{}' else char for char in text)
