"""The conversation machine, explored to the end of a bound: the core accepts its logs, and finds a wrong table."""

from collections import deque
from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.references.conversation import core
from turncheck.adapters.references.conversation.core import Conversation
from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.policies import Policies
from turncheck.model.declaration.machine import Row
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.machines import request_cycle
from turncheck.model.machines.conversation import DEFAULTS, SPEC, Input

LIMIT = DEFAULTS["limit"]
ITEM = {"kind": "assistant", "text": "yes"}
BOUNDS = {"said": 3, "calls": 2, "joined": 1}
"""Items of a response, slots that wait, sub-agents that join a slot: two colours of each, and room for a third."""


def forked(stepper):
    """A stepper that goes its own way from here."""
    twin = copy(stepper)
    twin.context = replace(stepper.context, registers=deepcopy(stepper.context.registers), outputs=[])
    return twin


@dataclass
class Node:
    """A conversation, the core that reads its log, and the calls of the slot that ran last."""

    conversation: Conversation
    core: Stepper
    slot: tuple[int, ...] = ()

    def letters(self):
        """Yield all possible letters: each answer to a present request, and to earlier ones."""
        asked = self.conversation.registers["asked"]
        yield from (
            ("user", Input(payload={"text": "go"})),
            ("cancel", Input()),
            ("restart", Input()),
            ("join", Input()),
        )
        for answers in {asked, asked - 1}:
            yield "text", Input(answers, payload=ITEM)
            for name in ("tool-call", "spawn-call"):
                yield name, Input(answers, payload={"kind": "tool-call", "callId": "c", "tool": name})
            for tokens in (LIMIT - 1, LIMIT):
                yield "usage", Input(answers, tokens=tokens)
            for reason in ("end-turn", "length"):
                yield "model-stop", Input(answers, reason=reason)
            for name in ("retryable-failure", "fatal-failure", "retry-due"):
                yield name, Input(answers, message="why")
            for call in self.slot:
                yield "tool-result", Input(answers, call=call, payload={"output": "done"})

    def after(self, letter, told):
        """The node that a letter leads to, and the core's anomalies on the way."""
        node = Node(copy(self.conversation), forked(self.core), self.slot)
        node.conversation._stepper = forked(self.conversation._stepper)
        node.conversation.log = list(self.conversation.log)
        outputs, events = node.conversation.take(letter, told)
        found = []
        for event in map(judge, events):
            node.core.take(symbol_of(event), event, 0)
            found += [output for output in node.core.outputs if output.name in {"reject", "remark"}]
        for output in outputs:
            if output.name == "run":
                _, first, others = output.arguments
                calls = [event["seq"] for event in node.conversation.log if event.get("kind") == "tool-call"]
                node.slot = tuple(call for call in calls if call >= first)[: 1 + max(others, 0)]
        if node.core.state == "idle":
            node.conversation.log.clear()  # no row and no refinement looks further back than the open run
        return node, found

    @property
    def key(self):
        """Return the state with positions and numbers replaced by their order, since only that matters."""
        data = self.conversation.registers
        held = {name: len(value) if isinstance(value, deque | dict) else value for name, value in data.items()}
        runs = self.slot if self.conversation.state == "executing" else ()
        held |= {"asked": 0, "running": tuple(call in data["kept"] for call in runs), "joins": tuple(data["joins"])}
        return self.conversation.state, self.core.state, *held.items()

    @property
    def within(self):
        data = self.conversation.registers
        return all((len(data[name]) if name != "joined" else data[name]) <= bound for name, bound in BOUNDS.items())


@dataclass
class Explored:
    """The states within the bounds, and their faults, each with the letters that lead there."""

    states: int = 0
    transitions: int = 0
    rows: set[Row] = field(default_factory=set)
    sometimes: set[str] = field(default_factory=set)
    wrong: dict[str, tuple[str, ...]] = field(default_factory=dict)


