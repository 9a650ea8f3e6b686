"""The JavaScript kit speaks the protocol, and says what is wrong with a message."""

import json
from pathlib import Path

import pytest
from python_client import Client, calls, fails, returns, says, stops, tool_fails, user

FAKES = Path(__file__).parent / "js" / "fakes.mjs"


def fake(name):
    return Client("node", str(FAKES), name)


def notes(step):
    return [event["text"] for event in step["events"] if event["type"] == "native"]


def steps_of(name, *word, **options):
    with fake(name) as client:
        client.reset(**options)
        return client.run(*word)


def error_of(line, *, seq=7):
    with fake("echo") as client:
        client.reset()
        answer = client.send(line)
    assert (answer["seq"], answer["ok"]) == (seq, False)
    return answer["error"]


def test_hello_tells_who_is_there_and_the_role():
    with fake("echo") as client:
        answer = client.ask("hello", protocol=1)

    assert (answer["ok"], answer["protocol"]) == (True, 1)
    assert answer["implementation"] == {"name": "fake: echo", "version": "0", "language": "javascript"}
    assert answer["profile"]["roles"] == ["runtime"]


def test_a_request_names_its_run_in_the_log_alone():
    (step,) = steps_of("a request that names its run", user("go"))
    assert [event.get("runId") for event in step["events"]] == ["run1"]
    assert [awaited.get("runId") for awaited in step["awaiting"]] == [None]


def test_another_version_of_the_protocol_is_refused():
    with fake("echo") as client:
        answer = client.ask("hello", protocol=2)

    assert answer["error"] == {"kind": "unsupported", "message": "this adapter speaks protocol 1, not 2"}


def test_an_unknown_command_is_unsupported():
    error = error_of('{"cmd": "project", "seq": 7, "events": []}')

    assert error["kind"] == "unsupported"
    assert error["message"] == "unknown command project; a runtime knows hello, reset, apply, run, stop"


BAD_STIMULI = {
    "kind: expected user, abort, model-output, ": {"kind": "sing"},
    "text: expected a string, came nothing": {"kind": "user", "id": "u1"},
    "now: expected no such field, but sessionId, agentId; came": {"kind": "abort", "now": 1},
    "seconds: expected a number, 0 or more, came -1": {"kind": "advance", "seconds": -1},
    "item.kind: expected assistant, reasoning, tool-call, came": {"kind": "model-output", "item": {"kind": "image"}},
    "reason: expected end-turn or tool-use or length, came bored": {"kind": "model-stop", "reason": "bored"},
    "stimuli[0].kind: expected user, ": {"kind": "together", "stimuli": [{"kind": "advance", "seconds": 1}]},
}


@pytest.mark.parametrize(
    ("message", "complaint"),
    [
        ({"cmd": "run"}, "run.word: expected a list, came nothing"),
        ({"cmd": "reset", "options": {"clock": "fast"}}, "options.clock: expected auto or manual, came fast"),
        ({"cmd": "reset", "options": {"tools": [{}]}}, "options.tools[0].name: expected a string, came nothing"),
        *(({"cmd": "apply", "stimulus": bad}, f"stimulus.{complaint}") for complaint, bad in BAD_STIMULI.items()),
        *(({"cmd": "run", "word": [bad]}, f"word[0].{complaint}") for complaint, bad in BAD_STIMULI.items()),
    ],
)
def test_a_bad_message_is_answered_with_what_was_expected_and_what_came(message, complaint):
    error = error_of(json.dumps({**message, "seq": 7}))

    assert error["kind"] == "failed"
    assert complaint in error["message"]
    assert error["message"].endswith("; see docs/protocol.md")


@pytest.mark.parametrize("line", ["rubbish", "[]", "null"])
def test_what_is_no_message_is_answered_with_seq_minus_one(line):
    assert error_of(line, seq=-1)["kind"] == "failed"


