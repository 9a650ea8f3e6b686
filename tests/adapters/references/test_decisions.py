"""``reference:interaction`` on calls that a person or the client decides about."""

import pytest

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.interaction import InteractionRuntime
from turncheck.model.core.stimuli import (
    Abort,
    Approve,
    ClientResult,
    Deny,
    ModelOutput,
    ModelStop,
    ResetOptions,
    StoreFail,
    Text,
    ToolCall,
    ToolReturn,
    User,
)

TOOLS = ({"name": "read"}, {"name": "pay", "needs": "approval"}, {"name": "locate", "needs": "client"})
FIRST, LAST = User(id="u1", text="one"), User(id="u9", text="nine")
STEER = User(id="u2", text="two", delivery="steer")
END, CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
TEXT = ModelOutput(item=Text(text="all well"))


def call(name, tool="pay", arguments=None):
    return ModelOutput(item=ToolCall(call_id=name, tool=tool, arguments=arguments))


def driven(*stimuli, **policies):
    runtime = InteractionRuntime(policies=policies)
    runtime.reset(ResetOptions(tools=TOOLS))
    return runtime, runtime.run(stimuli)


def awaited(step):
    """What a step awaits: the kind, and the call or request."""
    return [
        (type(one).__name__.removesuffix("Awaited"), getattr(one, "call_id", None) or one.request_id)
        for one in step.awaiting
    ]


def told(runtime, kind, *fields):
    return [tuple(event.get(field) for field in fields) for event in runtime.log if event["type"] == kind]


def results(runtime):
    return told(runtime, "tool-result", "callId", "output")


TWO = (FIRST, call("c1"), call("c2"), CALLED)


def test_a_run_pauses_and_asks_about_all_calls_that_need_approval():
    runtime, steps = driven(*TWO)
    assert awaited(steps[-1]) == [("Approval", "c1"), ("Approval", "c2")]
    assert told(runtime, "run-pause", "calls") == [(["c1", "c2"],)]


def test_the_other_calls_of_a_response_run_before_it_pauses():
    runtime, steps = driven(FIRST, call("c1"), call("c2", "read"), CALLED)
    assert awaited(steps[-1]) == [("Tool", "c2")]
    assert awaited(runtime.apply(ToolReturn(call_id="c2", output="text"))) == [("Approval", "c1")]


def test_an_approved_call_runs_while_the_others_go_on_waiting():
    _, steps = driven(*TWO, Approve(call_id="c1"), ToolReturn(call_id="c1", output="paid"))
    assert [awaited(step) for step in steps[-2:]] == [[("Tool", "c1"), ("Approval", "c2")], [("Approval", "c2")]]


def test_a_denied_call_never_runs_and_the_model_is_shown_why():
    runtime, steps = driven(FIRST, call("c1"), CALLED, Deny(call_id="c1", message="too much"))
    assert awaited(steps[-1]) == [("Model", "r2")]
    assert runtime.request.input[-1].text == "denied: too much"


def test_a_client_executes_its_call_itself():
    runtime, steps = driven(FIRST, call("c1", "locate"), CALLED, ClientResult(call_id="c1", output="here"))
    assert [awaited(step) for step in steps[-2:]] == [[("ClientTool", "c1")], [("Model", "r2")]]
    assert runtime.request.input[-1].text == "here"


def test_a_decision_before_its_turn_is_kept_until_then():
    runtime, steps = driven(*TWO, Deny(call_id="c2"))
    assert (awaited(steps[-1]), results(runtime)) == ([("Approval", "c1")], [])
    runtime.apply(Deny(call_id="c1"))
    assert results(runtime) == [("c1", "denied"), ("c2", "denied")]


def test_a_result_of_the_client_before_its_turn_survives_an_abort():
    early = ClientResult(call_id="c2", output="here")
    runtime, _ = driven(FIRST, call("c1", "locate"), call("c2", "locate"), CALLED, early, Abort())
    assert results(runtime) == [("c1", "not executed: nobody decided about it"), ("c2", "here")]


