"""The protocol is read strictly, and what is wrong with an answer is said so that its author can act."""

import json

import msgspec
import pytest

from turncheck.adapters.protocol import messages as protocol
from turncheck.adapters.protocol.errors import (
    EXCERPT,
    ImplementationError,
    RubbishError,
    StartError,
    UnsupportedError,
    excerpt,
)
from turncheck.adapters.protocol.messages import Feed, Hello, Profile, Project, Reset, Stop, encode
from turncheck.adapters.protocol.projector import read_projection
from turncheck.model.core.cycles import (
    AiBlock,
    Anomaly,
    Call,
    CycleViews,
    Group,
    Projection,
    RootStep,
    Round,
    SteerStep,
    Step,
)
from turncheck.model.core.policies import Policies

IMPLEMENTATION = {"name": "n", "version": "1", "language": "js"}
PROFILE = {"roles": ["projector"], "capabilities": ["steps", "rounds"]}
HELLO = {"ok": True, "protocol": 1, "implementation": IMPLEMENTATION, "profile": PROFILE}
BOTH = Profile(("projector",), ("steps", "rounds"))
STEPS = [
    {"type": "non-steer", "at": 0},
    {"type": "ai-block", "text": None, "groups": [{"type": "bash-group", "calls": [{"at": 1, "result": None}]}]},
    {"type": "steer", "at": 2},
]
ROUNDS = [{"inputs": [0], "outputs": [1]}, {"inputs": [2], "outputs": []}]
CYCLE = {"root": 0, "kind": "direct", "stop": 3, "reason": "error", "steps": STEPS, "rounds": ROUNDS}
ANOMALIES = [{"kind": "unanswered-call", "at": 1}]
PROJECTION = {"cycles": [CYCLE], "queued": [], "dropped": [], "anomalies": ANOMALIES}


def line(value):
    return json.dumps(value).encode()


def raw(value):
    return msgspec.Raw(line(value))


@pytest.mark.parametrize(
    ("message", "wire"),
    [
        (Hello(1), {"cmd": "hello", "protocol": 1}),
        (Reset(1), {"cmd": "reset", "seq": 1}),
        (Feed(2, raw([None])), {"cmd": "feed", "seq": 2, "events": [None]}),
        (Feed(3, raw([None]), 7), {"cmd": "feed", "seq": 3, "from": 7, "events": [None]}),
        (Project(3, raw([])), {"cmd": "project", "seq": 3, "events": []}),
        (Stop(), {"cmd": "stop"}),
    ],
)
def test_a_message_is_this_on_the_wire(message, wire):
    assert json.loads(encode(message)) == wire


def test_policies_travel_whole_and_in_camel_case():
    wire = json.loads(encode(Project(1, raw([]), Policies(queue_after_error="hold"))))
    assert wire["policies"] == {
        "whileActive": "followUp",
        "queueAfterInterrupted": "promote",
        "queueAfterError": "hold",
    }


def test_every_message_reads_back_as_it_was():
    message = Project(3, raw([{"type": "x"}]), Policies("steer"))
    assert protocol.read_message(encode(message)) == message


def test_a_hello_tells_who_is_there():
    hello = protocol.read_hello(
        line({**HELLO, "implementation": {**IMPLEMENTATION, "homepage": "https://example.org"}})
    )
    assert (hello.implementation.homepage, hello.profile) == ("https://example.org", BOTH)


def test_unknown_fields_are_tolerated():
    assert protocol.read_hello(line({**HELLO, "mood": "good"})).profile == BOTH


@pytest.mark.parametrize(
    ("changed", "error", "why"),
    [
        ({"protocol": 2}, StartError, "speaks protocol 2, not 1"),
        ({"protocol": None}, StartError, "speaks protocol None, not 1"),
        (
            {"ok": False, "error": {"kind": "failed", "message": "no database"}},
            StartError,
            "refuses hello: no database",
        ),
        ({"ok": False}, StartError, "does not say why"),
        ({"ok": 1}, RubbishError, r"Expected `bool`, got `int` - at `\$.ok`"),
        ({"implementation": {"name": "n"}}, RubbishError, "missing required field `version`"),
        ({"profile": {"roles": ["projector"]}}, RubbishError, "missing required field `capabilities`"),
        ({"profile": {**PROFILE, "roles": ["judge"]}}, RubbishError, "Invalid enum value 'judge'"),
        ({"profile": {**PROFILE, "roles": []}}, StartError, "neither a projector nor a runtime"),
        ({"profile": {**PROFILE, "policies": {"whileActive": "x"}}}, RubbishError, "Invalid enum value 'x'"),
    ],
)
def test_a_wrong_hello_is_refused(changed, error, why):
    with pytest.raises(error, match=why):
        protocol.read_hello(line({**HELLO, **changed}))


def test_policies_of_a_runtime_are_no_matter_of_the_projection():
    profile = Profile(("projector",), (), policies={"busy": "reject", "queueAfterError": "drop"})
    assert profile.projection_policies() == Policies(queue_after_error="drop")


