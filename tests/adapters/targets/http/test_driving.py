"""The worker on a right endpoint: what each stimulus leads to."""

import pytest
from words import CALLED, ONE, STOP, TOOLS, TWO, call, events, kinds, say

from turncheck.adapters.protocol.errors import TargetError
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Client,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    Refusal,
    ResetOptions,
    Shown,
    Text,
    Together,
    ToolFail,
    ToolReturn,
    User,
)


@pytest.fixture
def right(drive):
    return drive("right")


def test_a_message_is_logged_and_then_the_request_that_shows_it(right):
    assert events([right.apply(ONE)]) == [
        {"type": "user-message", "id": "u1", "text": "one"},
        {"type": "model-request", "requestId": "r1", "input": [{"role": "user", "text": "one"}]},
    ]


def test_the_model_is_awaited_with_its_whole_input(right):
    (awaited,) = right.apply(ONE).awaiting
    assert (awaited.request_id, awaited.input) == ("r1", (Shown("user", "one"),))


def test_a_text_is_one_item_that_names_its_request(right):
    assert events(right.run([ONE, say("hello"), STOP]))[2:] == [
        {"type": "agent-output", "kind": "assistant", "text": "hello", "responseId": "r1"},
        {"type": "run-stop", "reason": "completed"},
    ]


def test_the_client_sends_the_whole_history_with_each_message(right):
    right.run([ONE, say("hello"), STOP])
    (awaited,) = right.apply(TWO).awaiting
    assert awaited.input == (Shown("user", "one"), Shown("assistant", "hello"), Shown("user", "two"))


def test_a_reset_forgets_the_history(right):
    right.run([ONE, say("hello"), STOP])
    right.reset()
    assert right.apply(TWO).awaiting[0].input == (Shown("user", "two"),)


def test_a_reset_amid_a_run_ends_it(right):
    right.run([ONE, say("hel")])
    assert (right.reset().awaiting, right.apply(TWO).awaiting[0].request_id) == ((), "r1")


def test_the_same_word_gives_the_same_steps(right):
    word = [ONE, say("hello"), call("c1", {"path": "a"}), CALLED, ToolReturn(call_id="c1", output="x"), Abort(), TWO]
    right.reset(TOOLS)
    first = right.run(word)
    right.reset(TOOLS)
    assert right.run(word) == first


def test_nobody_sends_while_a_run_is_under_way(right):
    right.apply(ONE)
    step = right.apply(TWO)
    assert (step.events, step.refused.why) == ((), "unsupported")


# Tools of the client


@pytest.fixture
def called(right):
    right.reset(TOOLS)
    return right, right.run([ONE, call("c1", {"path": "a"}), call("c2", {"path": "b"}), CALLED])


def test_the_clients_calls_are_awaited_when_their_run_is_over(called):
    _, steps = called
    assert [(one.call_id, one.execution, one.tool, one.arguments) for one in steps[-1].awaiting] == [
        ("c1", "e1", "read", {"path": "a"}),
        ("c2", "e2", "read", {"path": "b"}),
    ]


def test_a_run_that_ends_with_calls_for_the_client_is_no_stop(called):
    _, steps = called
    assert kinds(steps[-1:]) == ["agent-output", "agent-output", "native"]


def test_the_next_run_starts_with_the_last_result(called):
    right, _ = called
    first, second = right.run([ToolReturn(call_id="c2", output="beta"), ToolReturn(call_id="c1", output=["al", "pha"])])
    assert (kinds([first]), kinds([second])) == (["tool-result"], ["tool-result", "model-request"])
    assert second.awaiting[0].input[-2:] == (
        Shown("tool", "beta", call_id="c2"),
        Shown("tool", '["al", "pha"]', call_id="c1"),
    )


def test_a_result_is_the_clients_own_word(called):
    right, _ = called
    (result,) = right.apply(ToolReturn(call_id="c1", output="alpha")).events
    assert result == {"type": "tool-result", "callId": "c1", "output": "alpha", "source": "adapter"}


def test_a_tool_that_fails_answers_with_an_error(called):
    right, _ = called
    (result,) = right.apply(ToolFail(call_id="c1", message="no file")).events
    assert (result["output"], result["isError"]) == ("no file", True)


def test_an_execution_names_one_of_two_calls_with_one_id(right):
    right.reset(TOOLS)
    right.run([ONE, call("c1", {"path": "a"}), CALLED, ToolReturn(call_id="c1", output="x"), call("c1"), CALLED])
    assert right.apply(ToolReturn(call_id="c1", execution="e1", output="y")).refused.why == "not-awaited"
    assert right.apply(ToolReturn(call_id="c1", execution="e2", output="y")).refused is None


def test_arguments_that_are_no_object_are_shown_and_never_executed(right):
    right.reset(TOOLS)
    step = right.run([ONE, call("c1", '{"path": '), CALLED])[-1]
    shown, _, result, _ = step.events
    assert (shown["arguments"], result["isError"]) == ('{"path": ', True)
    assert step.awaiting[0].input[-1].role == "tool"


