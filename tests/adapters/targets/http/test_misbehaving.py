"""Endpoints with a fault: the log that each yields."""

import agents
import pytest
from serving import free_port, serve
from words import ONE, STOP, TWO, say

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.targets.http.options import worker_command
from turncheck.adapters.targets.remote_runtime import RemoteRuntime
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.subjects.subject import HASH_SEED
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import Abort


def logged(drive, name, *word):
    """Return the events of a word of one message, without the message."""
    return [event for step in drive(name).run([*word] or [ONE]) for event in step.events][1:]


def stop(reason, detail):
    return {"type": "run-stop", "reason": reason, "detail": detail, "source": "adapter"}


HI = {"type": "agent-output", "kind": "assistant", "text": "hi"}


@pytest.mark.parametrize("name", ["silent", "endless"])
def test_a_run_that_never_ends_is_unsettled_when_patience_is_over(drive, name):
    assert drive(name, "patience=0.2").apply(ONE).unsettled


def test_after_an_unsettled_step_a_reset_starts_anew(drive):
    runtime = drive("silent", "patience=0.2")
    runtime.apply(ONE)
    assert runtime.reset().events == ()


def test_two_terminals_are_a_stop_and_something_after_it(drive):
    assert [event.get("type", "malformed") for event in logged(drive, "two-terminals")] == [
        *("agent-output", "run-stop", "run-stop")
    ]


def test_text_after_the_terminal_is_malformed_or_an_output_outside_of_a_run(drive):
    terminal, *late = logged(drive, "late")
    assert (terminal["type"], [event["type"] for event in late if "type" in event]) == ("run-stop", ["agent-output"])


def test_a_stream_without_its_start_is_malformed(drive):
    assert logged(drive, "no-start")[0] == {"malformed": "the first event is TEXT_MESSAGE_START, not RUN_STARTED"}


def test_a_stream_that_just_ends_is_malformed_and_its_stop_is_inferred(drive):
    assert logged(drive, "no-terminal") == [
        HI,
        {"malformed": "the stream ended without RUN_FINISHED or RUN_ERROR"},
        stop("error", "no terminal"),
    ]


def test_a_stream_torn_amid_an_event_says_what_came_of_it(drive):
    broke = 'the stream ended amid an event: data: {"type": "RUN_FIN'
    assert logged(drive, "torn") == [{"malformed": broke}, stop("error", broke)]


def test_a_connection_that_breaks_is_malformed(drive):
    broke, stopped = logged(drive, "broken")
    assert broke["malformed"].startswith("the connection broke: ")
    assert stopped == stop("error", broke["malformed"])


def test_an_event_that_is_no_json_is_malformed_and_the_rest_is_read(drive):
    assert [event.get("malformed", event.get("reason")) for event in logged(drive, "rubbish")] == [
        *("unreadable line", "completed")
    ]


def test_an_endpoint_that_answers_with_an_error_has_failed_the_run(drive):
    assert logged(drive, "500") == [
        {"type": "fault", "message": "HTTP 500: come back later"},
        stop("error", "HTTP 500: come back later"),
    ]


@pytest.mark.parametrize("status", ["409", "423", "429"])
def test_an_endpoint_that_is_busy_has_rejected_the_message(drive, status):
    step = drive(status).apply(ONE)
    assert (step.events, step.refused.why, step.refused.message) == ((), "rejected", f"HTTP {status}: come back later")


def test_a_page_is_no_event_stream(drive):
    broke, stopped = logged(drive, "page")
    assert "text/event-stream" in broke["malformed"]
    assert (stopped["reason"], stopped["source"]) == ("error", "adapter")


def test_an_endpoint_that_never_asks_the_model_has_its_say_without_a_request(drive):
    assert logged(drive, "never-asks") == [
        {**HI, "text": "I know it all"},
        {"type": "run-stop", "reason": "completed"},
    ]


def test_two_requests_at_once_are_both_awaited(drive):
    step = drive("asks-twice").apply(ONE)
    assert [one.request_id for one in step.awaiting] == ["r1", "r2"]


def test_of_two_requests_one_is_answered_by_its_id(drive):
    runtime = drive("asks-twice")
    word = [ONE, say("b", request_id="r2"), STOP.__class__(reason="end-turn", request_id="r2"), say("a"), STOP]
    assert [one.request_id for one in runtime.run(word)[2].awaiting] == ["r1"]


def test_a_request_for_another_api_is_a_fault_that_names_ours(drive):
    fault, stopped = logged(drive, "asks-elsewhere")
    assert fault["message"] == "POST /v1/responses: turncheck serves POST /v1/chat/completions alone"
    assert fault["message"] in stopped["detail"]


def test_a_request_from_nobody_is_a_fault_and_is_refused(drive):
    runtime = drive("asks-later")
    agents.refused.clear()
    agents.run_is_over.clear()
    runtime.apply(ONE)
    agents.run_is_over.set()
    assert agents.refused.wait(10)
    assert runtime.apply(Abort()).events == (
        {"type": "fault", "message": "a model request while no run is under way: it was refused"},
    )


def test_a_request_that_outlives_an_abort_stays_awaited(drive):
    runtime = drive("deaf")
    runtime.apply(ONE)
    assert [one.request_id for one in runtime.apply(Abort()).awaiting] == ["r1"]


def test_what_a_left_request_is_answered_is_never_seen(drive):
    runtime = drive("deaf")
    steps = runtime.run([ONE, Abort(), say("nobody hears"), STOP])
    assert [(step.events, step.awaiting) for step in steps[3:]] == [((), ())]


def test_a_new_run_does_not_count_a_left_request_as_its_own(drive):
    runtime = drive("deaf")
    step = runtime.run([ONE, Abort(), TWO])[-1]
    assert [one.request_id for one in step.awaiting] == ["r1", "r2"]


def test_an_event_of_four_megabytes_is_one_item(drive):
    output, _ = logged(drive, "huge")
    assert len(output["text"]) == 4 << 20


def test_an_event_over_the_limit_breaks_the_stream(drive):
    broke, _ = logged(drive, "too-huge")
    assert broke["malformed"] == "an event is longer than 8,388,608 bytes (docs/http.md)"


def test_chunks_are_items(drive):
    assert logged(drive, "in-chunks")[:3] == [
        {"type": "agent-output", "kind": "assistant", "text": "one text"},
        {"type": "agent-output", "kind": "tool-call", "callId": "c", "tool": "read", "arguments": {"path": "a"}},
        {"type": "tool-result", "callId": "c", "output": "alpha"},
    ]


def test_an_endpoint_that_is_gone_fails_the_step_and_not_a_law():
    port = free_port()
    with serve(agents.application) as address:
        target = f"{address}/never-asks?model={port}#model-port={port}"
        runtime = RemoteRuntime(Connection(target, command=worker_command(target), timeout=20))
    with runtime:
        runtime.reset()
        with pytest.raises(TargetError, match="nobody listens at"):
            runtime.apply(ONE)


@pytest.mark.parametrize(("status", "law"), [("500", "runs-ask-the-model"), ("409", "next-message-served")])
def test_an_endpoint_that_answers_everything_with_an_error_fails_a_law(drive, status, law):
    result, _ = verify_runtime(drive(status), selected(["runtime"]), words=0, hash_seed=HASH_SEED, shrink=False)
    assert ({one.law for one in result.laws if one.verdict == "fail"}, result.exit_code) == ({law}, 1)