def test_an_abort_answers_what_waits_for_a_decision_once_each():
    runtime, _ = driven(*TWO, Abort(), LAST)
    assert [name for name, _ in results(runtime)] == ["c1", "c2"]
    assert [entry.call_id for entry in runtime.request.input if entry.role == "tool"] == ["c1", "c2"]


def test_a_steer_waits_for_the_decisions():
    runtime, steps = driven(*TWO, STEER)
    assert awaited(steps[-1]) == [("Approval", "c1"), ("Approval", "c2")]
    runtime.run((Deny(call_id="c1"), Deny(call_id="c2")))
    assert runtime.request.input[-1].text == "two"


def test_a_steer_takes_the_place_of_the_decisions_where_that_is_declared():
    runtime, steps = driven(*TWO, STEER, steerWhilePaused="instead")
    assert awaited(steps[-1]) == [("Model", "r2")]
    assert [name for name, _ in results(runtime)] == ["c1", "c2"]


def test_a_second_and_a_late_answer_are_not_awaited():
    runtime, steps = driven(*TWO, Deny(call_id="c1"), Approve(call_id="c1"), Abort(), Approve(call_id="c2"))
    assert [step.refused and step.refused.why for step in steps[-3:]] == ["not-awaited", None, "not-awaited"]
    assert runtime.tool is None


def test_an_approved_call_without_usable_arguments_fails_at_once():
    runtime, steps = driven(FIRST, call("c1", arguments='{"path": '), CALLED, Approve(call_id="c1"))
    assert results(runtime) == [("c1", "the arguments are no JSON object")]
    assert awaited(steps[-1]) == [("Model", "r2")]


def test_a_pause_ends_no_run():
    runtime, _ = driven(FIRST, call("c1"), CALLED, Approve(call_id="c1"), ToolReturn(call_id="c1"), TEXT, END)
    kinds = [event["type"] for event in runtime.log]
    assert (kinds.count("run-stop"), kinds.index("run-pause") < kinds.index("run-resume")) == (1, True)


# ---- a restart ----


@pytest.fixture
def kept(tmp_path):
    """A runtime that waits for decisions about two calls, after it was killed and started again."""
    options = ResetOptions(tools=TOOLS, state_dir=str(tmp_path))
    runtime = InteractionRuntime()
    runtime.reset(options)
    runtime.run(TWO)
    runtime.kill()
    return runtime, runtime.reset(options)


def test_a_pause_outlives_a_restart_silently(kept):
    _, step = kept
    assert (awaited(step), step.events) == ([("Approval", "c1"), ("Approval", "c2")], ())


def test_what_is_approved_after_a_restart_is_executed(kept):
    runtime, _ = kept
    assert awaited(runtime.apply(Approve(call_id="c1"))) == [("Tool", "c1"), ("Approval", "c2")]


def test_a_second_restart_goes_on_from_what_the_first_heard(kept, tmp_path):
    runtime, _ = kept
    runtime.apply(Deny(call_id="c1"))
    step = runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))
    assert awaited(step) == [("Approval", "c2")]


def test_a_write_that_fails_is_tried_again(kept, tmp_path):
    runtime, _ = kept
    runtime.apply(StoreFail(times=2))
    runtime.apply(Deny(call_id="c1"))
    assert awaited(runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(tmp_path)))) == [("Approval", "c2")]


def test_writes_that_fail_again_and_again_are_an_error_that_says_why(kept):
    runtime, _ = kept
    runtime.apply(StoreFail(times=9))
    with pytest.raises(TargetError, match=r"stimuli\.jsonl cannot be written: No space left on device"):
        runtime.apply(Deny(call_id="c1"))


def test_without_a_folder_no_write_can_fail():
    _, [step] = driven(StoreFail(times=1))
    assert step.refused.why == "unsupported"


def test_kept_bytes_that_are_no_stimulus_are_an_error_that_names_the_file(tmp_path):
    (tmp_path / "stimuli.jsonl").write_bytes(b'{"kind": "nonsense"}\n')
    with pytest.raises(TargetError, match=r"stimuli\.jsonl has a line that is no stimulus"):
        InteractionRuntime().reset(ResetOptions(state_dir=str(tmp_path)))