def explore(kind="user"):
    first = Node(
        Conversation({**DEFAULTS, "kind": kind}), Stepper(request_cycle.SPEC, request_cycle.tables(Policies()))
    )
    found, seen = Explored(states=1), {first.key}
    waiting: deque[tuple[Node, tuple[str, ...]]] = deque([(first, ())])
    while waiting and not found.wrong:
        node, path = waiting.popleft()
        for letter, told in node.letters():
            stepper = node.conversation._stepper
            found.rows.add(stepper.row(letter, told))
            after, anomalies = node.after(letter, told)
            found.transitions += 1
            word = (*path, letter)
            state, data = after.conversation.state, after.conversation.registers
            for one in anomalies:
                found.wrong.setdefault(one.arguments[0], word)
            for name, holds in SPEC.always.items():
                if not holds(state, data):
                    found.wrong.setdefault(name, word)
            if (after.core.state == "active") != (state in {"awaiting", "executing"}):
                found.wrong.setdefault("a run is open when the agent is busy", word)
            found.sometimes |= {name for name, holds in SPEC.sometimes.items() if holds(state, data)}
            if after.within and after.key not in seen:
                seen.add(after.key)
                found.states += 1
                waiting.append((after, word))
    return found


@cache
def explored(kind):
    return explore(kind)


@pytest.mark.parametrize("kind", ["user", "sub-agent"])
def test_whatever_it_is_told_the_core_accepts_its_log(kind) -> None:
    assert explored(kind).wrong == {}


def test_the_exploration_goes_this_far() -> None:
    found = explored("user")
    assert (found.states, found.transitions) == (1465, 38760)


@pytest.mark.parametrize("name", SPEC.sometimes)
def test_what_sometimes_holds_occurs(name) -> None:
    assert name in explored("user").sometimes


@pytest.mark.parametrize("row", SPEC.rows, ids=lambda row: f"{row.source}: {row.label}")
def test_every_row_is_taken(row) -> None:
    assert row in explored("user").rows | explored("sub-agent").rows


ROWS: list[list[Any]] = [[*row] for row in SPEC.table]


def wrong(event, source, effects):
    """The table with other effects in the rows of an event in a state that do something."""
    rows = [[*row] for row in ROWS]
    for row in rows:
        if row[0] == event and row[1] == source and row[5]:
            row[5] = effects(row[5])
    return rows


def without(name):
    return lambda effects: [one for one in effects if one != name]


DOUBLES = {
    "a cancel that leaves calls unanswered": (wrong("cancel", "executing", without("skip")), "unanswered-call"),
    "a cancel that stops nothing": (
        wrong("cancel", "awaiting", without("interrupt")),
        "a run is open when the agent is busy",
    ),
    "a cancel that ends the run twice": (wrong("cancel", "executing", lambda it: [*it, "interrupt"]), "outside-run"),
    "a cancel that keeps the response": (
        wrong("cancel", "awaiting", without("forget_said")),
        "a response is under way only while one is awaited",
    ),
    "a restart that forgets to end the run": (
        wrong("restart", "executing", without("cut_off")),
        "a run is open when the agent is busy",
    ),
    "a retry without end": (
        [
            ["retryable-failure", "awaiting", None, [], ["stale"], row[5]] if "try_again" in row[5] else row
            for row in ROWS
            if "give_up" not in row[5]
        ],
        "a request is retried so often at most",
    ),
    "a result that is answered again by the next slot": (
        wrong("tool-result", "executing", without("forget_kept")),
        "a result is kept only while its slot runs",
    ),
    "a result that is told twice": (
        wrong("tool-result", "executing", lambda it: [*it[:2], "answer", *it[2:]]),
        "duplicate-result",
    ),
    "a call that is never run": (
        [
            ["tool-call", "awaiting", None, [], ["stale"], ["note", "measure", "alone"]]
            if row[0] == "tool-call" and row[5]
            else row
            for row in ROWS
        ],
        "each slot has its size",
    ),
    "a failure that is told twice": (wrong("fatal-failure", "awaiting", lambda it: [*it, "fail"]), "outside-run"),
}


@pytest.mark.parametrize("name", DOUBLES)
def test_a_wrong_table_is_found_out(name, monkeypatch) -> None:
    table, what = DOUBLES[name]
    monkeypatch.setattr(core, "SPEC", replace(SPEC, table=table))
    assert what in explore().wrong


@settings(max_examples=30, deadline=None, database=None, derandomize=True)
@given(st.lists(st.integers(0, 1000), max_size=80))
def test_long_conversations_are_accepted_too(choices) -> None:
    node = Node(Conversation(), Stepper(request_cycle.SPEC, request_cycle.tables(Policies())))
    for choice in choices:
        letters = list(node.letters())
        node, found = node.after(*letters[choice % len(letters)])
        assert found == []