def test_a_stimulus_before_the_first_reset_is_an_error():
    with fake("echo") as client:
        answer = client.apply("user", id="u1", text="go")

    assert "expected a reset before it" in answer["error"]["message"]


def test_messages_may_come_in_pieces_and_several_at_once_with_blank_lines_between():
    messages = [{"cmd": "apply", "seq": seq, "stimulus": user("é" * seq)} for seq in (2, 3)]
    text = "\n\n \n".join(json.dumps(message, ensure_ascii=False) for message in messages).encode() + b"\n"
    cut = text.index("é".encode()) + 1  # within a letter
    with fake("echo") as client:
        client.process.stdin.write(b'{"cmd": "reset", "seq": 1}\n' + text[:cut])
        client.process.stdin.flush()
        client.process.stdout.readline()
        client.process.stdin.write(text[cut:])
        client.process.stdin.flush()
        answers = [json.loads(client.process.stdout.readline()) for _ in messages]

    assert [notes(answer) for answer in answers] == [["éé"], ["ééé"]]


def test_a_message_of_a_megabyte_is_read_and_answered():
    text = "word " * 200_000

    assert notes(steps_of("echo", user(text))[0]) == [text]


def test_an_empty_word_has_no_steps():
    assert steps_of("echo") == []


def test_a_lone_surrogate_is_answered_as_the_replacement_character():
    assert notes(steps_of("surrogate", user("go"))[0]) == ["a\ufffd"]


def test_what_is_logged_is_as_it_was_at_that_moment():
    step = steps_of("snapshot", user("go"))[0]

    assert step["events"][0]["input"] == step["awaiting"][0]["input"] == [{"role": "user", "text": "then"}]


def test_a_request_without_tools_says_so_where_it_is_awaited():
    step = steps_of("without tools", user("go"))[0]

    assert step["awaiting"] == [{"kind": "model", "requestId": "r1", "input": [], "tools": False}]
    assert step["events"] == [{"type": "model-request", "requestId": "r1", "input": []}]


def test_an_event_that_the_log_does_not_know_is_the_adapters_failure():
    with fake("no event") as client:
        client.reset()
        answer = client.apply("user", id="u1", text="go")

    assert "no event of the log: expected type user-message, " in answer["error"]["message"]


def test_options_come_with_their_defaults():
    assert json.loads(notes(steps_of("options", user("go"))[0])[0]) == {
        "tools": [],
        "limits": {},
        "policies": {},
        "clock": "auto",
        "deafTools": False,
        "deafModel": False,
        "observer": None,
        "stateDir": None,
    }


@pytest.mark.parametrize(
    ("stimulus", "capability"),
    [
        ({"kind": "abort"}, "abort"),
        ({"kind": "together", "stimuli": []}, "together"),
        ({"kind": "client", "clientId": "k1", "action": "join"}, "clients"),
        ({"kind": "store-fail", "times": 1}, "store-faults"),
        (user("go", sessionId="s1"), "sessions"),
        (user("go", content=[]), "images"),
        ({"kind": "model-output", "item": {"kind": "reasoning", "text": "hm"}}, "reasoning"),
    ],
)
def test_a_stimulus_of_an_undeclared_capability_is_refused(stimulus, capability):
    refused = steps_of("echo", stimulus)[0]["refused"]

    assert refused == {"why": "unsupported", "message": f"{stimulus['kind']} needs {capability}, which is not declared"}


@pytest.mark.parametrize(
    ("options", "capability"),
    [
        ({"limits": {"maxRounds": 1}}, "limits"),
        ({"limits": {"contextWindow": 1}}, "context-limit"),
        ({"deafTools": True}, "deaf"),
        ({"stateDir": "/nowhere"}, "persistence"),
    ],
)
def test_an_option_of_an_undeclared_capability_is_refused(options, capability):
    with fake("echo") as client:
        refused = client.reset(**options)["refused"]

    assert refused == {"why": "unsupported", "message": f"the options need {capability}, which is not declared"}


