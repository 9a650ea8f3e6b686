"""Fragments of a log merge to the projection of the whole, wherever it is cut and however the merges are grouped."""

import pickle
from collections.abc import Sequence
from itertools import combinations, pairwise
from typing import Any, Final, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.model.core.decode import Batch
from turncheck.model.core.events import (
    AgentOutput,
    AgentSession,
    Event,
    Malformed,
    Native,
    RunStop,
    ToolResult,
    UnknownType,
    UserMessage,
)
from turncheck.model.core.fragments import Fragment, Revealed
from turncheck.model.core.projection import LogProjector

SETTINGS: Final = settings(max_examples=250, deadline=None, database=None, derandomize=True)
SESSIONS: Final = (None, "a", AgentSession("a", "b"))


def event_of(letter: str, session: str | None) -> Event:
    own: dict[str, Any] = {"session_id": session}
    match letter:
        case "m":
            return UserMessage(text="red", **own)
        case "s":
            return UserMessage(text="red", delivery="steer", **own)
        case "t":
            return AgentOutput(kind="assistant", text="red", **own)
        case "c" | "d":
            return AgentOutput(kind="tool-call", call_id=letter, tool="read", **own)
        case "r" | "q":
            return ToolResult(call_id={"r": "c", "q": "d"}[letter], **own)
        case "e":
            return RunStop(reason="interrupted", **own)
        case "x":
            return AgentOutput(kind="tool-call", call_id="c", **own)
        case "y":
            return UserMessage(**own)
        case "z":
            return Malformed("unreadable", session)
        case "u":
            return UnknownType("odd", session)
        case _:
            return Native(**own)


events: Final = st.one_of(
    st.lists(st.builds(event_of, st.sampled_from("mmmscreee"), st.none()), min_size=4, max_size=14),
    st.lists(st.builds(event_of, st.sampled_from("mmstcdrqeexyzun"), st.sampled_from(SESSIONS)), max_size=40),
)

WORDS: Final = [
    "mes",
    "mmmee",
    "mmmsees",
    "mtce",
    "msere",
    "smmesee",
    "rcmreqe",
    "mmmeeeee",
    "cmcrremrce",
    "mmecetrceece",
    "mmesecesececre",
]

Known = tuple[list[tuple[str | None, Any]], int, list[tuple[str | None, int]]]


def projected(log: Sequence[Event]) -> Known:
    """The anomalies, the number of cycles, and the open roots, as one pass finds them."""
    whole = LogProjector()
    progress = whole.feed(Batch(tuple(log), range(len(log))))
    ends = [(name, anomaly.at) for name, anomaly in whole.ending()]
    return progress.anomalies, len(progress.cycles), ends


def fragment(log: Sequence[Event], begin: int, end: int, batch: int, *, first: bool = False) -> Fragment:
    """Summarise a fragment, in batches; it is sent to another process and back."""
    found = Fragment(first=first)
    for at in range(begin, end, batch):
        part = tuple(log[at : min(at + batch, end)])
        found.feed(Batch(part, range(at, at + len(part))))
    found.end()
    return cast(Fragment, pickle.loads(pickle.dumps(found)))


def known(found: Fragment) -> Known:
    whole = found.whole()
    return [(one.session, one.anomaly) for one in whole.anomalies], whole.cycles, list(whole.roots())


@given(st.data())
@SETTINGS
def test_any_tree_of_merges_is_the_projection_of_the_whole(data: st.DataObject) -> None:
    log = data.draw(events)
    ends = sorted(data.draw(st.lists(st.integers(0, len(log)), max_size=6)))
    batch = data.draw(st.integers(1, 7))
    first = data.draw(st.booleans())
    borders = [0, *ends, len(log)]
    pairs = list(pairwise(borders))
    with pytest.MonkeyPatch.context() as patch:
        if data.draw(st.booleans(), label="idle sessions are forgotten"):
            patch.setattr("turncheck.model.core.projection._KNOWN", 0)
        parts = [fragment(log, a, b, batch, first=first and not number) for number, (a, b) in enumerate(pairs)]
    while len(parts) > 1:
        at = data.draw(st.integers(0, len(parts) - 2))
        parts[at].extend(parts.pop(at + 1))
    assert known(parts[0]) == projected(log)


@pytest.mark.parametrize("text", WORDS)
def test_three_parts_of_a_log_merge_from_either_end(text: str) -> None:
    log = [event_of(letter, None) for letter in text]
    for one, two in combinations(range(len(log) + 1), 2):
        begin, middle, end = (fragment(log, a, b, 3) for a, b in ((0, one), (one, two), (two, len(log))))
        middle.extend(end)
        begin.extend(middle)
        assert known(begin) == projected(log)
        begin, middle, end = (fragment(log, a, b, 3) for a, b in ((0, one), (one, two), (two, len(log))))
        begin.extend(middle)
        begin.extend(end)
        assert known(begin) == projected(log)


def test_what_a_valid_stretch_keeps_ends_with_its_first_stop() -> None:
    log = [event_of(letter, None) for letter in "tcre" + "mtcre" * 100]
    (part,) = fragment(log, 0, len(log), 50).sessions.values()
    assert [len(stretch.events) for stretch in part.stretches] == [4]


def test_an_anomaly_is_told_with_the_event_that_reveals_it() -> None:
    log = [event_of(letter, None) for letter in "mce"]
    whole = fragment(log, 0, 3, 3).whole()
    assert whole.anomalies == [Revealed(2, None, projected(log)[0][0][1])]
