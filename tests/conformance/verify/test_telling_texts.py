"""Texts of a counterexample tell its events apart, where the failure does not depend on them."""

from typing import Any

import pytest
from inprocess import InProcess
from projectors.plain import Plain
from projectors.wrong import LastInFirstOut

from turncheck.conformance.laws.law import Finding
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.outcome.failures import Failure, Failures
from turncheck.conformance.verify.outcome.results import Counterexample
from turncheck.conformance.verify.subjects.subject import Observation
from turncheck.conformance.verify.subjects.telling_texts import told_apart
from turncheck.conformance.verify.verification import verify_projector


class LosesWhatWasSaidBefore(Plain):  # type: ignore[misc]
    """A follow-up whose text waits already is taken for a repetition, and lost."""

    def user_message(self, event):
        self.said = {**getattr(self, "said", {}), self.at: event.text}
        super().user_message(event)

    def enqueue(self):
        if self.said[self.at] not in [self.said[at] for at in self.queue]:
            super().enqueue()


def texts(projector):
    """The messages of the smallest log that breaks a law."""
    target = InProcess(projector)
    _, found = verify_projector(target, selected(["projector"]), examples=60)
    first = next(iter(found.values()))
    assert isinstance(first, Counterexample)
    events = first.input.events
    return [event["text"] for event in events if event["type"] == "user-message"]


def test_messages_that_are_mixed_up_read_differently():
    said = texts("projectors.wrong:" + LastInFirstOut.__name__)
    assert len(said) == len({*said}) == 3


def test_messages_whose_equal_texts_are_the_fault_read_the_same():
    *_, one, other = texts(f"{__name__}:LosesWhatWasSaidBefore")
    assert one == other


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([("user-message", "red")], ["red"]),
        ([("user-message", "red"), ("agent-output", "red"), ("user-message", "red")], ["red", "blue", "green"]),
        ([("user-message", "x"), ("user-message", "red"), ("user-message", "x")], ["x", "red", "blue"]),
        ([("user-message", "")] * 15, ["", "red", "blue", "green", "yellow", "black", "white", "brown", "orange"]),
    ],
)
def test_only_texts_that_stand_before_are_others(events, expected):
    told = told_apart([{"type": kind, "text": text} for kind, text in events])
    assert [event["text"] for event in told][: len(expected)] == expected
    assert len({event["text"] for event in told}) == len(events)


@pytest.mark.parametrize(
    "event",
    [
        {"type": "user-message", "text": "red", "content": [{"type": "text", "text": "red"}]},
        {"type": "user-message", "text": 5},
        {"type": "run-stop", "text": "red"},
        {"type": [], "text": "red"},
        "rubbish",
    ],
)
def test_what_has_no_text_of_its_own_stays(event):
    assert told_apart([event, event]) == [event, event]


def test_results_of_tools_are_texts_too():
    result = {"type": "tool-result", "callId": "c", "output": "red", "isError": False}
    assert [event["output"] for event in told_apart([result, result])] == ["red", "blue"]


def test_failures_whose_cases_differ_in_their_texts_have_one_cause():
    failures: Failures[Any] = Failures(lambda _: (), 3, told_apart)
    old, new = ([{"type": "user-message", "text": text} for text in pair] for pair in (("red", "red"), ("red", "blue")))
    failures.add(Failure("a", Observation(new), Finding(0, "lost"), (2,)))
    known = Failure("b", Observation(old), Finding(0, "something else"), (2,))
    (cause,) = failures.causes(known={"entry": [known]})
    assert cause.known == ("entry",)
