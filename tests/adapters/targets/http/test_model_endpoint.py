"""The model endpoint, asked by OpenAI's own client."""

import contextlib
import json
import urllib.request
from typing import Any

import openai
import pytest
from serving import SECRET, serve

from turncheck.adapters.targets.http.model_endpoint.completions import misfit, shown
from turncheck.adapters.targets.http.model_endpoint.endpoint import ModelCall, model_endpoint
from turncheck.adapters.targets.http.model_endpoint.secret import Secret
from turncheck.model.core.stimuli import ModelFail, ModelOutput, ModelStop, Reasoning, Shown, Text, ToolCall

HI = [{"role": "user", "content": "hi"}]
CALL = ToolCall(call_id="c1", tool="read", arguments={"path": "a"})


async def release():
    pass


class Script:
    """Answers each request with the next of *answers*: the items, and then a stop or a failure."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.calls, self.faults = [], []

    def asked(self, request):
        if not self.answers:
            return "no run is under way"
        call = ModelCall(f"r{len(self.calls)}", None, 1, request)
        self.calls.append(call)
        *items, end = self.answers.pop(0)
        for item in items:
            call.items.append(item)
            call.commands.put_nowait(ModelOutput(item=item))
        call.commands.put_nowait(end)
        return call

    def gone(self, call):
        pass

    def fault(self, message):
        self.faults.append(message)


@pytest.fixture
def model():
    """``model(*answers)``: a client of an endpoint that answers so, and the script."""
    with contextlib.ExitStack() as stack:

        def served(*answers, retries=0, base="/v1"):
            script = Script(*answers)
            address = stack.enter_context(serve(model_endpoint(script, Secret(SECRET), release)))
            client = openai.OpenAI(base_url=f"{address}/{SECRET}{base}", api_key="none", max_retries=retries)
            return stack.enter_context(client), script

        yield served


def complete(client, **more):
    return client.chat.completions.create(model="m", messages=HI, **more)


def chunks(client, **more):
    with complete(client, stream=True, **more) as stream:
        return list(stream)


def stop(reason, **more):
    return ModelStop(reason=reason, **more)


def test_a_text_is_streamed_in_deltas(model):
    client, _ = model([Text(text="hello"), stop("end-turn")])
    assert [chunk.choices[0].delta.content for chunk in chunks(client)] == ["he", "llo", None]


def test_reasoning_is_streamed_beside_the_text(model):
    client, _ = model([Reasoning(text="hm"), stop("end-turn")])
    assert [chunk.choices[0].delta.model_extra.get("reasoning_content") for chunk in chunks(client)] == ["h", "m", None]


def test_calls_are_streamed_with_their_index_id_and_arguments(model):
    client, _ = model([Text(text="x"), CALL, ToolCall(call_id="c2", tool="ls"), stop("tool-use")])
    calls = [call for chunk in chunks(client) for call in chunk.choices[0].delta.tool_calls or []]
    assert [(call.id, call.function.name) for call in calls if call.id] == [("c1", "read"), ("c2", "ls")]
    assert ["".join(call.function.arguments for call in calls if call.index == index) for index in (0, 1)] == [
        '{"path": "a"}',
        "{}",
    ]


def test_an_answer_that_is_not_streamed_comes_whole(model):
    client, _ = model([Reasoning(text="hm"), Text(text="hello"), CALL, stop("tool-use")])
    message = complete(client).choices[0].message
    assert (message.content, message.model_extra["reasoning_content"]) == ("hello", "hm")
    assert [(call.id, call.function.arguments) for call in message.tool_calls] == [("c1", '{"path": "a"}')]


@pytest.mark.parametrize(("reason", "finish"), [("end-turn", "stop"), ("tool-use", "tool_calls"), ("length", "length")])
def test_the_reason_of_the_stop_is_the_finish_reason(model, reason, finish):
    client, _ = model([stop(reason)], [stop(reason)])
    assert (complete(client).choices[0].finish_reason, chunks(client)[-1].choices[0].finish_reason) == (finish, finish)


def test_arguments_that_are_text_are_sent_as_they_are(model):
    client, _ = model([ToolCall(call_id="c", tool="t", arguments='{"a": '), stop("tool-use")])
    assert complete(client).choices[0].message.tool_calls[0].function.arguments == '{"a": '


def test_usage_is_streamed_where_it_was_asked_for(model):
    usage = {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}
    client, _ = model([stop("end-turn", usage=usage)], [stop("end-turn", usage=usage)])
    assert chunks(client, stream_options={"include_usage": True})[-1].usage.total_tokens == 7
    assert chunks(client)[-1].usage is None


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    ("failure", "raised"), [("retryable", openai.InternalServerError), ("fatal", openai.BadRequestError)]
)
def test_a_failure_instead_of_an_answer_is_a_status(model, failure, raised, stream):
    client, _ = model([ModelFail(failure=failure)])
    with pytest.raises(raised):
        complete(client, stream=stream)


def test_a_client_that_retries_does_so_at_once_and_asks_again(model):
    client, script = model(
        [ModelFail(failure="retryable")], [ModelFail(failure="retryable")], [stop("end-turn")], retries=2
    )
    complete(client)
    assert len(script.calls) == 3


def test_a_stream_breaks_amid_a_chunk(model):
    client, _ = model([Text(text="hel"), ModelFail(failure="stream")])
    with pytest.raises(openai.APIConnectionError):
        chunks(client)


def test_an_answer_that_is_not_streamed_breaks_amid_its_body(model):
    client, _ = model([ModelFail(failure="stream")])
    with pytest.raises(openai.APIConnectionError):
        complete(client)


def test_a_failure_after_the_first_item_is_an_error_in_the_stream(model):
    client, _ = model([Text(text="hel"), ModelFail(failure="fatal")])
    with pytest.raises(openai.APIError, match="the model failed"):
        chunks(client)


def test_a_request_from_nobody_is_refused_for_good(model):
    client, _ = model()
    with pytest.raises(openai.BadRequestError, match="no run is under way"):
        complete(client)


def test_the_base_url_may_leave_the_version_out(model):
    client, _ = model([Text(text="hello"), stop("end-turn")], base="")
    assert complete(client).choices[0].message.content == "hello"


def test_another_path_is_answered_with_ours(model):
    client, script = model()
    with pytest.raises(openai.NotFoundError, match="turncheck serves POST /v1/chat/completions alone"):
        client.models.list()
    assert script.faults == ["GET /v1/models: turncheck serves POST /v1/chat/completions alone"]


@pytest.mark.parametrize("body", [b"no json", b"[]", b'{"messages": "hi"}', b"{}"])
def test_what_is_no_request_is_refused_and_told(model, body):
    client, script = model()
    request = urllib.request.Request(f"{client.base_url}chat/completions", body)
    with pytest.raises(urllib.error.HTTPError, match="400") as refused:
        urllib.request.urlopen(request)
    assert json.load(refused.value)["error"]["message"] == script.faults[0]
    assert "expected a chat completion's request" in script.faults[0]


def test_the_input_has_one_entry_an_item():
    messages: list[dict[str, Any]] = [
        {"role": "developer", "content": "be kind"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "o"}, {"type": "text", "text": "ne"}, {"type": "image_url"}],
        },
        {"role": "assistant", "content": "so", "tool_calls": [{"id": "c1", "function": {"name": "read"}}]},
        {"role": "tool", "tool_call_id": "c1", "content": "alpha"},
    ]
    assert shown(messages) == (
        Shown("system", "be kind"),
        Shown("user", "one"),
        Shown("assistant", "so"),
        Shown("assistant", call_id="c1", tool="read"),
        Shown("tool", "alpha", call_id="c1"),
    )


def test_a_call_that_is_none_is_shown_as_it_is():
    assert shown([{"role": "assistant", "tool_calls": ["?"]}]) == (Shown("assistant", "?"),)


@pytest.mark.parametrize(
    ("items", "fits"),
    [
        ([Reasoning(text="a"), Text(text="b"), CALL, CALL], True),
        ([Text(text="a"), Text(text="b")], False),
        ([CALL, Text(text="a")], False),
        ([Text(text="a"), Reasoning(text="b")], False),
    ],
)
def test_items_fit_in_the_order_of_a_completion(items, fits):
    assert (misfit(items[:-1], items[-1]) is None) == fits
