"""The engine's server through a real loopback socket, read back: its wire is RS-6's and RS-7's, on every path."""

import json
from datetime import datetime

import pytest
from engine_world import ANSWER, READ, called, codes, named, worlds

from turncheck.adapters.references.engine import server
from turncheck.adapters.references.engine.ports import Call, Delta, Done, ToolOutput
from turncheck.adapters.references.engine.session import Message, Session
from turncheck.adapters.references.engine.wire import EVENTS, Data, ServerEvent, server_event
from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project

FIELDS = {
    "tool_status": {"tool", "status"},
    "data": {"type", "payload"},
    "error": {"code", "message"},
    "done": {"session_id"},
}
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


@pytest.fixture
def engine(tmp_path):
    with worlds(tmp_path) as start:
        yield start


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