def test_what_clients_are_told_stands_in_the_step_in_which_they_were_told_it():
    join = {"kind": "client", "clientId": "k1", "action": "join", "cursor": "7"}
    first, second = steps_of("attended", join, user("go"))
    assert first["clients"] == {"k1": [{"type": "snapshot", "events": [], "cursor": "7"}]}
    assert [list(one) for one in (first, second)] == [["events", "awaiting", "clients"], ["events", "awaiting"]]


@pytest.mark.parametrize(
    "stimulus", [says("hi"), calls("c1"), stops(), fails("fatal"), returns("c1"), tool_fails("c1")]
)
def test_an_answer_that_nobody_waits_for_is_refused_and_the_word_goes_on(stimulus):
    refused, echoed = steps_of("echo", stimulus, user("go"))

    assert (refused["refused"]["why"], notes(echoed)) == ("not-awaited", ["go"])


def test_a_request_yields_its_items_and_then_has_the_reason_and_the_usage():
    steps = steps_of("request", user("go"), says("one"), says("two"), {**stops("length"), "usage": {"output": 2}})

    assert [notes(step) for step in steps] == [[], ["one"], ["two"], ['r1,length,{"output":2}']]
    assert [len(step["awaiting"]) for step in steps] == [1, 1, 1, 0]


APPROVE, DENY = {"kind": "approve", "callId": "c1"}, {"kind": "deny", "callId": "c1", "message": "no"}
CLIENT_RESULT = {"kind": "client-result", "callId": "c1", "output": "here"}


@pytest.mark.parametrize("decision", [APPROVE, DENY], ids=["approve", "deny"])
def test_a_person_and_the_client_decide_about_their_own(decision):
    steps = steps_of("decisions", user("go"), CLIENT_RESULT, decision)
    assert [[entry["kind"] for entry in step["awaiting"]] for step in steps] == [
        ["approval", "client-tool"],
        ["approval"],
        [],
    ]
    assert [json.loads(event["text"]) for event in steps[-1]["events"]] == [decision, CLIENT_RESULT]


def test_a_decision_that_nobody_waits_for_is_not_awaited():
    assert steps_of("decisions", user("go"), {**APPROVE, "callId": "c2"})[1]["refused"]["why"] == "not-awaited"


def test_an_aborted_question_is_no_longer_awaited():
    step = steps_of("decision of an aborted run", user("go"), {"kind": "advance", "seconds": 2})[-1]
    assert ([event["text"] for event in step["events"]], step["awaiting"]) == (["stopped"], [])


@pytest.mark.parametrize(("fake", "stimulus"), [("summary", user("go")), ("compacts", {"kind": "compact"})])
def test_a_request_for_a_summary_says_so_in_the_log_and_where_it_is_awaited(fake, stimulus):
    step = steps_of(fake, stimulus)[0]
    assert [one["purpose"] for one in (*step["events"], *step["awaiting"])] == ["compaction", "compaction"]


def test_a_compaction_without_its_method_is_refused():
    assert steps_of("echo", {"kind": "compact"})[0]["refused"]["message"] == "the adapter has no method compact"


def test_failures_of_the_model_and_of_a_tool_are_thrown_with_their_kind_and_message():
    steps = steps_of("failures", user("go"), fails("stream"), tool_fails("c1", "no such file"))

    assert [notes(step) for step in steps] == [[], ["true,stream"], ["true,no such file"]]


def test_a_consumer_that_walks_away_awaits_the_model_no_longer():
    asked, left = steps_of("walks away", user("go"), says("hi"))

    assert (asked["awaiting"][0]["requestId"], left["awaiting"], notes(left)) == ("r1", [], ["hi"])


def test_nothing_is_asked_under_a_signal_that_is_aborted_already():
    assert steps_of("aborted before", user("go"))[0] == {
        "events": [{"type": "native", "text": "model: too late"}, {"type": "native", "text": "tool: too late"}],
        "awaiting": [],
    }
