"""The Python kit's protocol: messages in, answers out, and faults of an adapter."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from python_client import (
    ABORT,
    FAKES,
    KIT,
    Client,
    calls,
    does,
    events,
    fails,
    returns,
    said,
    says,
    stops,
    together,
    tool_fails,
    user,
)


@pytest.fixture(scope="module")
def process():
    with Client.of(FAKES) as client:
        yield client


@pytest.fixture
def fakes(process):
    process.reset()
    return process


def test_the_example_at_the_kits_top_is_a_whole_adapter(tmp_path):
    text = (KIT / "turncheck_kit.py").read_text()
    example = text.partition("A whole adapter::\n")[2].partition("A tool is")[0]
    (tmp_path / "mine.py").write_text(textwrap.dedent(example))
    with Client.of(tmp_path / "mine.py") as client:
        client.reset()
        steps = client.run(user("one"), user("two"), says("hi"), stops(), user("three"), ABORT)
    assert events(steps) == [
        *("user one", "request r1", "assistant hi", "stop* completed"),
        *("user three", "request r2", "stop* interrupted"),
    ]
    assert steps[1]["refused"] == {"why": "rejected", "message": "agent is busy"}


@pytest.mark.parametrize(
    ("declares", "problem"),
    [
        ("pass", "Mine.implementation lacks name, version, language"),
        ("implementation = {'name': 'm', 'version': '1', 'language': 'python'}", "Mine.profile lacks roles"),
        (
            "implementation = dict(name='m', version='1', language='x'); profile = dict(roles=['p'], capabilities=[])",
            "has the roles ['p'], not runtime",
        ),
    ],
)
def test_an_adapter_that_declares_no_runtime_is_told_so(tmp_path, declares, problem):
    (tmp_path / "mine.py").write_text(
        f"from turncheck_kit import Adapter, serve\nclass Mine(Adapter):\n    {declares}\nserve(Mine())\n"
    )
    with Client.of(tmp_path / "mine.py") as client, pytest.raises(EOFError) as error:
        client.ask("hello", protocol=1)
    assert problem in str(error.value)


def test_hello_tells_who_is_there_and_what_it_claims(process):
    assert process.ask("hello", protocol=1) == {
        "ok": True,
        "protocol": 1,
        "implementation": {"name": "fakes", "version": "1", "language": "python"},
        "profile": {
            "roles": ["runtime"],
            "capabilities": [
                *("abort", "tools", "tool-failure", "model-failure", "reasoning"),
                *("clock", "deaf", "together", "observer", "approval", "client-tools", "compaction"),
            ],
        },
    }


def test_another_protocol_is_refused(process):
    answer = process.ask("hello", protocol=2)
    assert (answer["ok"], answer["error"]["message"]) == (False, "this adapter speaks protocol 1, not 2")


def test_reset_answers_like_apply(process):
    assert process.reset() == {"seq": process.seq, "ok": True, "events": [], "awaiting": []}


def test_an_unknown_command_is_unsupported(fakes):
    answer = fakes.ask("dance")
    assert (answer["seq"], answer["ok"], answer["error"]["kind"]) == (fakes.seq, False, "unsupported")


def test_a_stimulus_before_the_first_reset_fails():
    with Client.of(FAKES) as client:
        assert "before a successful reset" in does(client, "nothing")["error"]["message"]


BAD = {
    "apply lacks stimulus": {"cmd": "apply", "seq": 1},
    "stimulus of apply is []; expected an object": {"cmd": "apply", "seq": 1, "stimulus": []},
    "seq of run is true; expected an integer": {"cmd": "run", "seq": True, "word": []},
    "expected one of user, abort,": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "dance"}},
    "user lacks text": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "user", "id": "1"}},
    'delivery of user is "stear"; expected "steer" or "followUp"': {
        "cmd": "run",
        "seq": 1,
        "word": [{"kind": "user", "id": "1", "text": "nothing", "delivery": "stear"}],
    },
    "abort has no field txt": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "abort", "txt": 1}},
    "sessionId of abort is 5": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "abort", "sessionId": 5}},
    "seconds of advance is -1": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "advance", "seconds": -1}},
    "expected one of assistant, reasoning, tool-call": {
        "cmd": "apply",
        "seq": 1,
        "stimulus": {"kind": "model-output", "item": {"kind": "image"}},
    },
    "tool-call lacks tool": {
        "cmd": "apply",
        "seq": 1,
        "stimulus": {"kind": "model-output", "item": {"kind": "tool-call", "callId": "c"}},
    },
    "no stimulus": {"cmd": "apply", "seq": 1, "stimulus": {"kind": "together", "stimuli": [{"kind": "together"}]}},
    "clock of options is": {"cmd": "reset", "seq": 1, "options": {"clock": "fast"}},
    "options has no field deaf": {"cmd": "reset", "seq": 1, "options": {"deaf": True}},
    "tools of options is": {"cmd": "reset", "seq": 1, "options": {"tools": [{}]}},
}


@pytest.mark.parametrize("problem", BAD)
def test_a_bad_message_is_told_with_what_was_expected(fakes, problem):
    answer = fakes.send(json.dumps(BAD[problem]))
    assert answer["error"]["kind"] == "failed"
    assert problem in answer["error"]["message"]
    assert "docs/protocol.md#" in answer["error"]["message"]


@pytest.mark.parametrize("line", ["{", "[]", "1", '"hello"', '{"seq": 4}', "\xff"])
def test_what_is_no_message_is_answered(fakes, line):
    assert fakes.send(line)["error"]["kind"] == "failed"


def test_a_bad_stimulus_in_a_word_is_told_before_any_is_applied(fakes):
    assert not fakes.ask("run", word=[user("timer"), {"kind": "dance"}])["ok"]
    assert said(does(fakes, "nothing")) == []


def test_null_is_as_good_as_absent(fakes):
    assert fakes.apply("user", id="u", text="nothing", delivery=None, content=None, sessionId=None)["ok"]


def test_a_message_may_come_in_pieces_and_two_at_once():
    with Client.of(FAKES) as client:
        pipe = client.process.stdin
        for piece in (
            b'{"cmd": "res',
            b'et", "seq": 1}\n\n{"cmd": "apply", "seq": 2, "stimulus": ',
            b'{"kind": "abort"}}\n',
        ):
            pipe.write(piece)
            pipe.flush()
        assert [json.loads(client.process.stdout.readline())["seq"] for _ in "12"] == [1, 2]


def test_a_message_may_be_megabytes_long(fakes):
    text = "x" * 3_000_000
    answer = fakes.apply("user", id=text, text="nothing")
    assert answer["ok"]


def test_stop_ends_the_process():
    with Client.of(FAKES) as client:
        client.reset()
        client.close()
        assert client.process.returncode == 0


def test_the_end_of_stdin_ends_the_process():
    with Client.of(FAKES) as client:
        client.process.stdin.close()
        assert client.process.wait(timeout=20) == 0


def test_a_last_message_without_a_line_feed_is_answered():
    done = subprocess.run(
        [sys.executable, str(FAKES)],
        input=b'{"cmd": "reset", "seq": 7}',
        capture_output=True,
        env=os.environ | {"PYTHONPATH": str(KIT)},
        check=True,
    )
    assert json.loads(done.stdout)["seq"] == 7


# What an adapter does wrong


def test_an_exception_of_the_adapter_is_failed_with_its_traceback(fakes):
    error = does(fakes, "raises")["error"]
    assert (error["kind"], error["message"]) == ("failed", "LookupError: broken")
    assert "in raises" in error["detail"]


def test_the_kit_survives_an_exception(fakes):
    does(fakes, "raises")
    assert does(fakes, "nothing")["ok"]


def test_an_exception_of_a_later_step_is_that_steps_failure(fakes):
    fakes.reset(clock="manual")
    assert does(fakes, "raises_later")["ok"]
    assert fakes.apply("advance", seconds=5)["error"]["message"] == "LookupError: broken later"


def test_a_word_that_fails_returns_the_steps_that_were_done(fakes):
    answer = fakes.ask("run", word=[user("nothing"), user("raises"), user("timer")])
    assert (answer["ok"], len(answer["steps"])) == (False, 1)


def test_what_is_printed_goes_to_stderr():
    with Client.of(FAKES) as client:
        client.reset()
        assert said(does(client, "rubbish")) == [""]
        assert client.close().count("rubbish") == 3


def test_an_event_that_is_no_json_fails_where_it_is_logged(fakes):
    error = does(fakes, "logs_no_json")["error"]
    assert "TypeError" in error["message"]
    assert "in logs_no_json" in error["detail"]


def test_nan_is_logged_as_null(fakes):
    assert said(does(fakes, "logs_nan")) == [{"x": [None, 1]}]


def test_a_lone_surrogate_is_logged(fakes):
    assert said(does(fakes, "logs_surrogate")) == ["\ud83d"]


def test_an_event_is_logged_as_it_was_then(fakes):
    assert said(does(fakes, "logs_what_it_changes")) == [["before"]]


def test_a_refusal_with_an_unknown_reason_fails(fakes):
    assert "rejected, unsupported, not-awaited" in does(fakes, "refuses_badly")["error"]["message"]


def test_waiting_for_a_tool_in_the_loops_own_thread_fails(fakes):
    assert "would block the event loop" in does(fakes, "blocks_the_loop")["error"]["message"]


def test_what_is_held_back_is_the_last_event_of_a_step(fakes):
    assert said(does(fakes, "holds_back")) == ["first", "held"]


# Refusals


def test_the_adapters_refusal_is_shown(fakes):
    assert does(fakes, "refuses")["refused"] == {"why": "rejected", "message": "busy"}


def test_a_run_goes_on_after_a_refusal(fakes):
    assert len(fakes.run(user("refuses"), user("nothing"))) == 2


@pytest.mark.parametrize(
    "stimulus",
    [
        {"kind": "client", "clientId": "k1", "action": "join"},
        {"kind": "store-fail", "times": 1},
        user("nothing", sessionId="s"),
        user("nothing", content=[]),
    ],
)
def test_a_stimulus_of_an_undeclared_capability_is_unsupported(fakes, stimulus):
    assert fakes.run(stimulus)[0]["refused"]["why"] == "unsupported"


def test_an_option_of_an_undeclared_capability_is_unsupported(fakes):
    assert fakes.reset(stateDir="/nowhere")["refused"]["why"] == "unsupported"


@pytest.mark.parametrize("stimulus", [says("x"), stops(), fails("fatal"), returns("c1"), tool_fails("c1")])
def test_what_nobody_waits_for_is_not_awaited(fakes, stimulus):
    assert fakes.run(stimulus)[0]["refused"]["why"] == "not-awaited"


# The model and the tools


def test_a_request_is_logged_and_awaited_with_its_input(fakes):
    shown = {"requestId": "r1", "input": [{"role": "user", "text": "model"}]}
    step = does(fakes, "model")
    assert step["events"] == [{"type": "model-request", **shown}]
    assert step["awaiting"] == [{"kind": "model", **shown}]


def test_an_input_that_cannot_be_seen_is_left_out(fakes):
    assert does(fakes, "model_unseen")["awaiting"] == [{"kind": "model", "requestId": "r1"}]


def test_a_request_without_tools_says_so_where_it_is_awaited(fakes):
    step = does(fakes, "model_without_tools")
    assert step["awaiting"] == [{"kind": "model", "requestId": "r1", "input": [], "tools": False}]
    assert step["events"] == [{"type": "model-request", "requestId": "r1", "input": []}]


def test_the_models_items_arrive_one_by_one(fakes):
    steps = fakes.run(user("model"), says("a"), calls("c1", arguments={"x": 1}), calls("c2", arguments="{"), stops())
    assert [said(step) for step in steps] == [[], ["a"], ['{"x": 1}'], ["{"], [["end-turn", None]]]


def test_the_models_usage_is_there_at_its_end(fakes):
    does(fakes, "model")
    assert said(fakes.apply("model-stop", reason="length", usage={"in": 1})) == [["length", {"in": 1}]]


@pytest.mark.parametrize("failure", ["retryable", "fatal", "stream"])
def test_the_model_fails_in_each_class(fakes, failure):
    assert said(*fakes.run(user("model"), fails(failure))) == [failure]


def test_a_request_that_is_left_early_is_no_longer_awaited(fakes):
    assert fakes.run(user("leaves_early"), says("a"))[-1]["awaiting"] == []


def test_a_cancelled_request_is_no_longer_awaited(fakes):
    assert fakes.run(user("model"), ABORT)[-1]["awaiting"] == []


def test_a_deaf_model_stays_awaited_until_it_is_answered(fakes):
    fakes.reset(deafModel=True)
    steps = fakes.run(user("model"), ABORT, says("a"), stops())
    assert [[entry["cancelled"] for entry in step["awaiting"]] for step in steps[1:]] == [[True], [True], []]


def test_without_a_request_id_the_oldest_is_meant(fakes):
    steps = fakes.run(user("model"), user("model"), stops())
    assert [entry["requestId"] for entry in steps[-1]["awaiting"]] == ["r2"]


def test_a_request_id_names_a_request(fakes):
    steps = fakes.run(user("model"), user("model"), {**stops(), "requestId": "r2"})
    assert [entry["requestId"] for entry in steps[-1]["awaiting"]] == ["r1"]


def test_a_tool_is_awaited_with_its_execution_and_arguments(fakes):
    shown = {"kind": "tool", "callId": "c1", "execution": "e1", "tool": "read", "arguments": {"path": "x"}}
    assert does(fakes, "tool")["awaiting"] == [shown]


def test_a_tool_returns_its_output_with_data_and_metadata(fakes):
    steps = fakes.run(user("tool"), returns("c1", {"a": 1}, data=2, metadata={"b": 3}))
    assert said(*steps) == [[{"a": 1}, 2, {"b": 3}]]


def test_a_tool_without_an_output_returns_none(fakes):
    assert said(*fakes.run(user("tool"), {"kind": "tool-return", "callId": "c1"})) == [[None, None, None]]


def test_a_tool_fails_with_its_message(fakes):
    assert said(*fakes.run(user("tool"), tool_fails("c1", "no access"))) == ["no access"]


def test_an_execution_tells_two_runs_of_a_call_id_apart(fakes):
    steps = fakes.run(user("two_tools"), returns("c1", "second", execution="e2"), returns("c1", "first"))
    assert said(*steps) == [["first", "second"]]


def test_a_cancelled_tool_is_no_longer_awaited(fakes):
    assert fakes.run(user("tool"), ABORT)[-1]["awaiting"] == []


def test_a_deaf_tool_stays_awaited_and_its_output_still_arrives(fakes):
    fakes.reset(deafTools=True)
    steps = fakes.run(user("tool"), ABORT, returns("c1"))
    assert [entry["cancelled"] for entry in steps[1]["awaiting"]] == [True]
    assert (steps[2]["awaiting"], said(steps[2])) == ([], [["done", None, None]])


APPROVE, DENY = {"kind": "approve", "callId": "c1"}, {"kind": "deny", "callId": "c1", "message": "no"}
CLIENT_RESULT = {"kind": "client-result", "callId": "c1", "output": "here"}


@pytest.mark.parametrize("stimulus", [APPROVE, DENY], ids=["approve", "deny"])
def test_a_call_waits_for_a_person_and_the_decision_arrives(fakes, stimulus):
    steps = fakes.run(user("approval"), stimulus)
    assert [step["awaiting"] for step in steps] == [[{"kind": "approval", "callId": "c1"}], []]
    assert said(*steps) == [stimulus]


def test_a_person_and_the_client_decide_about_their_own(fakes):
    steps = fakes.run(user("two_decisions"), CLIENT_RESULT, APPROVE)
    assert [entry["kind"] for entry in steps[1]["awaiting"]] == ["approval"]
    assert said(*steps) == [["approve", "client-result"]]


@pytest.mark.parametrize("stimulus", [CLIENT_RESULT, {**APPROVE, "callId": "c2"}], ids=["kind", "call"])
def test_a_decision_that_nobody_waits_for_is_not_awaited(fakes, stimulus):
    assert fakes.run(user("approval"), stimulus)[1]["refused"]["why"] == "not-awaited"


def test_a_cancelled_and_a_closed_question_are_no_longer_awaited(fakes):
    assert fakes.run(user("approval"), ABORT)[-1]["awaiting"] == []
    assert does(fakes, "asks_in_vain")["awaiting"] == []


def test_a_thread_may_wait_for_a_decision(fakes):
    assert said(*fakes.run(user("decision_in_a_thread"), APPROVE)) == ["approve"]


def test_a_decision_of_another_kind_fails(fakes):
    assert "vote" in fakes.ask("apply", stimulus=user("asks_badly"))["error"]["message"]


def test_a_request_for_a_summary_says_so_in_the_log_and_where_it_is_awaited(fakes):
    step = does(fakes, "summary")
    assert [one["purpose"] for one in (*step["events"], *step["awaiting"])] == ["compaction", "compaction"]


def test_a_request_for_something_else_fails(fakes):
    assert "title" in fakes.ask("apply", stimulus=user("asks_for_something_else"))["error"]["message"]


def test_a_compaction_without_its_method_is_refused(fakes):
    assert fakes.run({"kind": "compact"})[0]["refused"]["message"] == "compact: Fakes has no such method"


def test_stimuli_together_are_applied_in_order_without_quiet_between(fakes):
    step = fakes.run(user("model"), together(says("a"), says("b"), stops()))[-1]
    assert said(step) == ["a", "b", ["end-turn", None]]


@pytest.mark.parametrize(
    ("word", "expected"), [((returns("c1"), ABORT), [["done", None, None]]), ((ABORT, returns("c1")), [])]
)
def test_an_answer_and_an_abort_together_take_place_in_their_order(fakes, word, expected):
    step = fakes.run(user("tool"), together(*word))[-1]
    assert (said(step), step["awaiting"]) == (expected, [])


@pytest.mark.parametrize(("observer", "expected"), [("throws", ["the observer throws"]), ("slow", [])])
def test_the_observer_does_what_the_options_say(fakes, observer, expected):
    fakes.reset(observer=observer)
    assert said(does(fakes, "observes")) == expected
