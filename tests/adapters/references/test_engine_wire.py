"""The engine's server through a real loopback socket, read back: its wire is RS-6's and RS-7's, on every path."""

import asyncio
import contextlib
import json
import socket
import threading
from datetime import datetime

import httpx
import msgspec
import pytest
import uvicorn
from httpx_sse import connect_sse

from turncheck.adapters.references.engine import server
from turncheck.adapters.references.engine.engine import Limits
from turncheck.adapters.references.engine.ports import Call, Delta, Done, Files, ToolOutput
from turncheck.adapters.references.engine.server import Service
from turncheck.adapters.references.engine.session import Message, Session
from turncheck.adapters.references.engine.wire import EVENTS, Data, ServerEvent, server_event
from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project

READ = Call("c1", "read", '{"path": "a"}')
FIELDS = {
    "tool_status": {"tool", "status"},
    "data": {"type", "payload"},
    "error": {"code", "message"},
    "done": {"session_id"},
}
SECONDS = 20.0  # never waited for


class Model:
    """Answers each request with the next of *responses*: chunks, and errors, which are raised at their place."""

    def __init__(self, *responses):
        self.responses, self.asked = list(responses), []

    async def stream(self, messages):
        self.asked.append(messages)
        response = self.responses.pop(0)
        if isinstance(response, Exception):
            raise response
        return self.chunks(response)

    async def chunks(self, response):
        for chunk in response:
            if isinstance(chunk, Exception):
                raise chunk
            if isinstance(chunk, Gate):
                await chunk.wait()
            else:
                yield chunk


class Gate:
    """A stream that stays open until it is cancelled, and reports both."""

    def __init__(self):
        self.left = threading.Event()

    async def wait(self):
        try:
            await asyncio.Event().wait()
        finally:
            self.left.set()


class Tools:
    def __init__(self, *outputs):
        self.outputs, self.executed = list(outputs), []

    async def execute(self, tool, arguments, session):
        self.executed.append((tool, arguments))
        output = self.outputs.pop(0)
        if isinstance(output, Exception):
            raise output
        if isinstance(output, Gate):
            await output.wait()
        return output


class Summariser:
    def __init__(self, summary):
        self.summary, self.given = summary, []

    async def compact(self, messages):
        self.given.append(messages)
        if isinstance(self.summary, Exception):
            raise self.summary
        return self.summary


class World:
    """A served engine with its parts. ``logs`` are the core's logs of the finished runs."""

    def __init__(self, directory, model, tools, compactor, limits):
        self.model, self.tools, self.compactor, self.storage = model, tools, compactor, Files(directory)
        self.logs, self.over = [], threading.Event()
        self.service = Service(model, tools, self.storage, limits=limits, compactor=compactor, journal=self.keep)
        self.address = ""

    def keep(self, _, log):
        self.logs.append(list(log))
        self.over.set()

    def chat(self, message="one", session_id="s1"):
        """The events of one request, as (name, data)."""
        with self.open(message, session_id) as source:
            return [(event.event, event.data) for event in source.iter_sse()]

    @contextlib.contextmanager
    def open(self, message="one", session_id="s1"):
        body = {"message": message} | ({} if session_id is None else {"session_id": session_id})
        with (
            httpx.Client(trust_env=False, timeout=SECONDS) as client,
            connect_sse(client, "POST", f"{self.address}/chat", json=body) as source,
        ):
            yield source

    def post(self, **options):
        return httpx.post(f"{self.address}/chat", trust_env=False, timeout=SECONDS, **options)


@pytest.fixture
def engine(tmp_path):
    """Serves a World for as long as the test runs."""
    with contextlib.ExitStack() as stack:

        def start(*responses, tools=(), compactor=None, max_tool_rounds=8, max_history_messages=200):
            limits = Limits(max_tool_rounds, max_history_messages)
            world = World(tmp_path, Model(*responses), Tools(*tools), compactor, limits)
            world.address = stack.enter_context(serving(world.service.application()))
            return world

        yield start


@contextlib.contextmanager
def serving(application):
    config = uvicorn.Config(application, lifespan="off", log_config=None, log_level="critical")
    config.timeout_graceful_shutdown = 0
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = server.force_exit = True
        thread.join(timeout=10)  # a connection that was left open can keep it; it is a daemon


