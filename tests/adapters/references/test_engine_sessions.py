"""Sessions of the engine's server: their ids, compaction, clients that go, and a storage that fails."""

import asyncio
import contextlib

import msgspec
import pytest
from engine_world import ANSWER, READ, SECONDS, Gate, Model, Summariser, Tools, World, named, worlds

from turncheck.adapters.references.engine.ports import Delta, Done, Files, ToolOutput
from turncheck.adapters.references.engine.session import Message, Session
from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project


@pytest.fixture
def engine(tmp_path):
    with worlds(tmp_path) as start:
        yield start


# ---- sessions ----


def test_without_an_id_a_session_is_created(engine):
    """RS-1."""
    world = engine(ANSWER)
    (done,) = named(world.chat(session_id=None), "done")
    assert world.storage.load(done["session_id"]).messages[0].text == "one"


def test_a_session_goes_on_where_it_was(engine):
    """RS-1."""
    world = engine(ANSWER, ANSWER)
    world.chat("one")
    world.chat("two")
    assert [message.text for message in world.model.asked[1]] == ["one", "all well", "two"]


def test_an_id_cannot_leave_the_storage(engine, tmp_path):
    engine(ANSWER).chat(session_id="../up/and/away")
    assert [file.parent for file in tmp_path.rglob("*.json")] == [tmp_path]


def test_what_is_no_request_is_told_so(engine):
    assert engine().post(content=b'{"session_id": "s1"}').status_code == 400


def test_a_request_while_one_runs_is_refused(engine):
    world = engine((Delta("half", begins=True), Gate()))
    with world.open() as source:
        seen = source.iter_sse()
        next(seen)
        assert world.post(json={"message": "two", "session_id": "s1"}).status_code == 409


# ---- compaction ----


def long_session(world):
    said = [Message("user", "u1"), Message("assistant", "a1"), Message("user", "u2"), Message("assistant", "a2")]
    world.storage.save(Session("s1", said))


def asked_after(engine, compactor, message="three", **options):
    world = engine(ANSWER, compactor=compactor, max_history_messages=3, **options)
    long_session(world)
    return world, world.chat(message)


def test_a_long_history_is_summarised(engine):
    """RS-3.1."""
    world, _ = asked_after(engine, Summariser("they talked"))
    assert [message.text for message in world.model.asked[0]] == ["[summary] they talked", "three"]


def test_the_message_just_pushed_is_not_given_to_the_compactor(engine):
    """RS-D0."""
    world, _ = asked_after(engine, Summariser("they talked"))
    assert [message.text for message in world.compactor.given[0]] == ["u1", "a1", "u2", "a2"]


def test_without_a_compactor_the_prefix_is_dropped(engine):
    """RS-3.2."""
    world, _ = asked_after(engine, None)
    assert [message.text for message in world.model.asked[0]] == ["three"]


def test_when_the_compactor_fails_the_prefix_is_dropped(engine):
    """RS-3.2."""
    world, _ = asked_after(engine, Summariser(OSError("busy")))
    assert [message.text for message in world.model.asked[0]] == ["three"]


def test_a_compactors_failure_does_not_reach_the_client(engine):
    """RS-3.2."""
    _, events = asked_after(engine, Summariser(OSError("busy")))
    assert {name for name, _ in events} == {"text", "done"}


def test_a_compactors_failure_is_logged_as_a_warning(engine, caplog):
    """RS-D0."""
    asked_after(engine, Summariser(OSError("busy")))
    assert [record.levelname for record in caplog.records if "not summarised" in record.message] == ["WARNING"]


# ---- the client goes ----


def gone(world, events=1):
    """Leave after so many events, and wait for the run's end."""
    with world.open() as source:
        seen = source.iter_sse()
        for _ in range(events):
            next(seen)
    assert world.over.wait(SECONDS)
    return world.logs[0]


def test_when_the_client_goes_the_run_is_interrupted(engine):
    """RS-D1."""
    log = gone(engine((Delta("half", begins=True), Gate())))
    assert log[-1] == {"type": "run-stop", "reason": "interrupted", "detail": "client gone"}


