"""The null runtimes, in Python and in JavaScript: the same small agent on either kit keeps every rule."""

import random
import sys
from pathlib import Path

import pytest
from python_client import (
    ABORT,
    Client,
    calls,
    events,
    fails,
    returns,
    says,
    stops,
    thinks,
    together,
    tool_fails,
    user,
)

from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project

HERE = Path(__file__).parent
NULL = {
    "python": (sys.executable, str(HERE / "null_runtime.py")),
    "javascript": ("node", str(HERE / "js" / "null_runtime.mjs")),
}
command = NULL["python"]


@pytest.fixture(autouse=True, params=NULL)
def _null(request, monkeypatch):
    """Every fact holds of both."""
    monkeypatch.setattr(sys.modules[__name__], "command", NULL[request.param])


TOOLS = [{"name": "read"}, {"name": "bash"}]
OPTIONS: list[dict[str, object]] = [{}, {"deafTools": True}, {"deafModel": True}, {"observer": "slow"}]


def steps_of(*word, **options):
    with Client(*command) as client:
        client.reset(tools=TOOLS, **options)
        return client.run(*word)


def log_of(*word, **options):
    return events(steps_of(*word, **options))


def texts_shown(step):
    return [shown["text"] for shown in step["awaiting"][0]["input"] if "text" in shown]


def test_a_message_is_answered_and_the_run_ends():
    assert log_of(user("hi"), thinks("hm"), says("hello"), stops()) == [
        "user hi",
        "request r1",
        "reasoning hm",
        "assistant hello",
        "stop completed",
    ]


def test_a_steer_is_in_the_next_request_of_the_run():
    steps = steps_of(user("one"), says("hi"), user("two", delivery="steer"), stops())

    assert texts_shown(steps[-1]) == ["one", "hi", "two"]


def test_follow_ups_are_answered_one_a_run_in_their_order():
    word = [user("one"), user("two", delivery="followUp"), user("three"), stops(), stops(), stops()]

    assert log_of(*word)[3:] == [
        "user three",
        "stop completed",
        "request r2",
        "stop completed",
        "request r3",
        "stop completed",
    ]


def test_calls_run_side_by_side_and_the_model_gets_all_results():
    word = [user("go"), calls("c1"), calls("c2", "bash"), stops("tool-use"), tool_fails("c2", "denied"), returns("c1")]
    steps = steps_of(*word)

    assert [entry["execution"] for entry in steps[3]["awaiting"]] == ["e1", "e2"]
    assert events(steps)[-3:] == ["result c2 error", "result c1", "request r2"]


def test_an_abort_ends_the_run_at_once_and_answers_every_call():
    assert log_of(user("go"), calls("c1"), calls("c2"), stops("tool-use"), returns("c1"), ABORT)[-3:] == [
        "result c1",
        "result c2 error synthetic",
        "stop interrupted",
    ]


def test_an_aborted_tool_is_awaited_no_longer_unless_it_is_deaf():
    word = [user("go"), calls("c1"), stops("tool-use"), ABORT, returns("c1")]
    hearing, deaf = steps_of(*word), steps_of(*word, deafTools=True)

    assert (hearing[3]["awaiting"], hearing[4]["refused"]["why"]) == ([], "not-awaited")
    assert deaf[3]["awaiting"][0]["cancelled"]
    assert deaf[4] == {"events": [], "awaiting": []}


def test_a_deaf_model_stays_awaited_and_what_it_says_comes_too_late():
    steps = steps_of(user("go"), ABORT, says("late"), deafModel=True)

    assert steps[1]["awaiting"][0]["cancelled"]
    assert steps[2]["events"] == []


def test_a_call_that_cannot_run_has_an_error_for_a_result():
    word = [user("go"), calls("c1", "nope"), calls("c2", arguments="{"), stops("tool-use")]

    assert log_of(*word)[-3:] == ["result c1 error", "result c2 error", "request r2"]


def test_a_repeated_call_id_gets_another_name():
    steps = steps_of(user("go"), calls("c1"), calls("c1"), stops("tool-use"))

    names = [entry["callId"] for entry in steps[-1]["awaiting"]]
    assert (len(names), len(set(names)), names[0]) == (2, 2, "c1")


@pytest.mark.parametrize("failure", ["fatal", "stream"])
def test_a_failure_of_the_model_is_an_error_and_the_next_message_goes_on(failure):
    assert log_of(user("one"), fails(failure), user("two"))[2:] == ["stop error", "user two", "request r2"]


def test_the_bound_on_rounds_ends_the_run_after_its_calls_have_run():
    word = [user("go"), calls("c1"), stops("tool-use"), returns("c1")]

    assert log_of(*word, limits={"maxRounds": 1})[-2:] == ["result c1", "stop error"]


@pytest.mark.parametrize("observer", ["throws", "slow"])
def test_an_observer_changes_nothing(observer):
    word = [user("go"), calls("c1"), stops("tool-use"), returns("c1"), says("done"), stops()]

    assert log_of(*word, observer=observer) == log_of(*word)


def test_a_message_together_with_the_end_of_the_answer_is_not_lost():
    steps = steps_of(user("one"), together(stops(), user("two", delivery="steer")))

    assert texts_shown(steps[-1]) == ["one", "two"]


def test_an_abort_together_with_the_end_of_the_answer_ends_the_run_once():
    ends = [line for line in log_of(user("one"), together(stops(), ABORT)) if line.startswith("stop")]
    assert ends in (["stop interrupted"], ["stop completed"])


def test_sessions_are_independent():
    steps = steps_of(user("one", sessionId="a"), user("two", sessionId="b"), {**stops(), "sessionId": "b"})

    assert [(event["type"], event["sessionId"]) for event in steps[-1]["events"]] == [("run-stop", "b")]
    assert [entry["sessionId"] for entry in steps[-1]["awaiting"]] == ["a"]


def test_the_logs_of_500_random_words_have_no_anomaly_but_an_open_end():
    chance = random.Random(4)

    def stimulus(number):
        call = f"c{chance.randint(1, 3)}"
        choices = [
            *(user(f"text {number}", **more) for more in ({}, {"delivery": "steer"}, {"delivery": "followUp"})),
            *(says("hi"), thinks("hm"), calls(call), calls(call, "bash"), stops(), stops("tool-use"), stops("length")),
            *(fails("fatal"), returns(call), returns(call), tool_fails(call), ABORT),
        ]
        return chance.choice(choices)

    with Client(*command) as client:
        for number in range(500):
            client.reset(tools=TOOLS, **chance.choice(OPTIONS))
            steps = client.run(user("first"), *(stimulus(at) for at in range(chance.randint(1, 20))))
            log = [event for step in steps for event in step["events"]]
            found = project([judge(event) for event in log]).anomalies

            assert [anomaly.kind for anomaly in found if anomaly.kind != "truncated"] == [], (number, events(steps))
