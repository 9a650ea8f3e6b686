"""The core machine's own promises, walked by generated logs: invariants hold, and no row is there for nothing."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.conformance.generation.logs import Case, cases
from turncheck.model.checking import oracle as interpreter
from turncheck.model.checking.oracle import Interpreter
from turncheck.model.codegen import generate as codegen
from turncheck.model.codegen import loop_template as frames
from turncheck.model.core.decode import judge
from turncheck.model.core.events import SYMBOLS, Event, symbol_of
from turncheck.model.core.projection import project
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.vocabulary import Emit
from turncheck.model.machines.request_cycle import SPEC, TABLE, tables

SETTINGS = settings(max_examples=250, deadline=None, database=None, derandomize=True)


def walk(case: Case) -> Iterator[tuple[Row, str, Mapping[str, Any]]]:
    """The row that each event takes, and the state and registers after it."""
    machine = Interpreter(SPEC, tables(case.policies))
    events: list[tuple[str, Event | None]] = [(symbol_of(event), event) for event in map(judge, case.log)]
    for at, (symbol, event) in enumerate([*events, ("log-end", None)]):
        machine.context.event, machine.context.at = event, at
        (row,) = [row for row in SPEC.by_event[symbol, machine.state] if SPEC.permits(row, machine.context)]
        machine.step(symbol, event, at)
        yield row, machine.state, machine.context.registers


class Walked(NamedTuple):
    """The rows that generated logs take, what of ``sometimes`` they see, and what they show that must not be."""

    rows: set[Row]
    seen: set[str]
    broken: set[str]
    astray: set[Row]


@cache
def walked() -> Walked:
    """All of one walk: to generate the logs anew for each question takes longer than to ask it."""
    found = Walked(set(), set(), set(), set())

    @SETTINGS
    @given(cases())
    def go(case: Case) -> None:
        for row, state, registers in walk(case):
            found.rows.add(row)
            found.seen.update(name for name, holds in SPEC.sometimes.items() if holds(state, registers))
            found.broken.update(name for name, holds in SPEC.always.items() if not holds(state, registers))
            if row.dest != state:
                found.astray.add(row)

    go()
    return found


def test_what_always_holds_holds() -> None:
    assert walked().broken == set()


def test_the_row_that_the_guards_choose_is_the_one_that_is_taken() -> None:
    assert walked().astray == set()


@pytest.mark.parametrize("name", SPEC.sometimes)
def test_what_sometimes_holds_occurs(name: str) -> None:
    assert name in walked().seen


@pytest.mark.parametrize("row", SPEC.rows, ids=lambda row: f"{row.source}: {row.label}")
def test_every_row_is_taken(row: Row) -> None:
    assert row in walked().rows


def test_the_alphabet_is_that_of_the_events_and_the_end() -> None:
    assert sorted(SPEC.events) == sorted([*(symbol.name for symbol in SYMBOLS), "log-end"])


@pytest.mark.parametrize("variant", [frames.SINGLE_SESSION, frames.MULTI_SESSION, frames.WITH_VIEWS])
def test_every_output_has_a_fragment_and_the_reverse(variant: frames.Variant) -> None:
    assert {effect.output for effect in SPEC.effects.values() if isinstance(effect, Emit)} == set(variant.outputs)


@settings(SETTINGS, max_examples=40)
@given(cases(), st.randoms(use_true_random=False))
def test_row_order_means_nothing_to_the_oracle(case: Case, chance: random.Random) -> None:
    events = tuple(map(judge, case.log))
    expected = interpreter.project(events, case.policies)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreter, "SPEC", replace(SPEC, table=chance.sample(TABLE, len(TABLE))))
        assert interpreter.project(events, case.policies) == expected


@pytest.mark.parametrize("seed", range(3))
def test_row_order_means_nothing_to_the_loop(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shuffled = replace(SPEC, table=random.Random(seed).sample(TABLE, len(TABLE)))
    module: dict[str, Any] = {"__name__": "turncheck.model.core.shuffled", "__package__": "turncheck.model.core"}
    exec(compile(codegen.generate(shuffled), "shuffled", "exec"), module)
    for name in ("feed", "feed_sessions", "finish"):
        monkeypatch.setattr(f"turncheck.model.core.projection.{name}", module[name])

    @settings(SETTINGS, max_examples=40)
    @given(cases())
    def agree(case: Case) -> None:
        events = tuple(map(judge, case.log))
        assert project(events, case.policies) == interpreter.project(events, case.policies)

    agree()
