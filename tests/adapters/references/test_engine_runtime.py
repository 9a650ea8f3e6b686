"""The engine as a runtime: it keeps every law that its profile does not skip, with evidence; and its history."""

import pytest

from turncheck.adapters.references.engine.runtime import EngineRuntime
from turncheck.adapters.references.engine.session import Message, cut, without_orphans
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.subjects.subject import missing
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import (
    Abort,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Text,
    ToolAwaited,
    ToolCall,
    ToolReturn,
    User,
)

LAWS = [law for law in selected(["runtime"]) if not missing(law, EngineRuntime.profile)]
WORDS = 100
"""Generated words: with this seed each law has found its evidence from 100 on."""
TOOLS = ResetOptions(tools=({"name": "read"},))
USER = User(id="u1", text="one")
CALL = ModelOutput(item=ToolCall(call_id="c1", tool="read", arguments={}))


@pytest.fixture(scope="module")
def result():
    with EngineRuntime() as runtime:
        return verify_runtime(runtime, LAWS, words=WORDS, hash_seed=1)[0]


@pytest.mark.parametrize("law", [law.name for law in LAWS])
def test_the_engine_keeps_every_law_with_evidence(law, result):
    (found,) = [one for one in result.laws if one.law == law]
    assert (found.verdict, found.evidence.observed > 0) == ("pass", True)


def driven(*stimuli, options=TOOLS):
    runtime = EngineRuntime()
    runtime.reset(options)
    return runtime, runtime.run(stimuli)


def test_while_a_tool_runs_no_chunk_is_read():
    _, steps = driven(USER, CALL)
    assert [type(one) for one in steps[-1].awaiting] == [ToolAwaited]


def test_after_the_result_the_same_response_goes_on():
    _, steps = driven(USER, CALL, ToolReturn(call_id="c1", output="text"))
    assert [one.request_id for one in steps[-1].awaiting] == ["r0"]


def test_a_text_streams_in_deltas_and_is_one_item():
    runtime, _ = driven(USER, ModelOutput(item=Text(text="all well")), ModelStop(reason="end-turn"))
    assert [event.data for event in runtime.wire if event.event == "text"] == ["all ", "well"]


def test_a_round_without_text_pushes_none():
    """RS-4.4."""
    runtime, _ = driven(USER, ModelStop(reason="end-turn"))
    assert [message.role for message in runtime.engine.session.messages] == ["user"]


def test_the_history_is_in_the_order_of_the_changes():
    """The message, each call with its result, the round's text; then the next round's (RS-8)."""
    text = ModelOutput(item=Text(text="I look."))
    runtime, _ = driven(USER, text, CALL, ToolReturn(call_id="c1", output="a"), ModelStop(reason="tool-use"), text)
    runtime.apply(ModelStop(reason="end-turn"))
    roles = [message.role for message in runtime.engine.session.messages]
    assert roles == ["user", "call", "result", "assistant", "assistant"]


def test_the_client_that_is_gone_sees_done_last_too():
    runtime, _ = driven(USER, CALL, Abort())
    assert [event.event for event in runtime.wire][-1] == "done"


def test_a_tool_that_is_not_there_is_not_executed():
    call = ModelOutput(item=ToolCall(call_id="c1", tool="deploy", arguments={}))
    _, steps = driven(USER, call)
    assert [type(one) for one in steps[-1].awaiting] != [ToolAwaited]


# ---- the history ----

U, A, C, R = Message("user"), Message("assistant"), Message("call", call_id="c"), Message("result", call_id="c")


@pytest.mark.parametrize(
    ("messages", "limit", "expected"),
    [
        ([U, A, U, A, U], 4, 2),
        ([U, A, U, A, U], 3, 4),
        ([U, A, U, A, U], 1, 4),
        ([U, C, R, A, U], 4, 4),
        ([A, U], 1, 1),
        ([U], 1, 0),
    ],
    ids=["just enough", "more", "at most all before the last", "between rounds", "no user first", "the first message"],
)
def test_a_history_is_cut_at_a_user_message(messages, limit, expected):
    """RS-3.1; the last message is never in the prefix (RS-D0)."""
    assert cut(messages, limit) == expected


def test_a_result_without_its_call_is_an_orphan():
    """RS-3.2."""
    assert list(without_orphans([R, U, C, R])) == [U, C, R]
