"""Ends that are logged several times: which are one, and which are two."""

import pytest

from turncheck.conformance.observe.told_ends import ToldEnds, told_by_event

ASKED = {"type": "model-request"}
NATIVE = {"type": "native"}


def stop(reason, via=None, source=None):
    given = {"type": "run-stop", "reason": reason, "via": via, "source": source}
    return {name: value for name, value in given.items() if value is not None}


def read(*events):
    ends = ToldEnds()
    return [ends.once(event) for event in events]


def stops(*events):
    return sum(event["type"] == "run-stop" for event in read(*events))


@pytest.mark.parametrize(
    "ends",
    [
        (stop("error"), stop("error", "exception")),
        (stop("error", "exception"), stop("error")),
        (stop("interrupted"), stop("interrupted", "exception"), stop("completed", "close")),
        (stop("completed"), NATIVE, stop("error", "close")),
        (stop("error", "exception"), stop("completed", "close")),
    ],
)
def test_one_end_by_several_channels_is_one(ends):
    assert stops(*ends) == 1


@pytest.mark.parametrize(
    "ends",
    [
        (stop("completed"), stop("completed")),
        (stop("completed"), stop("error", "exception")),
        (stop("error", "exception"), stop("error", "exception")),
        (stop("completed", "close"), stop("completed")),
        (stop("error"), stop("error", "exception"), stop("error")),
        (stop("error"), ASKED, stop("error", "exception")),
        (stop("error"), stop("error", "rumour"), stop("error", "rumour")),
    ],
)
def test_what_no_pair_makes_one_is_two(ends):
    assert stops(*ends) == 2


def test_an_end_that_is_told_again_is_kept_as_an_observation():
    again = stop("error", "exception")
    assert read(stop("error"), again)[1] == {"type": "native", "end": again}


def test_what_is_no_object_is_left_alone():
    assert read(None, 5, [stop("error")]) == [None, 5, [stop("error")]]


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ((stop("error"),), True),
        ((stop("error", source="adapter"),), False),
        ((stop("error", "exception"),), False),
        ((stop("error", "exception"), NATIVE, stop("error")), True),
        ((stop("error", "exception"), ASKED, stop("error")), False),
    ],
)
def test_an_event_tells_an_end_itself_or_again(events, told):
    assert told_by_event(read(*events), 0) is told