def test_a_call_id_that_comes_twice_in_one_run_is_one_call(right):
    right.reset(TOOLS)
    step = right.run([ONE, call("c1", {"path": "a"}), call("c1", {"path": "b"}), CALLED])[-1]
    assert [(one.call_id, one.arguments) for one in step.awaiting] == [("c1", {"path": "a"})]


def test_an_abort_answers_the_calls_that_the_client_left(called):
    right, _ = called
    step = right.apply(Abort())
    assert kinds([step]) == ["tool-result", "tool-result", "run-stop"]
    assert {event["source"] for event in step.events} == {"adapter"}


def test_an_abort_leaves_no_call_unanswered_in_the_history(called):
    right, _ = called
    right.apply(Abort())
    assert [one.role for one in right.apply(TWO).awaiting[0].input] == [
        *("user", "assistant", "assistant", "tool", "tool", "user")
    ]


# The model's failures


@pytest.mark.parametrize(("failure", "status"), [("retryable", "503"), ("fatal", "400")])
def test_a_failure_instead_of_a_stream_is_a_status(right, failure, status):
    (_, stopped) = right.run([ONE, ModelFail(failure=failure)])
    (event,) = stopped.events
    assert (event["type"], event["reason"], status in event["detail"]) == ("run-stop", "error", True)


@pytest.mark.parametrize("failure", ["stream", "fatal"])
def test_a_failure_amid_a_stream_keeps_what_came_before(right, failure):
    steps = right.run([ONE, say("hel"), ModelFail(failure=failure)])
    assert [event.get("text") or event["reason"] for event in steps[-1].events] == ["hel", "error"]


def test_a_stream_that_fails_before_its_first_item_breaks_too(right):
    assert right.run([ONE, ModelFail(failure="stream")])[-1].events[-1]["reason"] == "error"


# Aborts


def test_an_abort_is_logged_with_what_had_come(right):
    assert events(right.run([ONE, say("hel"), Abort()]))[2:] == [
        {"type": "agent-output", "kind": "assistant", "text": "hel", "responseId": "r1"},
        {"type": "run-stop", "reason": "interrupted", "detail": "the client disconnected", "source": "adapter"},
    ]


def test_after_an_abort_the_model_is_not_awaited(right):
    assert right.run([ONE, Abort()])[-1].awaiting == ()


def test_an_abort_with_nothing_under_way_does_nothing(right):
    step = right.apply(Abort())
    assert (step.events, step.refused) == ((), None)


def test_a_message_and_its_abort_at_once_are_one_message(right):
    assert kinds([right.apply(Together(stimuli=(ONE, Abort())))]) in (
        ["user-message", "run-stop"],
        ["user-message", "model-request", "run-stop"],
    )


# Sessions


def test_sessions_are_threads_of_their_own(right):
    right.run([User(id="a1", text="in a", session_id="a"), User(id="b1", text="in b", session_id="b")])
    steps = right.run([say("B", session_id="b"), ModelStop(reason="end-turn", session_id="b")])
    assert [(event["sessionId"], event.get("text")) for event in steps[-1].events] == [("b", "B"), ("b", None)]
    assert [one.session_id for one in steps[-1].awaiting] == ["a"]


# A second process of the same target


def test_a_twin_takes_the_models_port_and_gives_it_back(right):
    with right.again(1) as twin:
        twin.reset()
        assert twin.apply(ONE).awaiting[0].request_id == "r1"
        right.reset()
        assert right.apply(TWO).awaiting[0].input == (Shown("user", "two"),)


def test_a_worker_whose_port_was_taken_amid_a_word_fails(right):
    right.apply(ONE)
    with right.again(1), pytest.raises(TargetError, match="another turncheck took port"):
        right.apply(STOP)


# What an endpoint has no way to do


@pytest.mark.parametrize(
    "stimulus", [Advance(seconds=1), Client(client_id="k1", action="leave"), User(id="u", text="", content=[])]
)
def test_what_an_endpoint_cannot_be_told_is_unsupported(right, stimulus):
    assert right.apply(stimulus).refused.why == "unsupported"


def test_options_that_no_endpoint_can_be_told_are_refused_by_name(right):
    assert right.reset(ResetOptions(limits={"maxRounds": 1}, deaf_tools=True)).refused == Refusal(
        "unsupported", "an AG-UI endpoint has no way to be told limits, deaf_tools"
    )


@pytest.mark.parametrize("stimulus", [say("x"), STOP, ModelFail(failure="fatal"), ToolReturn(call_id="c")])
def test_what_nobody_waits_for_is_not_awaited(right, stimulus):
    assert right.apply(stimulus).refused.why == "not-awaited"


@pytest.mark.parametrize("item", [Text(text="again"), Reasoning(text="too late")])
def test_an_item_that_no_completion_can_hold_next_is_unsupported(right, item):
    assert right.run([ONE, say("hello"), ModelOutput(item=item)])[-1].refused.why == "unsupported"


def test_a_refused_item_is_not_sent(right):
    assert events(right.run([ONE, say("hello"), say("again"), STOP]))[2]["text"] == "hello"


def test_a_server_that_does_not_stream_gets_the_answer_whole(drive):
    steps = drive("not-streaming").run([ONE, say("hello"), STOP])
    assert [len(step.events) for step in steps] == [2, 0, 2]
    assert steps[-1].events[0]["text"] == "hello"
