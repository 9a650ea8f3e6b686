"""The worker's reading of a run's events: the stream's bytes, the history, the log."""

import asyncio
import itertools

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turncheck.adapters.targets.http.client.run_reader import RunReader, malformed
from turncheck.adapters.targets.http.client.stream import BrokenStreamError, RefusedError, run_events
from turncheck.adapters.targets.http.client.transcript import Transcript
from turncheck.model.core.decode import judge
from turncheck.model.core.events import Malformed

STARTED, FINISHED = {"type": "RUN_STARTED"}, {"type": "RUN_FINISHED"}


class Pieces(httpx.AsyncByteStream):
    def __init__(self, pieces):
        self.pieces = pieces

    async def __aiter__(self):
        for piece in self.pieces:
            yield piece


def values(*pieces, status=200, kind="text/event-stream"):
    """Return the values of a response whose body arrives in *pieces*."""

    async def read():
        def answer(_):
            return httpx.Response(status, headers={"content-type": kind}, stream=Pieces(pieces))

        async with httpx.AsyncClient(transport=httpx.MockTransport(answer)) as client:
            return [value async for value in run_events(client, "http://127.0.0.1/", {}, lambda: None)]

    return asyncio.run(read())


@given(st.lists(st.integers(0, 60)), st.sampled_from([b"\n", b"\r\n", b"\r"]))
def test_events_are_whole_however_they_are_cut(cuts, end):
    body = b'data: {"type": "A"}||: ping||event: x|data: {"type":|data: "B"}||'.replace(b"|", end)
    places = [0, *sorted(cuts), len(body)]
    pieces = [body[start:stop] for start, stop in itertools.pairwise(places)]
    assert values(*pieces) == [{"type": "A"}, {"type": "B"}]


def test_an_event_without_a_blank_line_at_its_end_is_torn():
    with pytest.raises(BrokenStreamError, match=r'amid an event: data: \{"type": "B"\}'):
        values(b'data: {"type": "A"}\n\ndata: {"type": "B"}\n')


def test_a_comment_without_a_blank_line_is_nothing():
    assert values(b'data: {"type": "A"}\n\n: ping\n') == [{"type": "A"}]


def test_what_is_no_json_is_none():
    assert values(b"data: [1\n\n") == [None]


def test_a_refusal_shows_the_beginning_of_its_body():
    with pytest.raises(RefusedError, match=r"HTTP 500: xxx.*… \(") as error:
        values(b"x" * 100_000, status=500)
    assert error.value.status == 500


def test_another_content_type_is_no_event_stream():
    with pytest.raises(BrokenStreamError, match="text/html"):
        values(b"<h1>", kind="text/html")


# The history


def history(*events):
    transcript = Transcript()
    transcript.user("u1", "one")
    for event in events:
        transcript.take(event)
    transcript.end()
    return transcript.messages[1:]


def start_call(call_id, **more):
    return {"type": "TOOL_CALL_START", "toolCallId": call_id, "toolCallName": "read", **more}


def end_call(call_id):
    return {"type": "TOOL_CALL_END", "toolCallId": call_id}


def test_a_call_is_part_of_the_message_that_it_names():
    begun = {"type": "TEXT_MESSAGE_START", "messageId": "m"}
    assert history(begun, start_call("c", parentMessageId="m"), end_call("c")) == [
        {
            "id": "m",
            "role": "assistant",
            "content": "",
            "toolCalls": [{"id": "c", "type": "function", "function": {"name": "read", "arguments": ""}}],
        }
    ]


def test_a_call_whose_arguments_broke_off_is_forgotten():
    assert history(start_call("c"), {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": "{"}) == []


def test_a_result_stands_behind_its_call_whenever_it_comes():
    said = {"type": "TEXT_MESSAGE_START", "messageId": "m2"}
    result = {"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "m3", "content": "x"}
    assert [one["id"] for one in history(start_call("c"), end_call("c"), said, result)] == ["c", "m3", "m2"]


def test_a_snapshot_replaces_the_messages():
    assert history(
        {"type": "MESSAGES_SNAPSHOT", "messages": [{"id": "a", "role": "user"}, {"id": "b", "role": "x"}]}
    ) == [{"id": "b", "role": "x"}]


@pytest.mark.parametrize("messages", [None, "x", [1], [{"id": "a"}], [{"id": "a", "role": "user", "toolCalls": 1}]])
def test_a_snapshot_that_is_none_changes_nothing(messages):
    assert history({"type": "MESSAGES_SNAPSHOT", "messages": messages}) == []


JSON = st.recursive(
    st.none() | st.text(max_size=3) | st.integers(), lambda inner: st.lists(inner, max_size=2), max_leaves=3
)
NAMES = st.sampled_from(["a", "b"])
KINDS = st.sampled_from(
    [
        *("RUN_STARTED", "RUN_FINISHED", "RUN_ERROR", "MESSAGES_SNAPSHOT", "STATE_SNAPSHOT", "ACTIVITY_SNAPSHOT"),
        *("TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "TEXT_MESSAGE_CHUNK", "TOOL_CALL_CHUNK"),
        *("TOOL_CALL_START", "TOOL_CALL_ARGS", "TOOL_CALL_END", "TOOL_CALL_RESULT", "REASONING_ENCRYPTED_VALUE", "X"),
    ]
)
FIELDS = (
    "messageId",
    "toolCallId",
    "toolCallName",
    "delta",
    "role",
    "parentMessageId",
    "content",
    "messages",
    "entityId",
)
EVENTS = st.builds(
    lambda kind, more: {**more, "type": kind}, KINDS, st.dictionaries(st.sampled_from(FIELDS), NAMES | JSON)
)


@given(st.lists(JSON | EVENTS, max_size=12))
def test_whatever_comes_is_read(events):
    reader = RunReader({"a"}, Transcript())
    for event in events:
        list(reader.take(event, "r1"))
        list(reader.settle())
    list(reader.end())


def test_what_is_no_ag_ui_is_malformed_to_the_core():
    assert isinstance(judge(malformed("why")), Malformed)


def read(*events, tools=()):
    reader = RunReader(tools, Transcript())
    return [logged for event in events for logged in reader.take(event, None)] + list(reader.end()), reader


def test_an_interrupt_is_a_stop_even_with_calls_for_the_client():
    interrupt = {"type": "RUN_FINISHED", "outcome": {"type": "interrupt"}}
    logged, reader = read(STARTED, start_call("c"), end_call("c"), interrupt, tools=["read"])
    assert (logged[-1]["type"], reader.continues) == ("run-stop", False)


def test_a_call_of_the_servers_own_tool_is_not_the_clients():
    logged, reader = read(STARTED, start_call("c"), end_call("c"), FINISHED, tools=["write"])
    assert (logged[-1]["type"], reader.pending) == ("run-stop", [])
