"""From the rows of ``request_cycle`` to ``loop.py``: the hot path as readable, typed, committed Python.

A loop generated from the rows runs as fast as the best one written by hand (99 against 105 ns an event), and two to
three times as fast as a table interpreter or a ``match`` statement; see docs/performance.md. ``make generate`` writes
the file; tests/model/codegen/test_loop.py fails when it drifts. What stands around the rows is in ``frames.py``.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ..core.events import SYMBOLS, Symbol
from ..declaration.machine import Machine, Row
from ..declaration.vocabulary import Emit, Equal, Guard, Operand
from ..machines.request_cycle import SPEC
from .loop_template import BUILT, FINISH, HEADER, MULTI_SESSION, SINGLE_SESSION, WITH_VIEWS, Variant

_TABLES: Final = ("while_active", "queue_fate")
_ABREAST: Final = 4
"""Names on a line."""

LOOP: Final = Path(__file__).parents[1] / "core" / "loop.py"


def generate(spec: Machine = SPEC) -> str:
    """The text of ``loop.py``. The machine has two states: a variable of the second one's name tells them apart."""
    _, second = spec.states
    tested = list(_groups())[:-1]
    structs = sorted({struct.__name__ for group in tested for struct in group} | {"Event"})
    text = HEADER.format(imports=_indented([f"{name}," for name in structs], 4).rstrip())
    for variant in (SINGLE_SESSION, MULTI_SESSION, WITH_VIEWS):
        body = _indented(list(_dispatch(spec, variant)), 8)
        names = [second, *spec.registers, *variant.own]
        state = rf"(?<![.\w])({'|'.join(names)})\b"
        for said, meant in variant.spelling.items():
            body = body.replace(said, meant)
        text += variant.frame.format(
            body=re.sub(state, variant.registers, body),
            tables=_load(_TABLES)[0],
            load=_indented(_load(names), 4).strip(),
            store=_store(spec),
            views="\n    ".join(_load(BUILT)),
            store_views="\n    ".join(_stored(BUILT)),
        )
    return text + FINISH.format(body=_indented(list(_states(spec, "log-end", WITH_VIEWS)), 4))


def _load(names: Sequence[str]) -> list[str]:
    """A state's attributes as locals."""
    some = [names[start : start + _ABREAST] for start in range(0, len(names), _ABREAST)]
    return [f"{', '.join(part)} = {', '.join(f'state.{name}' for name in part)}" for part in some]


def _store(spec: Machine) -> str:
    """Back into the state goes what is no object of its own."""
    return _stored([spec.states[1], "kind", *(name for name, kind in spec.registers.items() if kind == "number")])[0]


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
        test = f"not {spec.states[1]}" if state == spec.initial else spec.states[1]
        yield "else:" if last else f"{'el' if number else ''}if {test}:"
        yield from _shifted(lines)


def _rows(spec: Machine, rows: Sequence[Row], variant: Variant) -> Iterator[str]:
    """The rows of one event in one state: guards are disjoint and complete, so that the last row needs no test.

    What is not there is asked first: tests after that may look into what was found.
    """
    rows = sorted(rows, key=lambda row: not any(_absence(spec.guards[name]) for name in row.conditions))
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
        code = effect.fragment(variant.outputs) if isinstance(effect, Emit) else effect.code
        for line in code.splitlines():
            filled = variant.fragments.get(line, line)
            yield from filled.splitlines()
    if row.dest != row.source:
        yield f"{spec.states[1]} = {row.dest != spec.initial}"


def _absence(guard: Guard) -> bool:
    return isinstance(guard, Equal) and guard.right.value is None


def _identifier(operand: Operand) -> str:
    return re.sub(r"\W+", "_", re.sub(r"event\.|\.get", "", operand.code)).strip("_")


def _shifted(lines: Iterator[str] | Sequence[str], depth: int = 1) -> Iterator[str]:
    yield from (f"{'    ' * depth}{line}" for line in lines)


def _indented(lines: Sequence[str], width: int) -> str:
    return "".join(f"{' ' * width}{line}\n" for line in lines)


if __name__ == "__main__":
    LOOP.write_text(generate(), encoding="utf-8")
