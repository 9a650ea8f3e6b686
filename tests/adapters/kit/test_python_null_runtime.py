"""The null runtime in Python: a small agent on the kit that keeps every rule."""

from pathlib import Path

import pytest
from python_client import (
    ABORT,
    Client,
    events,
    fails,
    stops,
    together,
    user,
)

NULL = Path(__file__).with_name("null_runtime.py")
TOOLS = [{"name": "read"}, {"name": "bash"}]
OPTIONS: list[dict[str, object]] = [{}, {"deafTools": True}, {"deafModel": True}, {"observer": "slow"}]


def steps_of(*word, **options):
    with Client.of(NULL) as client:
        client.reset(tools=TOOLS, **options)
        return client.run(*word)


def log_of(*word, **options):
    return events(steps_of(*word, **options))


def texts_shown(step):
    return [shown["text"] for shown in step["awaiting"][0]["input"] if "text" in shown]


def test_a_retryable_failure_is_retried_twice():
    assert log_of(user("one"), *[fails("retryable")] * 3)[1:] == [
        "request r1",
        "request r2",
        "request r3",
        "stop error",
    ]


def test_a_retry_waits_longer_each_time():
    steps = steps_of(
        user("one"), fails("retryable"), {"kind": "advance", "seconds": 1}, fails("retryable"), clock="manual"
    )
    assert [steps[at]["awaiting"] for at in (1, 3)] == [[{"kind": "timer", "in": 1}], [{"kind": "timer", "in": 2}]]


@pytest.mark.parametrize(("policy", "expected"), [("hold", []), ("drop", []), ("promote", ["request r2"])])
def test_the_queue_after_an_abort_is_what_the_policy_says(policy, expected):
    log = log_of(user("one"), user("two"), ABORT, policies={"queueAfterInterrupted": policy})
    assert log[log.index("stop interrupted") + 1 :] == expected


def test_a_held_queue_goes_on_after_the_next_run():
    word = [user("one"), user("two"), ABORT, user("three"), stops()]
    steps = steps_of(*word, policies={"queueAfterInterrupted": "hold"})
    assert texts_shown(steps[-1]) == ["one", "three", "two"]


@pytest.mark.parametrize(
    ("word", "expected"), [((stops(), ABORT), "stop completed"), ((ABORT, stops()), "stop interrupted")]
)
def test_an_abort_together_with_the_end_of_the_answer_ends_the_run_once(word, expected):
    assert log_of(user("one"), together(*word))[2:] == [expected]