def named(events, name):
    return [data if name == "text" else json.loads(data) for event, data in events if event == name]


def codes(events):
    return [error["code"] for error in named(events, "error")]


def called(*more):
    return (Delta("I look. ", begins=True), READ, *more, Done("stop"))


ANSWER = (Delta("all ", begins=True), Delta("well"), Done("stop"))
PATHS = {
    "a text": ([ANSWER], [], {}),
    "a tool": ([called(), ANSWER], [ToolOutput("text")], {}),
    "data and metadata": ([called(), ANSWER], [ToolOutput("text", Data("chart", [1]), {"seen": 1})], {}),
    "the provider fails": ([OSError("no route")], [], {}),
    "the stream breaks": ([(Delta("half", begins=True), OSError("reset"))], [], {}),
    "the stream just ends": ([(Delta("half", begins=True),)], [], {}),
    "the stream breaks after a tool": ([(READ, OSError("reset")), ANSWER], [ToolOutput("text")], {}),
    "the tool fails": ([called(), ANSWER], [ValueError("no such file")], {}),
    "the arguments are no JSON": ([(Call("c1", "read", '{"path": '), Done("stop")), ANSWER], [], {}),
    "a call id comes twice": ([(READ, READ, Done("stop")), ANSWER], [ToolOutput("text")], {}),
    "the bound is reached": ([called()], [ToolOutput("text")], {"max_tool_rounds": 1}),
    "the stream breaks at the bound": ([(READ, OSError("reset"))], [ToolOutput("text")], {"max_tool_rounds": 1}),
    "nothing is said": ([(Done("stop"),)], [], {}),
}
CODES = {
    "the provider fails": ["llm_error"],
    "the stream breaks": ["stream_error"],
    "the stream just ends": ["stream_error"],
    "the stream breaks after a tool": ["stream_error"],
    "the tool fails": ["tool_error"],
    "the arguments are no JSON": ["tool_error"],
    "a call id comes twice": ["tool_error"],
    "the bound is reached": ["max_tool_rounds"],
    "the stream breaks at the bound": ["stream_error", "max_tool_rounds"],
}
FAILED = {
    "the provider fails",
    "the stream breaks",
    "the stream just ends",
    "the bound is reached",
    "the stream breaks at the bound",
}


@pytest.fixture(params=PATHS)
def path(request):
    return request.param


@pytest.fixture
def walked(path, engine):
    """A world whose one request went *path*, with the events that the client saw."""
    responses, tools, options = PATHS[path]
    world = engine(*responses, tools=tools, **options)
    return world, world.chat()


# ---- every path ----


def breaches(events):
    """Return the parts of RS-6 and RS-7 that the events of a whole stream break; the session is s1."""
    names, found = [name for name, _ in events], set()
    if names.count("done") != 1:
        found.add("done once")
    if names[-1:] != ["done"]:
        found.add("done last")
    if not set(names) <= set(EVENTS):
        found.add("names")
    for name, data in events:
        if name in FIELDS and json.loads(data).keys() != FIELDS[name]:
            found.add("fields")
    statuses = [event.get("status") for event in named(events, "tool_status")]
    if any(pair not in (["calling", "done"], ["calling", "error"]) for pair in _pairs(statuses)):
        found.add("statuses")
    if any(event.get("session_id") != "s1" for event in named(events, "done")):
        found.add("session")
    return found


def _pairs(statuses):
    return [statuses[place : place + 2] for place in range(0, len(statuses), 2)]


def test_every_path_is_told_as_the_wire_wants_it(walked):
    """RS-6, RS-7."""
    assert breaches(walked[1]) == set()


def done_twice(output, session_id):
    """An error is told with an end of its own."""
    event = server_event(output, session_id)
    return event._replace(event="done", data='{"session_id": "s1"}') if event and event.event == "error" else event


def no_done(output, session_id):
    """The stream just ends."""
    return None if output.name == "done" else server_event(output, session_id)


def done_without_session(output, session_id):
    """The end does not say whose it is."""
    return ServerEvent("done", "{}") if output.name == "done" else server_event(output, session_id)


def status_without_tool(output, session_id):
    """A status does not say which tool it is about."""
    event = server_event(output, session_id)
    return event._replace(data='{"status": "calling"}') if event and event.event == "tool_status" else event