def test_text_on_stdout_is_named_and_sent_to_stderr():
    with pytest.raises(RubbishError, match="print to stderr") as caught:
        protocol.read_answer(b"DEBUG: projecting", 1)
    assert caught.value.came == "DEBUG: projecting"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ({"seq": 3, "ok": True}, "wrong seq: 3 came where 4 was due .an answer that was already given"),
        ({"seq": 5, "ok": True}, "wrong seq: 5 came where 4 was due .an answer to nothing sent"),
        ({"ok": True}, "missing required field `seq`"),
        ({"seq": 4}, "missing required field `ok`"),
        ({"seq": "4", "ok": True}, "Expected `int`, got `str`"),
        ({"seq": 4, "ok": False}, "no error that says why"),
        ({"seq": 4, "ok": False, "error": {"kind": "angry", "message": "x"}}, "Invalid enum value 'angry'"),
        ([4], "Expected `object`, got `array`"),
    ],
)
def test_a_wrong_answer_is_rubbish(answer, why):
    with pytest.raises(RubbishError, match=why):
        protocol.read_answer(line(answer), 4)


@pytest.mark.parametrize("place", ["known", "unknown"])
@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b'"\xff\xfe"', "not JSON"),
        (b'"\xed\xa0\x80"', "not JSON"),
        (rb'"\ud800"', "half of a surrogate pair"),
        (rb'"\udc00\ud800"', "half of a surrogate pair"),
        (rb'"\\\ud800"', "half of a surrogate pair"),
        (b"NaN", "NaN is no number of JSON"),
        (b"-Infinity", "-Infinity is no number of JSON"),
        (b"-1e999", "the number -1e999 is too large"),
        (b"18446744073709551616", "more than 64 bits"),
        (b"-9223372036854775809", "more than 64 bits"),
        (b"9" * 5000, "more than 64 bits"),
        (b'{"a": 1, "b": 2, "a": 1}', "the name 'a' is there twice in one object"),
        (b"[" * 199 + b"]" * 199, "more than 200 levels deep"),
        (b"[" * 200_000 + b"]" * 200_000, "more than 200 levels deep"),
    ],
)
def test_what_is_read_in_several_ways_is_refused_in_fields_known_and_unknown(place, value, why):
    answer = b'{"seq": 4, "ok": true, "%s": [%s]}' % (b"events" if place == "known" else b"mood", value)
    with pytest.raises(RubbishError, match=why):
        protocol.read_answer(answer, 4)


@pytest.mark.parametrize(
    "value",
    [
        b'"\xc3\xa9\xf0\x9f\x98\x80"',
        rb'"\ud83d\ude00 \\ud800 \u00e9"',
        b"[" * 198 + b"]" * 198,
        b'"%s"' % (b"[" * 1000),
        b"18446744073709551615",
        b"-9223372036854775808",
        b"-1.5e308",
        b'[{"a": 1}, {"a": 1}]',
    ],
)
def test_what_everybody_reads_alike_is_an_answer(value):
    answer = protocol.read_answer(b'{"seq": 4, "ok": true, "events": [%s], "mood": %s}\r' % (value, value), 4)
    assert answer.events == (json.loads(value),)


@pytest.mark.parametrize("value", [b"{}", b'"x"'])
def test_an_answer_of_too_many_values_is_refused(value):
    answer = b'{"seq": 4, "ok": true, "events": [%s]}' % b",".join([value] * 1_000_000)
    with pytest.raises(RubbishError, match=r"more than 1,000,000 values in one answer") as caught:
        protocol.read_answer(answer, 4)
    assert caught.value.see == "docs/protocol.md#answers"


def test_an_answer_of_as_many_values_as_allowed_is_read():
    events = b",".join([b"[ ]"] * 999_996)  # and the answer, its seq, its ok and its events
    assert len(protocol.read_answer(b'{"seq": 4, "ok": true, "events": [%s]}' % events, 4).events or ()) == 999_996


def test_punctuation_in_a_text_is_no_value():
    text = "[{," * 1_000_000
    assert protocol.read_answer(line({"seq": 4, "ok": True, "events": [text]}), 4).events == (text,)


def test_failed_is_the_implementations():
    with pytest.raises(ImplementationError, match="boom") as caught:
        protocol.read_answer(
            line({"seq": 4, "ok": False, "error": {"kind": "failed", "message": "boom", "detail": "d"}}), 4
        )
    assert caught.value.detail == "d"


def test_unsupported_is_told_apart():
    with pytest.raises(UnsupportedError, match="no feed"):
        protocol.read_answer(line({"seq": 4, "ok": False, "error": {"kind": "unsupported", "message": "no feed"}}), 4)


def test_a_projection_becomes_the_models_own():
    steps: list[Step] = [RootStep(0), AiBlock(None, [Group("bash-group", [Call(1, None)])]), SteerStep(2)]
    cycle = CycleViews(0, "direct", 3, "error", steps, [Round([0], [1]), Round([2], [])])
    expected = Projection((cycle,), (), (), (Anomaly("unanswered-call", 1),))
    assert read_projection(raw(PROJECTION), BOTH) == expected


