"""The schemas: in step with the structures, and the messages on the wire are valid."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from turncheck.adapters.protocol import messages as protocol
from turncheck.adapters.references.driven import implementation
from turncheck.adapters.targets.reference_projector import PROFILE
from turncheck.conformance.generation.logs import cases
from turncheck.conformance.schemas.json_schemas import FOLDER, schemas, text
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.events import Malformed, UnknownType
from turncheck.model.core.policies import Policies
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    Refusal,
    ResetOptions,
    Step,
    TimerAwaited,
    Together,
    ToolCall,
    User,
)

TESTS = Path(__file__).parents[2]
NAMES = sorted(schemas())
EXAMPLES = [json.loads(line) for line in (TESTS / "data" / "examples.jsonl").read_text("utf-8").splitlines()]
VALIDATORS = {name: Draft202012Validator(schema) for name, schema in schemas().items()}

thorough = settings(max_examples=200, deadline=None, derandomize=True, database=None)


def valid(name, value):
    return VALIDATORS[name].is_valid(value)


def sent(message):
    return json.loads(protocol.encode(message))


# ---- the files ----


def test_every_schema_is_a_file_and_every_file_a_schema():
    assert sorted(path.name for path in FOLDER.glob("*.json")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_in_step_with_its_structure(name):
    assert (FOLDER / name).read_text() == text(schemas()[name])


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_is_one_of_its_dialect(name):
    schema = schemas()[name]
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == Draft202012Validator.META_SCHEMA["$id"]


@pytest.mark.parametrize("name", NAMES)
def test_a_schema_has_a_title(name):
    assert schemas()[name]["title"]


# ---- events ----

VALUES: st.SearchStrategy[object] = st.sampled_from(
    (None, "x", "", 5, 0.5, True, [], ["x"], {}, "assistant", "reasoning", "tool-call", "steer", "followUp", "error")
)
FIELDS = (
    "kind", "text", "content", "id", "delivery", "callId", "tool", "responseId", "isError", "synthetic", "reason",
    "detail", "sessionId", "source", "seq", "arguments", "output", "color",
)  # fmt: skip
TYPES = (
    "user-message",
    "agent-output",
    "tool-result",
    "run-stop",
    "model-request",
    "fault",
    "native",
    "heartbeat",
    5,
    None,
)
EVENTS = st.builds(
    lambda name, fields: {"type": name, **fields},
    st.sampled_from(TYPES),
    st.dictionaries(st.sampled_from(FIELDS), VALUES, max_size=5),
)


def agree(value):
    return valid("log-event.json", value) is not isinstance(judge(value), Malformed | UnknownType)


@given(EVENTS)
@example({})
@example({"type": "user-message", "text": "x", "content": []})
@example({"type": "agent-output", "kind": "tool-call", "callId": None, "tool": "x"})
@thorough
def test_an_event_is_valid_exactly_when_the_model_takes_it(event):
    assert agree(event)


@given(cases())
@settings(thorough, max_examples=40)
def test_a_generated_line_is_valid_exactly_when_the_model_takes_it(case):
    assert [event for event in case.log if not agree(event)] == []


@pytest.mark.parametrize("value", [event for found in EXAMPLES for event in found["log"]])
def test_a_line_of_an_example_is_valid_exactly_when_the_model_takes_it(value):
    assert agree(value)


# ---- output ----


@pytest.mark.parametrize("found", EXAMPLES, ids=[found["name"] for found in EXAMPLES])
def test_the_projection_of_an_example_is_valid(found):
    VALIDATORS["projection.json"].validate({"sessionId": None, **found["projection"]})


def test_a_projection_that_lacks_a_field_is_not_valid():
    assert not valid("projection.json", {"sessionId": None, "cycles": [], "queued": [], "dropped": []})


def test_what_project_prints_is_valid(invoke, tmp_path):
    log = TESTS / "recordings" / "logs" / "pi-0.73.1" / "steer.jsonl"
    VALIDATORS["projection.json"].validate(json.loads(invoke(tmp_path, "project", log, "--json").out))


@pytest.mark.parametrize("log", [b"", b"rubbish", b'{"type":"user-message","text":"x"}', b'{"type":"native"}'])
def test_what_check_prints_is_valid(invoke, tmp_path, log):
    VALIDATORS["check.json"].validate(json.loads(invoke(tmp_path, "check", "-", "--json", stdin=log).out))


def test_what_check_prints_of_every_recording_is_valid(invoke, tmp_path):
    printed = invoke(tmp_path, "check", TESTS / "recordings" / "logs", "--json").out.splitlines()
    assert [line for line in printed if not valid("check.json", json.loads(line))] == []


# What verify prints and writes is held to its schemas in test_verify_command.py.

# ---- the protocol ----

EVENT = msgspec.Raw(b'[{"type":"native"},null]')
NOTHING = msgspec.Raw(msgspec.json.encode(Projection((), (), (), ())))


@pytest.mark.parametrize(
    "message",
    [
        protocol.Hello(1),
        protocol.Reset(1),
        protocol.Reset(1, ResetOptions(clock="manual", limits={"maxRounds": 2})),
        protocol.Apply(1, User(id="u1", text="one", delivery="steer")),
        protocol.Apply(1, Together(stimuli=(Abort(), ModelFail(failure="stream")))),
        protocol.Run(1, (ModelOutput(item=ToolCall(call_id="c", tool="read", arguments="{")), Advance(seconds=1))),
        protocol.Project(1, EVENT),
        protocol.Project(1, EVENT, Policies("steer", "hold", "drop")),
        protocol.Feed(1, EVENT),
        protocol.Stop(),
    ],
)
def test_a_message_is_valid(message):
    VALIDATORS["protocol-message.json"].validate(sent(message))


@pytest.mark.parametrize(
    "message",
    [{}, {"cmd": "halt"}, {"cmd": "hello"}, {"cmd": "project", "seq": 1}, {"cmd": "feed", "seq": "1", "events": []}],
)
def test_what_is_no_message_is_not_valid(message):
    assert not valid("protocol-message.json", message)


@pytest.mark.parametrize(
    "answer",
    [
        protocol.HelloAnswer(ok=True, protocol=1, implementation=implementation(), profile=PROFILE),
        protocol.Answer(1, ok=True),
        protocol.Answer(1, ok=True, projection=NOTHING),
        protocol.Answer(1, ok=True, input_changed=False),
        protocol.Answer(1, ok=True, events=({"type": "native"},), awaiting=(ModelAwaited(request_id="r1"),)),
        protocol.Answer(1, ok=True, events=(), awaiting=(TimerAwaited(due=2.0),), refused=Refusal("rejected", "busy")),
        protocol.Answer(1, ok=True, steps=(Step(), Step(unsettled=True))),
        protocol.Answer(1, ok=False, error=protocol.ErrorBody("failed", "why", "where")),
    ],
)
def test_an_answer_is_valid(answer):
    VALIDATORS["protocol-answer.json"].validate(sent(answer))


@pytest.mark.parametrize("answer", [{}, {"ok": True}, {"seq": 1}, {"seq": 1, "ok": False, "error": {"kind": "other"}}])
def test_what_is_no_answer_is_not_valid(answer):
    assert not valid("protocol-answer.json", answer)
