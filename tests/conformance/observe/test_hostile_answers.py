"""Whatever a runtime answers, it is observed, and laws can look its events up by their names."""

import pytest

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.observe.driver import recorded
from turncheck.conformance.verify.subjects.subject import Observation, judged
from turncheck.model.core.stimuli import Abort, ModelOutput, ResetOptions, Step, ToolCall, User

WORD = (User(id="u1", text="red"), ModelOutput(item=ToolCall(call_id="c1", tool="read")), Abort())


def observed(*events, policies=None, options=None):
    """The trace of a word whose first step logs *events*."""
    profile = Profile(("runtime",), (), policies=policies or {})
    answers = (Step(events), Step(), Step())
    return recorded(WORD, answers, (False, False, True), ResetOptions(policies=options or {}), profile)


@pytest.mark.parametrize("name", [["c1"], {"c1": 1}, 5, None])
@pytest.mark.parametrize("field", ["type", "kind", "id", "callId", "tool", "requestId", "responseId"])
@pytest.mark.parametrize("type_", ["user-message", "agent-output", "tool-result", "model-request"])
def test_every_law_judges_events_whose_names_are_no_text(type_, field, name):
    root = {"type": "user-message", "text": "red", "id": "u1"}
    call = {"type": "agent-output", "kind": "tool-call", "callId": "c1", "tool": "read"}
    trace = observed(root, call, {**call, "type": type_, field: name})
    for law in selected(["runtime"]):
        if law.kind == "run":
            list(judged(law, Observation(None, trace)))


@pytest.mark.parametrize("entry", [{"ids": [["u1"]]}, {"ids": 5}, {"role": []}, {"callId": {}}, {"text": []}])
@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_every_law_judges_a_request_whose_input_holds_anything(role, entry):
    root = {"type": "user-message", "text": "red", "id": "u1"}
    request = {"type": "model-request", "requestId": "r1", "input": [{"role": role, "text": "red", **entry}, 5]}
    follow_up = {"type": "user-message", "text": "blue", "id": "u2", "delivery": "followUp"}
    trace = observed(root, follow_up, request, request)
    for law in selected(["runtime"]):
        if law.kind == "run":
            list(judged(law, Observation(None, trace)))


def test_a_name_that_is_no_text_is_left_out_and_the_rest_of_the_event_stays():
    trace = observed({"type": "tool-result", "callId": ["c1"], "output": ["blue"]})
    assert trace.log == ({"type": "tool-result", "output": ["blue"]},)


@pytest.mark.parametrize("policies", [{"busy": "maybe"}, {"busy": []}, {"whileActive": "maybe"}, {"retries": "two"}])
@pytest.mark.parametrize("whose", ["policies", "options"])
def test_a_policy_that_cannot_be_is_an_error_of_the_target(whose, policies):
    with pytest.raises(TargetError, match=f"the policy {next(iter(policies))} (has an unknown value|is no number)"):
        observed(**{whose: policies})


@pytest.mark.parametrize("policies", [{"backoff": {"base": 0}}, {"backoff": 2}, {"contextShare": 2}])
@pytest.mark.parametrize("whose", ["policies", "options"])
def test_a_policy_of_another_form_is_an_error_of_the_target_that_says_what_is_expected(whose, policies):
    with pytest.raises(TargetError, match=f"the policy {next(iter(policies))}: Expected"):
        observed(**{whose: policies})