@pytest.mark.parametrize(
    ("changed", "where"),
    [
        ({"queued": None}, r"Expected `array`, got `null` - at `\$.queued`"),
        ({"anomalies": [{"kind": "odd", "at": 1}]}, "Invalid enum value 'odd'"),
        ({"cycles": [{**CYCLE, "root": "0"}]}, r"at `\$.cycles\[0\].root`"),
        ({"cycles": [{**CYCLE, "steps": [{"type": "steer"}]}]}, "missing required field `at`"),
        ({"cycles": [{**CYCLE, "steps": [{"type": "step", "at": 1}]}]}, "Invalid value 'step'"),
        ({"cycles": [{key: CYCLE[key] for key in CYCLE if key != "stop"}]}, "missing required field `stop`"),
        ({"cycles": 5}, "Expected `array`, got `int`"),
    ],
)
def test_a_projection_that_is_none_is_rubbish(changed, where):
    with pytest.raises(RubbishError, match=where):
        read_projection(raw({**PROJECTION, **changed}), BOTH)


def test_a_declared_view_that_is_missing_is_a_missing_capability():
    cycle = {key: CYCLE[key] for key in CYCLE if key != "rounds"}
    with pytest.raises(UnsupportedError, match="lacks `rounds`, which the profile declares"):
        read_projection(raw({**PROJECTION, "cycles": [cycle]}), BOTH)


@pytest.mark.parametrize("sent", ["left out", "anything", []])
def test_a_view_that_is_not_declared_is_empty_whatever_was_sent(sent):
    cycle = {key: CYCLE[key] for key in CYCLE if key != "rounds"} if sent == "left out" else {**CYCLE, "rounds": sent}
    projection = read_projection(raw({**PROJECTION, "cycles": [cycle]}), Profile(("projector",), ("steps",)))
    assert (len(projection.cycles[0].steps), projection.cycles[0].rounds) == (3, [])


@pytest.mark.parametrize("projection", [None, [], {"cycles": None}, {"cycles": [None]}])
def test_rubbish_stays_rubbish_where_a_view_is_not_declared(projection):
    with pytest.raises(RubbishError):
        read_projection(raw(projection), Profile(("projector",), ("steps",)))


def test_an_answer_without_projection_is_rubbish():
    with pytest.raises(RubbishError, match="no projection"):
        read_projection(msgspec.UNSET, BOTH)


def test_a_long_message_is_cut_and_its_length_told():
    assert excerpt("x" * 1000) == "x" * EXCERPT + "… (1,000 characters)"


def test_an_error_teaches():
    error = RubbishError("wrong seq", came=b'{"seq": 5}', stderr=("warning", "bye"))
    error.while_asking(b'{"cmd":"feed","seq":4}\n', '{"seq": 4, "ok": true}', "docs/protocol.md#feed")
    assert str(error).splitlines() == [
        "wrong seq",
        '  sent: {"cmd":"feed","seq":4}',
        '  expected: {"seq": 4, "ok": true}',
        '  came: {"seq": 5}',
        "  stderr: ",
        "    warning",
        "    bye",
        "  see: docs/protocol.md#feed, in turncheck's source",
    ]


def test_an_answer_with_a_lone_surrogate_is_json_and_refused_as_what_it_is():
    line = rb'{"seq": 1, "ok": true, "events": ["\ud800"], "awaiting": []}'
    with pytest.raises(RubbishError) as caught:
        protocol.read_answer(line, 1)
    assert "half of a surrogate pair" in caught.value.problem
    assert "stdout is for answers alone" not in caught.value.problem


@pytest.mark.parametrize(("kind", "error"), [("failed", ImplementationError), ("unsupported", UnsupportedError)])
def test_an_error_without_a_message_says_so(kind, error):
    with pytest.raises(error, match="it does not say why"):
        protocol.read_answer(line({"seq": 1, "ok": False, "error": {"kind": kind, "message": ""}}), 1)


@pytest.mark.parametrize(
    ("policies", "why"),
    [
        ({"busy": "maybe"}, "the policy busy has an unknown value"),
        ({"busy": ["reject"]}, "the policy busy has an unknown value"),
        ({"whileActive": None}, "the policy whileActive has an unknown value"),
        ({"retries": "two"}, "the policy retries is no number"),
        ({"maxRounds": None}, "the policy maxRounds is no number"),
        ({"steerHandover": "both"}, "the policy steerHandover has an unknown value"),
        ({"system": ""}, "the policy system is no text"),
        ({"system": []}, "the policy system is no text"),
        ({"system": ["Be brief.", 5]}, "the policy system is no text"),
        ({"system": None}, "the policy system is no text"),
    ],
)
def test_a_policy_that_cannot_be_is_named(policies, why):
    with pytest.raises(RubbishError, match=why):
        protocol.check_policies(policies)
