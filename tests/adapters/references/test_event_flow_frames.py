"""What the frames of the event flow say is what was: the request that the server saw, its response's head, the time."""

import pytest
from model_server import GO, SECONDS, asked_over_http
from starlette.responses import Response

from turncheck.adapters.references.event_flow.backend import PLAYED, PLAYED_HEAD, Backend
from turncheck.adapters.references.event_flow.emission import Dialect
from turncheck.adapters.references.event_flow.runtime import EventFlowRuntime
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    ResetOptions,
    Text,
    ToolCall,
    ToolReturn,
    User,
)
from turncheck.model.machines.chat_log import Heard

END, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
CALL = ToolCall(call_id="c1", tool="read", arguments={"path": "a"})
READ = {"name": "read", "description": "Read a file."}
SETTINGS = {"temperature": 0.2, "max_tokens": 99}


@pytest.fixture
def chat():
    """A chat whose model is behind HTTP, and its server."""
    chats: list[EventFlowRuntime] = []
    with (
        asked_over_http(lambda: chats[0].now, **SETTINGS) as (server, model),
        EventFlowRuntime(model=model) as runtime,
    ):
        chats.append(runtime)
        runtime.reset(ResetOptions(tools=(READ,)))
        yield runtime, server


def frames(runtime, kind):
    return [frame for frame in runtime.backend.frames if frame["type"] == kind]


def two_iterations(runtime, server):
    server.answers += [[Reasoning(text="hm"), Text(text="I look"), CALL, CALLED], [Text(text="done"), END]]
    runtime.apply(GO)
    runtime.wait(SECONDS)
    runtime.run([Advance(seconds=2.5), ToolReturn(call_id="c1", output="red")])
    return runtime.wait(SECONDS)


def test_the_request_in_the_frame_is_the_one_that_the_server_received(chat) -> None:  # EF-2, EF-D4
    runtime, server = chat
    two_iterations(runtime, server)
    (announced,) = frames(runtime, "llm_request")
    assert announced["request"] == server.seen[0].json
    assert {name: announced["request"][name] for name in SETTINGS} == SETTINGS
    assert (announced["provider"], announced["model"]) == ("openai", "scripted")


def test_each_record_has_the_number_of_messages_that_the_server_received(chat) -> None:  # EF-11, EF-12
    runtime, server = chat
    two_iterations(runtime, server)
    records = frames(runtime, "message_complete")[-1]["llmApiCalls"]
    assert [record["request"] for record in records] == [
        {"messages": len(seen.json["messages"]), **SETTINGS} for seen in server.seen
    ]
    assert [record["request"]["messages"] for record in records] == [1, 3]


def test_the_blocks_are_what_the_server_said(chat) -> None:  # EF-5
    runtime, server = chat
    assert two_iterations(runtime, server).events[-1]["reason"] == "completed"
    assert [(block.text, [use.result for use in block.calls]) for block in runtime.blocks] == [
        ("I look", ["red"]),
        ("done", []),
    ]


def test_the_head_in_the_frame_is_that_of_the_response_without_its_cookies(chat) -> None:  # EF-3, EF-D4
    runtime, server = chat
    head = {"X-Request-Id": "r-7", "Set-Cookie": "session=secret"}
    chunk = 'data: {"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}\n\n'
    server.answers.append(Response(chunk, 200, head, "text/event-stream"))
    runtime.apply(GO)
    runtime.wait(SECONDS)
    (response,) = frames(runtime, "llm_response")
    assert (response["httpStatus"], response["httpHeaders"]["x-request-id"]) == (200, "r-7")
    assert "set-cookie" not in response["httpHeaders"]


def test_the_timestamps_are_the_clocks(chat) -> None:  # EF-2, EF-3, EF-D4
    runtime, server = chat
    two_iterations(runtime, server)
    told = [frame["timestamp"] for frame in runtime.backend.frames if "timestamp" in frame]
    assert told == ["1970-01-01T00:00:00.000Z", "1970-01-01T00:00:00.000Z", "1970-01-01T00:00:02.500Z"]
    assert [record["timestamp"] for record in frames(runtime, "message_complete")[-1]["llmApiCalls"]] == told[1:]
    assert [seen.at for seen in server.seen] == [0, 2.5]


def test_an_abort_closes_the_connection(chat) -> None:
    runtime, server = chat
    server.answers.append([Text(text="half")])
    runtime.apply(GO)
    server.came.get(timeout=SECONDS)
    assert runtime.apply(Abort()).events[-1]["reason"] == "interrupted"
    assert server.left.get(timeout=SECONDS) == 1


def test_an_answer_that_comes_after_its_abort_is_dropped(chat) -> None:
    runtime, server = chat
    server.answers += [[Text(text="late"), END], []]
    runtime.apply(GO)
    assert runtime._sent._over.wait(SECONDS)
    runtime.run([Abort(), User(id="u2", text="on")])
    assert runtime.wait(SECONDS).events == ()
    assert frames(runtime, "llm_response") == []


def test_a_failure_of_the_provider_ends_the_run_with_its_words(chat) -> None:
    runtime, server = chat
    server.answers.append(Response(b'{"error": {"message": "no such key"}}', 401))
    runtime.apply(GO)
    stop = runtime.wait(SECONDS).events[-1]
    assert (stop["reason"], "no such key" in stop["detail"], len(server.seen)) == ("error", True, 1)


def test_nobody_else_can_answer_a_request_over_http(chat) -> None:
    runtime, server = chat
    server.answers.append([])
    runtime.apply(GO)
    refused = [runtime.apply(one).refused for one in (ModelOutput(item=CALL), END, ModelFail(failure="fatal"))]
    assert [refusal.why for refusal in refused] == ["not-awaited"] * 3


@pytest.mark.parametrize("records", ["nested", "top-level"])
def test_the_frames_of_a_played_model_leave_no_field_empty(records) -> None:  # EF-2, EF-3, EF-D1
    backend = Backend(max_tool_iterations=2, dialect=Dialect(records), now=lambda: 86_400.0)
    backend.hear("chat", Heard(id="u1", text="one"))
    backend.hear("response-end")
    request, response, complete = backend.frames
    sent = [{"role": "user", "content": "one"}]
    assert (request["request"]["messages"], request["timestamp"]) == (sent, "1970-01-02T00:00:00.000Z")
    assert (response["httpStatus"], response["httpHeaders"]) == tuple(PLAYED_HEAD)
    (record,) = complete["llmApiCalls"]
    given = {"temperature": PLAYED.temperature, "max_tokens": PLAYED.max_tokens}
    named = {"provider": PLAYED.provider, "model": PLAYED.model}
    assert record["request"] == (named | {"messages": sent} if records == "nested" else {"messages": 1}) | given
