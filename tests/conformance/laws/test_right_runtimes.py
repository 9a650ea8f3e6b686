"""No law alarms at a runtime that conforms, whatever it chooses of what the sources leave open."""

import pytest
from runtimes.held import FEW, HISTORIES, HOSTED, LIFECYCLE, MORE, failing_why, laws_that, verified
from runtimes.lifecycle import hosting
from runtimes.right import Right
from runtimes.target import CAPABILITIES

RIGHT = {
    "serial": {},
    "parallel": {"tools": "parallel"},
    "rejecting": {"busy": "reject"},
    "steering": {"busy": "steer"},
    "after a call": {"steerLands": "after-call"},
    "after a call, parallel": {"steerLands": "after-call", "tools": "parallel"},
    "released": {"abortEnds": "when-released"},
    "released, parallel": {"abortEnds": "when-released", "tools": "parallel"},
    "retrying once": {"retries": 1},
    "retrying three times": {"retries": 3},
    "retrying, as the machine does": {"retries": 2, "machine": "interaction"},
    "bounded": {"maxRounds": 3},
    "holding": {"queueAfterInterrupted": "hold", "queueAfterError": "hold"},
    "dropping": {"queueAfterInterrupted": "drop", "queueAfterError": "drop"},
    "joining": {"queueAfterInterrupted": "join", "queueAfterError": "join"},
    "joining, one entry": {"queueAfterInterrupted": "join", "queueAfterError": "hold", "adjacent": "merged"},
    "dropping and joining": {"queueAfterInterrupted": "drop", "queueAfterError": "join", "abortEnds": "when-released"},
    "dropping and promoting": {"queueAfterError": "drop"},
    "dropping and holding": {"queueAfterInterrupted": "drop", "queueAfterError": "hold", "abortEnds": "when-released"},
    "repeated ids kept": {"repeated": "kept"},
    "repeated ids kept, parallel": {"repeated": "kept", "tools": "parallel"},
    "without model input": {"without": ("model-input",)},
    "without tools": {"without": ("tools", "tool-failure", "raw-arguments", "call-ids", "deaf")},
}
HANDED_OVER = {
    "one steer": {"steerHandover": "one"},
    "one steer, after a call": {"steerHandover": "one", "steerLands": "after-call", "unread": "later"},
    "all follow-ups": {"followUpHandover": "all"},
    "all follow-ups, steering": {"followUpHandover": "all", "busy": "steer", "queueAfterInterrupted": "hold"},
    "one steer, all follow-ups": {"steerHandover": "one", "followUpHandover": "all", "adjacent": "merged"},
    "one steer, all follow-ups joining": {
        "steerHandover": "one",
        "followUpHandover": "all",
        "queueAfterInterrupted": "join",
        "queueAfterError": "drop",
        "unread": "drop",
    },
}
"""How many of several messages one request may show."""
CONVERSATION = {
    "serial": {"machine": "conversation", "busy": "reject", "retries": 3},
    "steering": {"machine": "conversation", "busy": "steer", "queueAfterInterrupted": "hold"},
    "released": {"machine": "conversation", "abortEnds": "when-released", "tools": "parallel"},
}
BARE = {"rounds-bounded", "capabilities-honest", "run-boundary-equivalence"}
"""What a runtime that can do nothing but answer gives no evidence of."""


def without_pass(result):
    return {law.law for law in result.laws if law.verdict != "pass"}


def in_twos(each):
    """Join each set of policies with the next one that says nothing of the same: an alarm at either is one at both."""
    alone = {name: policies for name, policies in each.items() if not policies or "without" in policies}
    left, found = {name: policies for name, policies in each.items() if name not in alone}, dict(alone)
    while left:
        name, policies = next(iter(left.items()))
        other = next((one for one in left if not left[one].keys() & policies.keys()), None)
        found[name if other is None else f"{name}; {other}"] = policies | left.get(other, {})
        left = {one: left[one] for one in left if one not in (name, other)}
    return found


CHOICES = in_twos(RIGHT | HANDED_OVER | HISTORIES)


@pytest.mark.parametrize("policies", CHOICES.values(), ids=CHOICES)
def test_the_right_runtime_breaks_no_law_and_passes_on_evidence(policies):
    result, counterexamples = verified(Right(**policies), words=MORE if "without" in policies else FEW)
    assert counterexamples == {}
    assert failing_why(result) == {}
    assert [law.law for law in result.laws if law.verdict == "pass" and not law.evidence.observed] == []


@pytest.mark.parametrize("policies", CONVERSATION.values(), ids=CONVERSATION)
def test_a_right_conversation_passes_every_law(policies):
    result, counterexamples = verified(Right(**policies), words=FEW)
    assert counterexamples == {}
    assert without_pass(result) - {"equals-machine", "system-shown"} - HOSTED - LIFECYCLE == set()
    # where it queues, no machine does so: nothing to compare


def test_a_right_host_of_sessions_passes_every_law():
    result, counterexamples = verified(hosting.Hosting(), words=FEW)
    assert counterexamples == {}
    assert without_pass(result) == {"aborted-text-dropped", "equals-machine", "system-shown"} | LIFECYCLE


def test_who_can_do_nothing_but_answer_breaks_no_law():
    result, counterexamples = verified(Right(without=CAPABILITIES), words=FEW)
    assert counterexamples == {}
    assert laws_that(result, "inconclusive") <= BARE