def never_done_calling(output, session_id):
    """A tool is told to be called, and not how it ended."""
    ended = output.name == "tool-status" and output.arguments[1] != "calling"
    return None if ended else server_event(output, session_id)


def all_are_messages(output, session_id):
    """All events have one name."""
    event = server_event(output, session_id)
    return event and event._replace(event="message")


WIRES = {
    done_twice: "done once",
    no_done: "done last",
    done_without_session: "session",
    status_without_tool: "fields",
    never_done_calling: "statuses",
    all_are_messages: "names",
}


@pytest.mark.parametrize(("wire", "breach"), WIRES.items(), ids=lambda item: getattr(item, "__name__", ""))
def test_a_wrong_wire_is_caught(wire, breach, engine, monkeypatch):
    """So that the test of RS-6 and RS-7 can fail."""
    monkeypatch.setattr(server, "server_event", wire)
    assert breach in breaches(engine(called(), ANSWER, tools=[ValueError("no such file")]).chat())


def test_each_path_tells_its_errors(path, walked):
    """RS-5.1, RS-5.2, RS-5.3, RS-5.4."""
    assert codes(walked[1]) == CODES.get(path, [])


def test_each_path_closes_one_run_by_its_reason(path, walked):
    """RS-D1."""
    world, _ = walked
    (log,) = world.logs
    projection = project([judge(event) for event in log])
    reasons = [cycle.reason for cycle in projection.cycles]
    assert (reasons, projection.anomalies) == (["error" if path in FAILED else "completed"], ())


def test_each_path_saves_the_session(walked):
    """RS-1; its first message is the user's (RS-2)."""
    world, _ = walked
    session = world.storage.load("s1")
    assert session.messages[0] == Message("user", "one")


def test_each_path_sets_when_the_session_was_active(walked):
    """RS-8."""
    world, _ = walked
    assert datetime.fromisoformat(world.storage.load("s1").last_active).tzinfo is not None


# ---- text, tools, data ----


def test_each_delta_is_sent_raw(engine):
    """RS-4.2, RS-7."""
    world = engine((Delta("one\ntwo", begins=True), Delta(" {}"), Done("stop")))
    assert named(world.chat(), "text") == ["one\ntwo", " {}"]


def test_the_text_of_a_round_is_one_message(engine):
    """RS-4.4."""
    world = engine(ANSWER)
    world.chat()
    assert world.storage.load("s1").messages[-1] == Message("assistant", "all well")


def test_a_tool_gets_its_arguments(engine):
    world = engine(called(), ANSWER, tools=[ToolOutput("text")])
    world.chat()
    assert world.tools.executed == [("read", {"path": "a"})]


def test_the_model_is_shown_the_call_with_its_result(engine):
    """RS-4.3, RS-8."""
    world = engine(called(), ANSWER, tools=[ToolOutput("text")])
    world.chat()
    assert [message.role for message in world.model.asked[1]] == ["user", "call", "result", "assistant"]


def test_a_tools_failure_is_its_content(engine):
    """RS-5.3."""
    world = engine(called(), ANSWER, tools=[ValueError("no such file")])
    world.chat()
    assert world.model.asked[1][2] == Message("result", "no such file", call_id="c1", is_error=True)


def test_data_comes_before_the_status_done(engine):
    """RS-4.3."""
    world = engine(called(), ANSWER, tools=[ToolOutput("text", Data("chart", [1]))])
    names = [name for name, _ in world.chat()]
    assert names[1:4] == ["tool_status", "data", "tool_status"]


def test_data_is_shown_with_its_type(engine):
    """RS-7."""
    world = engine(called(), ANSWER, tools=[ToolOutput("text", Data("chart", [1]))])
    assert named(world.chat(), "data") == [{"type": "chart", "payload": [1]}]


def test_metadata_is_merged_into_the_sessions(engine):
    """RS-4.3."""
    world = engine(called(), ANSWER, tools=[ToolOutput("text", metadata={"seen": 1})])
    world.storage.save(Session("s1", metadata={"seen": 0, "kept": 2}))
    world.chat()
    assert world.storage.load("s1").metadata == {"seen": 1, "kept": 2}


def test_the_partial_text_of_a_broken_stream_is_kept(engine):
    """RS-D0."""
    world = engine((Delta("half", begins=True), OSError("reset")))
    world.chat()
    assert world.storage.load("s1").messages[-1] == Message("assistant", "half")


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