def test_when_the_client_goes_the_stream_is_left(engine):
    gate = Gate()
    gone(engine((Delta("half", begins=True), gate)))
    assert gate.left.wait(SECONDS)


def test_when_the_client_goes_what_was_said_is_kept(engine):
    world = engine((Delta("half", begins=True), Gate()))
    gone(world)
    assert [message.text for message in world.storage.load("s1").messages] == ["one", "half"]


def test_when_the_client_goes_the_running_tool_is_cancelled(engine):
    gate = Gate()
    gone(engine((READ,), tools=[gate]))
    assert gate.left.wait(SECONDS)


def test_when_the_client_goes_the_running_call_is_answered(engine):
    log = gone(engine((READ,), tools=[Gate()]))
    assert project([judge(event) for event in log]).anomalies == ()


def test_when_the_client_is_gone_the_next_request_is_served(engine):
    world = engine((Delta("half", begins=True), Gate()), ANSWER)
    gone(world)
    assert named(world.chat("two"), "text") == ["all ", "well"]


def test_when_the_client_goes_before_anything_is_sent_the_run_ends_too(tmp_path):
    world = World(tmp_path, Model(ANSWER), Tools(), None, None)
    scope = {"type": "http", "method": "POST", "path": "/chat", "headers": [], "query_string": b""}

    said = [{"type": "http.request", "body": b'{"message": "one", "session_id": "s1"}'}]

    async def receive():
        return said.pop() if said else await asyncio.Event().wait()

    async def send(_):
        raise OSError("the connection is lost")

    with contextlib.suppress(BaseExceptionGroup, OSError):
        asyncio.run(world.service.application()(scope, receive, send))
    assert (world.service.running, world.logs[0][-1]["reason"]) == ({}, "interrupted")


# ---- the storage ----


def test_a_session_that_cannot_be_read_is_told_before_any_stream(engine, tmp_path):
    (tmp_path / "s1.json").write_text("{")
    assert engine(ANSWER).post(json={"message": "one", "session_id": "s1"}).status_code == 500


def test_a_session_that_cannot_be_read_does_not_stay_busy(engine, tmp_path):
    world = engine(ANSWER)
    (tmp_path / "s1.json").write_text("{")
    world.post(json={"message": "one", "session_id": "s1"})
    assert world.service.running == {}


def test_a_session_that_cannot_be_saved_ends_with_done_all_the_same(engine, tmp_path):
    (tmp_path / "s1.json").symlink_to(tmp_path / "nowhere")
    assert named(engine(ANSWER).chat(), "done") == [{"session_id": "s1"}]


def test_the_log_says_how_each_response_ended_and_the_client_does_not(engine):
    """RS-7; seed 004's ``Done { finish_reason, usage }``."""
    world = engine(
        (READ, Done("tool_use", {"tokens": 3})), (*ANSWER[:2], Done("max_tokens")), tools=[ToolOutput("text")]
    )
    events = world.chat()
    (log,) = world.logs
    told = [(event["type"], event["finishReason"], event.get("usage")) for event in log if "finishReason" in event]
    assert told == [("native", "tool_use", {"tokens": 3}), ("run-stop", "max_tokens", None)]
    assert named(events, "done") == [{"session_id": "s1"}]


def test_a_session_that_cannot_be_saved_is_logged_as_an_error(engine, tmp_path, caplog):
    (tmp_path / "s1.json").symlink_to(tmp_path / "nowhere")
    engine(ANSWER).chat()
    assert [record.levelname for record in caplog.records if "not saved" in record.message] == ["ERROR"]


def test_a_session_is_stored_as_it_is_read(tmp_path):
    session = Session("s1", [Message("user", "one")], {"a": 1}, "2026-01-01T00:00:00Z")
    Files(tmp_path).save(session)
    assert msgspec.to_builtins(Files(tmp_path).load("s1")) == msgspec.to_builtins(session)
