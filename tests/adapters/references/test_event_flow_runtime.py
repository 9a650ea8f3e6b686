"""The event flow as a runtime: it keeps every law that its profile does not skip, and its blocks are what was said."""

import pytest

from turncheck.adapters.references.event_flow.backend import Backend
from turncheck.adapters.references.event_flow.emission import Dialect
from turncheck.adapters.references.event_flow.runtime import EventFlowRuntime
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.subjects.subject import missing
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Text, ToolCall, ToolReturn, User
from turncheck.model.machines.chat_log import Heard

LAWS = [law for law in selected(["runtime"]) if not missing(law, EventFlowRuntime.profile)]
TOOLS = ResetOptions(tools=({"name": "read"},))
STORY = (
    User(id="u1", text="one"),
    ModelOutput(item=Text(text="I look.")),
    ModelOutput(item=ToolCall(call_id="c1", tool="read", arguments={"path": "a"})),
    ModelStop(reason="tool-use", usage={"total": 1}),
    ToolReturn(call_id="c1", output="text"),
    ModelOutput(item=Text(text="all well")),
    ModelStop(reason="end-turn", usage={"total": 2}),
)


@pytest.fixture(scope="module")
def result():
    with EventFlowRuntime() as runtime:
        return verify_runtime(runtime, LAWS, words=30, hash_seed=1)[0]


@pytest.mark.parametrize("law", [law.name for law in LAWS])
def test_the_event_flow_keeps_every_law_with_evidence(law, result):
    (found,) = [one for one in result.laws if one.law == law]
    assert (found.verdict, found.evidence.observed > 0) == ("pass", True)


def told(*stimuli):
    runtime = EventFlowRuntime()
    runtime.reset(TOOLS)
    runtime.run(stimuli)
    return runtime


def test_the_blocks_are_what_the_model_said_and_did():
    blocks = told(*STORY).blocks
    assert [(block.text, block.usage, [use.result for use in block.calls]) for block in blocks] == [
        ("I look.", {"total": 1}, ["text"]),
        ("all well", {"total": 2}, []),
    ]


def test_a_request_has_blocks_of_its_own():
    again = (User(id="u2", text="two"), ModelOutput(item=Text(text="again")), ModelStop(reason="end-turn"))
    assert [block.text for block in told(*STORY, *again).blocks] == ["again"]


FIELDS = {
    "llm_request": {"phase", "iteration", "provider", "model", "request", "timestamp"},
    "delta": {"content"},
    "llm_response": {
        *("phase", "iteration", "provider", "model", "timestamp"),
        *("response", "httpHeaders", "httpStatus", "llmApiCall"),
    },
    "message_complete": {"role", "content", "tool_calls", "llmApiCalls"},
    "tool_call_start": {"id", "name"},
    "tool_call_result": {"id", "name", "content"},
}
"""Frame → its fields, beside ``type``."""


@pytest.mark.parametrize("kind", FIELDS)
def test_each_frame_has_its_fields(kind):
    """EF-2, EF-3, EF-4."""
    sent = [frame for frame in told(*STORY).backend.frames if frame["type"] == kind]
    assert [frame.keys() - {"type"} for frame in sent] == [FIELDS[kind]] * (len(sent) or 1)


def frames(dialect):
    backend = Backend(max_tool_iterations=2, dialect=dialect)
    backend.hear("chat", Heard(id="u1", text="one"))
    backend.hear("response-end")
    return backend.frames


@pytest.mark.parametrize("records", ["nested", "top-level"])
def test_a_record_bears_provider_and_model_where_its_dialect_has_them(records):
    (record,) = frames(Dialect(records))[-1]["llmApiCalls"]
    holder = record["request"] if records == "nested" else record
    assert (holder["provider"], holder["model"]) == ("openai", "gpt")


def test_a_record_bears_them_at_the_top_where_no_dialect_is_chosen():
    """EF-11."""
    (record,) = frames(Dialect())[-1]["llmApiCalls"]
    assert (record["provider"], record["model"]) == ("openai", "gpt")
