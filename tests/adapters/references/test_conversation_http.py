"""A conversation whose model is behind HTTP on loopback: what the server saw of its requests, retries and aborts."""

import json
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from model_server import SECONDS, served, talk
from serving import free_port
from starlette.responses import Response

from turncheck.adapters.references.conversation import SPAWN, SUBMIT, ConversationTarget
from turncheck.adapters.references.provider.client import HttpModel
from turncheck.adapters.references.provider.port import Answer
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelAwaited,
    ModelFail,
    ModelStop,
    Reasoning,
    ResetOptions,
    Text,
    TimerAwaited,
    ToolCall,
    ToolReturn,
    User,
)
from turncheck.model.machines.conversation import EXHAUSTED, RETRIES

GO = User(id="u1", text="go")
END, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
PAGE = Path(__file__).parents[3] / "docs/models-over-http.md"
READ = {"name": "read", "description": "Read a file.", "schema": {"type": "object", "required": ["path"]}}
BUSY, BROKEN = ModelFail(failure="retryable"), ModelFail(failure="stream")


@pytest.fixture
def runtime(tmp_path):
    with served(tmp_path) as target:
        target.reset(ResetOptions(tools=(READ, {"name": SPAWN}), clock="manual"))
        yield target


@pytest.fixture
def server(runtime):
    return runtime.server


def raw(status=200, body=b"", kind="application/json"):
    return Response(body, status, media_type=kind)


def stream(*data):
    return raw(body="".join(f"data: {one}\n\n" for one in data).encode(), kind="text/event-stream")


# ---- requests and answers ----


def test_the_server_sees_the_message_the_model_and_the_tools(runtime, server):  # BED-002b
    talk(runtime, [Text(text="yes"), END])
    assert server.seen[0].json == {
        "model": "scripted",
        "stream": True,
        "stream_options": {"include_usage": True},
        "messages": [{"role": "user", "content": "go"}],
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Read a file.",
                    "parameters": {"type": "object", "required": ["path"]},
                },
            },
            {
                "type": "function",
                "function": {
                    "name": SPAWN,
                    "description": "Start a sub-agent, which works on a task and submits its result.",
                    "parameters": {"type": "object", "properties": {"task": {"type": "string"}}, "required": ["task"]},
                },
            },
        ],
    }
    assert server.seen[0].headers["authorization"] == "Bearer sesame"


def test_an_answer_is_logged_whole_and_ends_the_turn(runtime):  # BED-003a, BED-003b
    usage = {"prompt_tokens": 5, "completion_tokens": 2, "total_tokens": 7}
    stop = ModelStop(reason="end-turn", usage=usage)
    events = talk(runtime, [Reasoning(text="hm"), Text(text="well then"), stop])
    assert [(event["type"], event.get("text")) for event in events] == [
        ("user-message", "go"),
        ("model-request", None),
        ("native", None),
        ("agent-output", "hm"),
        ("agent-output", "well then"),
        ("run-stop", None),
    ]
    assert runtime.shell.agents[""].core.registers["used"] == 7  # BED-012a


