"""Restarts of ``reference:conversation``: what is durable before what, and what a crash leaves."""

import sqlite3

import pytest
from conversing import CALLED, END, GO, SPAWNING, call, say

from turncheck.adapters.references.conversation import SPAWN, ConversationTarget
from turncheck.adapters.references.conversation import store as stores
from turncheck.adapters.references.conversation.core import durable
from turncheck.conformance.generation.situations import TOOLS
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import ResetOptions, ToolReturn, User


@pytest.mark.parametrize(
    ("word", "types"),
    [
        ([], ["user-message", "run-stop"]),
        ([say("half")], ["user-message", "run-stop"]),
        ([say("yes"), END], ["user-message", "agent-output", "run-stop"]),
        ([call("a"), CALLED], ["user-message", "agent-output", "tool-result", "run-stop"]),
    ],
    ids=["asked", "partial", "done", "executing"],
)
def test_a_restart_finds_the_whole_history_and_an_idle_agent(tmp_path, word, types) -> None:  # BED-003b, BED-007b
    with ConversationTarget() as runtime:
        options = ResetOptions(tools=TOOLS, state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.run([GO, *word])
        runtime.kill()
        step = runtime.reset(options)
        assert step.awaiting == ()
        agent = runtime.shell.agents[""]
        assert ([event["type"] for event in agent.core.log], agent.core.state) == (types, "idle")
        assert runtime.apply(User(id="u2", text="on")).refused is None


def test_a_restart_finds_the_history_as_it_was(tmp_path) -> None:  # BED-007c, BED-013b
    seen = User(id="u1", text="see", content=[{"type": "text", "text": "see"}, {"type": "image", "path": "shot.png"}])
    with ConversationTarget() as runtime:
        options = ResetOptions(tools=TOOLS, state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.run([seen, call("a", path="x"), CALLED, ToolReturn(call_id="a", output={"red": 1}), say("yes"), END])
        before = durable(runtime.shell.agents[""].core.log)
        runtime.kill()
        runtime.reset(options)
        assert runtime.shell.agents[""].core.log == before


def test_a_conversation_stays_in_its_directory_wherever_the_runtime_is_next(tmp_path) -> None:  # BED-010a
    options = ResetOptions(state_dir=str(tmp_path / "state"))
    for place in ("one", "other"):
        with ConversationTarget(directory=str(tmp_path / place)) as runtime:
            runtime.reset(options)
            runtime.apply(User(id=place, text="go"))
            assert runtime.shell.agents[""].directory == str(tmp_path.resolve() / "one")


def test_a_restart_again_adds_nothing(tmp_path) -> None:
    with ConversationTarget() as runtime:
        options = ResetOptions(state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.apply(GO)
        assert [len(runtime.reset(options).events) for _ in range(3)] == [1, 0, 0]


def test_sub_agents_are_idle_after_a_restart_and_still_not_listed(tmp_path) -> None:  # BED-007b, BED-009e
    with ConversationTarget() as runtime:
        options = ResetOptions(tools=SPAWNING.tools, state_dir=str(tmp_path))
        runtime.reset(options)
        runtime.run([GO, call("a", SPAWN, task="red"), CALLED])
        runtime.reset(options)
        assert {agent.core.state for agent in runtime.shell.agents.values()} == {"idle"}
        assert runtime.shell.listed() == [""]


def test_the_state_is_durable_before_its_effects(tmp_path, monkeypatch) -> None:  # BED-007a
    order = []
    monkeypatch.setattr(stores.Database, "save", lambda *_: order.append("save"))
    with ConversationTarget() as runtime:
        runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))
        monkeypatch.setattr(runtime.shell, "_begin", lambda *_: order.append("begin"))
        runtime.run([GO, call("a"), CALLED])
    assert order == ["save", "save", "begin"]


def test_the_state_is_durable_before_a_client_hears_of_it(tmp_path, monkeypatch) -> None:  # BED-007a
    order = []
    monkeypatch.setattr(stores.Database, "save", lambda *_: order.append("save"))
    with ConversationTarget() as runtime:
        runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))
        runtime.shell.clients.append(lambda _: order.append("heard"))
        runtime.run([GO, say("yes"), END])
    assert order == ["save", "heard", "save", "heard"]


class CrashError(Exception):
    """The process ends here."""


WHOLE = [
    *(GO, call("a"), call("b"), CALLED),
    *(ToolReturn(call_id="a", output="red"), ToolReturn(call_id="b", output="blue"), say("yes"), END),
]
SAVES = 5
"""That the whole word asks for: a message, a response with calls, two results, and the end."""


def crashing(number, *, committed):
    """Return a ``save`` that ends the process at the given call, before or after its commit."""
    save, saves = stores.Database.save, iter(range(SAVES))

    def crash(*arguments):
        last = next(saves) == number
        if committed or not last:
            save(*arguments)
        if last:
            raise CrashError

    return crash


@pytest.mark.parametrize("committed", [False, True], ids=["before its commit", "after it"])
@pytest.mark.parametrize("number", range(SAVES))
def test_a_crash_at_any_save_leaves_a_history_that_the_core_accepts(tmp_path, monkeypatch, number, committed) -> None:
    options = ResetOptions(tools=TOOLS, state_dir=str(tmp_path))
    with ConversationTarget() as runtime:
        runtime.reset(options)
        with monkeypatch.context() as patch:
            patch.setattr(stores.Database, "save", crashing(number, committed=committed))
            with pytest.raises(CrashError):
                runtime.run(WHOLE)
        runtime.reset(options)
        agent = runtime.shell.open("")
        assert agent.core.state == "idle"
        assert project(tuple(map(judge, agent.core.log)), Policies()).anomalies == ()
        assert len(agent.core.log) >= number


def test_a_disk_that_takes_nothing_stops_the_effects(tmp_path, monkeypatch) -> None:  # BED-007a
    with ConversationTarget() as runtime:
        runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))

        def full(*_):
            raise sqlite3.OperationalError("database or disk is full")

        monkeypatch.setattr(stores.Database, "save", full)
        with pytest.raises(sqlite3.OperationalError):
            runtime.apply(GO)
        assert runtime.shell.agents[""].request is None
