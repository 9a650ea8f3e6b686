"""The Python kit's steps: refusals, the model, tools and decisions, and stimuli that come together."""

import pytest
from python_client import ABORT, calls, does, fails, returns, said, says, stops, together, tool_fails, user

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