def test_the_model_is_sent_its_calls_and_their_results(runtime, server):  # BED-004d, BED-004e
    call = ToolCall(call_id="a", tool="read", arguments={"path": "x"})
    talk(runtime, [Text(text="I look"), call, ToolCall(call_id="b", tool="none"), CALLED])
    server.answers.append([END])
    runtime.apply(ToolReturn(call_id="a", output={"red": 1}))
    runtime.wait(SECONDS)
    assert server.seen[1].json["messages"][1:] == [
        {
            "role": "assistant",
            "content": "I look",
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": '{"path": "x"}'}},
                {"id": "b", "type": "function", "function": {"name": "none", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "a", "content": '{"red": 1}'},
        {"role": "tool", "tool_call_id": "b", "content": "error: there is no tool 'none' here"},
    ]


def test_a_text_that_was_too_long_is_continued_by_a_new_request(runtime, server):  # BED-003e
    events = talk(runtime, [Text(text="to be"), ModelStop(reason="length")], [Text(text="or not"), END])
    assert [event["text"] for event in events if event["type"] == "agent-output"] == ["to be", "or not"]
    assert server.seen[1].json["messages"][1:] == [{"role": "assistant", "content": "to be"}]


def test_nobody_else_can_answer_a_request_over_http(runtime, server):
    server.answers.append([])
    assert isinstance(runtime.apply(GO).awaiting[0], ModelAwaited)
    assert runtime.apply(END).refused.why == "not-awaited"


def test_a_sub_agent_is_offered_the_submission_tool_and_the_standard_tools_only(runtime, server):  # BED-009c
    spawn = ToolCall(call_id="s", tool=SPAWN, arguments={"task": "red"})
    submit = ToolCall(call_id="r", tool=SUBMIT, arguments={"result": "done"})
    events = talk(runtime, [spawn, CALLED], [submit, CALLED], [END], [END])
    offered = [[tool["function"]["name"] for tool in seen.json["tools"]] for seen in server.seen]
    assert offered == [["read", SPAWN], ["read", SUBMIT], ["read", SUBMIT], ["read", SPAWN]]
    assert events[-1] == {"type": "run-stop", "reason": "completed"}


# ---- the abort ----


@pytest.mark.parametrize("said", [[], [Text(text="half")]], ids=["before the response", "amid it"])
def test_a_cancel_closes_the_connection_and_keeps_nothing(runtime, server, said):  # BED-005a, BED-005b, BED-005c
    server.answers.append(said)
    runtime.apply(GO)
    server.came.get(timeout=SECONDS)
    step = runtime.apply(Abort())
    assert server.left.get(timeout=SECONDS) == 1
    assert [event["type"] for event in step.events] == ["run-stop"]
    assert (step.awaiting, runtime.shell.agents[""].core.state) == ((), "idle")


def test_the_next_message_is_served_after_an_abort(runtime, server):
    server.answers.append([])
    runtime.apply(GO)
    server.came.get(timeout=SECONDS)
    runtime.apply(Abort())
    events = talk(runtime, [Text(text="here"), END], message=User(id="u2", text="on"))
    assert events[-1]["reason"] == "completed"


def test_an_answer_that_has_come_before_the_cancel_is_stale(runtime, server):  # BED-005j, BED-D2
    server.answers.append([Text(text="late"), END])
    asked = runtime.shell._model.ask

    def whole(question, answered):  # the answer is there when the cancel comes
        came: list[Answer] = []
        call = asked(question, came.append)
        assert call._over.wait(SECONDS)
        answered(came[0])
        return call

    runtime.shell._model = type("Whole", (), {"ask": staticmethod(whole)})
    events = list(chain(*(step.events for step in runtime.run([GO, Abort()]))))
    assert (events[-1]["reason"], runtime.wait(0).events) == ("interrupted", ())
    assert all(event["type"] != "agent-output" for event in events)


def test_a_cancel_of_the_parent_closes_the_connections_of_its_sub_agents(runtime, server):  # BED-D8
    spawns = [ToolCall(call_id=name, tool=SPAWN, arguments={"task": name}) for name in "ab"]
    server.answers += [[*spawns, CALLED], [], []]
    runtime.apply(GO)
    runtime.wait(SECONDS)
    assert [server.came.get(timeout=SECONDS) for _ in range(3)] == [1, 2, 3]
    runtime.apply(Abort())
    assert {server.left.get(timeout=SECONDS) for _ in range(2)} == {2, 3}


@pytest.mark.parametrize("end", [ConversationTarget.close, ConversationTarget.kill, ConversationTarget.reset])
def test_no_end_of_the_runtime_leaves_a_request(runtime, server, end):
    server.answers.append([])
    runtime.apply(GO)
    server.came.get(timeout=SECONDS)
    end(runtime)
    assert server.left.get(timeout=SECONDS) == 1


# ---- failures ----


def tries(runtime, limit=10):
    """Wait for the request, and for each retry on the virtual clock; return the last event."""
    for _ in range(limit):
        step = runtime.wait(SECONDS)
        timers = [one for one in step.awaiting if isinstance(one, TimerAwaited)]
        if not timers:
            return step.events[-1]
        runtime.apply(Advance(seconds=timers[0].due))
    raise AssertionError(f"more than {limit} tries")


RETRIED = {
    "too many requests": lambda: raw(429, b'{"error": {"message": "slow down"}}'),
    "a fault": lambda: raw(500),
    "no gateway": lambda: raw(502, b"<html>"),
    "overloaded": lambda: [BUSY],
    "broken amid the stream": lambda: [Text(text="half"), BROKEN],
    "ended amid the stream": lambda: stream('{"choices": [{"delta": {"content": "half"}}]}'),
    "a fault told amid the stream": lambda: [Text(text="half"), BUSY],
}


@pytest.mark.parametrize("failure", RETRIED)
def test_what_may_pass_is_tried_four_times_with_longer_and_longer_waits(runtime, server, failure):
    """BED-006a, BED-006d, BED-006e, BED-D1, BED-D11."""
    server.answers += [RETRIED[failure]() for _ in range(RETRIES + 1)]
    runtime.apply(GO)
    assert tries(runtime) == {"type": "run-stop", "reason": "error", "detail": EXHAUSTED}
    assert [seen.at for seen in server.seen] == [0, 1, 3, 7]
    assert len({seen.body for seen in server.seen}) == 1


FATAL = {
    "401": (
        lambda: raw(401, b'{"error": {"message": "no such key"}}'),
        "refuses the key; check it (HTTP 401: no such key)",
    ),
    "403": (lambda: raw(403), "the key may not use this model"),
    "404": (lambda: raw(404, b"nothing here"), "no such model or address; check both (HTTP 404: nothing here)"),
    "400": (lambda: [ModelFail(failure="fatal")], "refuses the request (HTTP 400: the model failed (fatal)"),
    "408": (lambda: raw(408), "(HTTP 408)"),
    "a redirect": (lambda: raw(307), "(HTTP 307)"),
    "a refusal amid the stream": (lambda: [Text(text="half"), ModelFail(failure="fatal")], "amid its response"),
    "a page": (lambda: raw(200, b"<html>", "text/html"), "is no event stream"),
    "rubbish": (lambda: stream("{"), "is no chat completion"),
    "another shape": (lambda: stream('{"choices": 1}'), "is no chat completion"),
    "a call without an id": (
        lambda: stream('{"choices": [{"delta": {"tool_calls": [{"index": 0}]}, "finish_reason": "stop"}]}', "[DONE]"),
        "lacks its id",
    ),
    "an unknown reason": (
        lambda: stream('{"choices": [{"delta": {}, "finish_reason": "tired"}]}', "[DONE]"),
        "a reason that is not known: tired",
    ),
}


@pytest.mark.parametrize("failure", FATAL)
def test_what_will_not_pass_is_tried_once_and_has_a_message_of_its_own(runtime, server, failure):
    """BED-006f, BED-006g, BED-D11."""
    answer, message = FATAL[failure]
    stop = talk(runtime, answer())[-1]
    assert (stop["type"], stop["reason"]) == ("run-stop", "error")
    assert message in stop["detail"]
    assert len(server.seen) == 1


def test_a_provider_that_cannot_be_reached_is_tried_again():  # BED-006a, BED-D11
    with HttpModel(f"http://127.0.0.1:{free_port()}/v1", "m") as model, ConversationTarget(model=model) as runtime:
        runtime.reset(ResetOptions(clock="manual"))
        runtime.apply(GO)
        assert tries(runtime) == {"type": "run-stop", "reason": "error", "detail": EXHAUSTED}
        assert runtime.shell.clock.now == 7


def test_after_a_failure_that_passed_the_turn_goes_on(runtime, server):  # BED-006b
    server.answers += [[Text(text="half"), BROKEN], [Text(text="whole"), END]]
    runtime.apply(GO)
    assert tries(runtime)["reason"] == "completed"
    assert [event["text"] for event in runtime.log if event["type"] == "agent-output"] == ["whole"]


def test_a_message_after_an_error_is_sent_with_all_that_was(runtime, server):  # BED-006h, BED-006i
    talk(runtime, raw(401))
    talk(runtime, [Text(text="yes"), END], message=User(id="u2", text="and now"))
    assert [one["content"] for one in server.seen[1].json["messages"]] == ["go", "and now"]


@pytest.mark.parametrize("address", ["", "localhost:80/v1", "ftp://h/v1", "http:///v1", "http://h:port/v1"])
def test_what_is_no_address_is_refused_at_once(address):
    with pytest.raises(ValueError, match="no address of a model"):
        HttpModel(address, "m")


def test_a_key_that_no_header_takes_is_refused_at_once():
    with pytest.raises(ValueError, match="the key has characters"):
        HttpModel("http://127.0.0.1:1/v1", "m", key="a\nb")


def test_texts_of_all_languages_arrive_as_they_were_sent(runtime, server):
    said = "größer 猫 \u2028 \\n"
    events = talk(runtime, [Text(text=said), END], message=User(id="u1", text=said))
    assert server.seen[0].json["messages"][0]["content"] == said
    assert [event["text"] for event in events if event["type"] == "agent-output"] == [said]
    assert json.loads(server.seen[0].body.decode("utf-8"))


def test_the_example_of_the_page_runs(tmp_path, monkeypatch, capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with served(tmp_path) as target:
        target.server.answers += [[ToolCall(call_id="c", tool="where"), CALLED], [Text(text="There."), END]]
        exec(example.replace("http://127.0.0.1:8000/v1", target.address), {})
        shown = target.server.seen[1].json["messages"][-1]
    assert shown == {"role": "tool", "tool_call_id": "c", "content": f"{tmp_path.resolve()}\n"}
    assert "'reason': 'completed'" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["conversation", "event_flow"])
def test_a_reference_whose_model_is_played_needs_no_extra(name):
    code = (
        "import sys; from turncheck.adapters.references.registry import reference_runtime; "
        f"reference_runtime({name!r}); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=SECONDS)
    assert {"httpx", "anyio", "starlette", "PIL"} & {*done.stdout.split()} == set()
