"""Words on compactions: each moment of one beside all that may come between, and what the next request shows then.

A moment is the request for a summary, a part of it, or its end; what comes between is an abort, a failure of the model,
a message. The history before holds calls with results, a tool's failure, and a run that was cut. Kills come from the
laws on restarts, which kill behind and within the last stimulus of a word.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from turncheck.model.core.stimuli import (
    Abort,
    Compact,
    ModelFail,
    ModelOutput,
    ModelStop,
    Stimulus,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from .decision_words import Situation


class _Moment(NamedTuple):
    """A moment of a compaction: its name, and the stimuli that lead to it."""

    name: str
    word: tuple[Stimulus, ...]


_CAN: Final = ("compaction",)
_COMPACT: Final = Compact()
_STOP, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_GIST, _MORE = (ModelOutput(item=Text(text=text)) for text in ("gist 91 red.", "gist 92 blue."))
_FAILURES: Final = (ModelFail(failure="retryable"), ModelFail(failure="fatal"))
_FIRST, _SECOND = User(id="u1", text="say 1 red"), User(id="u7", text="say 7 blue")
_THIRD, _LAST = User(id="u6", text="say 6 blue"), User(id="u9", text="say 9 red")
_TEXT, _OTHER = (ModelOutput(item=Text(text=text)) for text in ("answer 2 red.", "answer 3 blue."))
_RUN: tuple[Stimulus, ...] = (_FIRST, _TEXT, _STOP)
_TWO: tuple[Stimulus, ...] = (*_RUN, _SECOND, _OTHER, _STOP)
_CALL: Final = ModelOutput(item=ToolCall(call_id="c5", tool="read", arguments={"path": "5"}))
_BACK, _BROKEN = ToolReturn(call_id="c5", output="result 5 red"), ToolFail(call_id="c5", message="failure 5")
_WAITING: Final = {
    "a steer": (("steer",), User(id="u8", text="say 8 red", delivery="steer")),
    "a follow-up": (("follow-up",), User(id="u8", text="say 8 red", delivery="followUp")),
    "a message": ((), User(id="u8", text="say 8 red")),
}
MOMENTS: Final = (
    _Moment("the request for a summary", (*_RUN, _COMPACT)),
    _Moment("a part of a summary", (*_RUN, _COMPACT, _GIST)),
    _Moment("a compaction", (*_RUN, _COMPACT, _GIST, _STOP)),
    _Moment("a second compaction", (*_RUN, _COMPACT, _GIST, _STOP, _SECOND, _OTHER, _STOP, _COMPACT, _MORE)),
)


def compaction_words(policies: Mapping[str, Any]) -> Iterator[Situation]:
    """Yield the situations with what each needs; *policies* say how often a compaction is tried again."""
    yield _CAN, "a compaction of nothing", (_COMPACT,)
    yield _CAN, "a compaction while a run is open", (_FIRST, _COMPACT)
    yield _CAN, "a compaction of two runs", (*_TWO, _COMPACT, _GIST, _MORE, _STOP, _LAST)
    yield _CAN, "a compaction twice at once", (*_RUN, _COMPACT, _COMPACT, _GIST, _STOP, _LAST)
    yield _CAN, "a compaction of what stands behind a summary", (*MOMENTS[-1].word, _STOP, _LAST)
    kept = (*_TWO, _COMPACT, _GIST, _STOP, _THIRD, _STOP)
    yield _CAN, "a compaction of what another one kept", (*kept, _COMPACT, _MORE, _STOP, _LAST)
    for moment in MOMENTS:
        yield (*_CAN, "abort"), f"an abort after {moment.name}", (*moment.word, Abort(), _LAST)
        for what, (needs, message) in _WAITING.items():
            yield (*_CAN, *needs), f"{what} after {moment.name}", (*moment.word, message)
    yield from _model_failures(1 + int(policies.get("compactionRetries", 0)))
    yield from _calls()


def _model_failures(tries: int) -> Iterator[Situation]:
    needs = (*_CAN, "model-failure")
    for failure in _FAILURES:
        asked: Sequence[Stimulus] = (*_TWO, _COMPACT, failure)
        yield needs, f"a {failure.failure} failure for a summary", (*asked, _LAST)
        yield needs, f"a {failure.failure} failure for a summary, a message waiting", (*_TWO, _COMPACT, _LAST, failure)
        yield needs, f"a compaction after a {failure.failure} failure for one", (*asked, _COMPACT, _GIST, _STOP, _LAST)
    retried = (*_RUN, _COMPACT, *(_FAILURES[0] for _ in range(tries)))
    yield needs, "one failure for a summary after the other", (*retried, _LAST)
    yield needs, "a broken stream of a summary", (*_RUN, _COMPACT, _GIST, ModelFail(failure="stream"), _LAST)
    yield (
        needs,
        "a compaction after a run that failed",
        (_FIRST, _TEXT, ModelFail(failure="fatal"), _COMPACT, _GIST, _STOP),
    )


def _calls() -> Iterator[Situation]:
    called: tuple[Stimulus, ...] = (_FIRST, _CALL, _CALLED)
    summed: tuple[Stimulus, ...] = (_COMPACT, _GIST, _STOP, _LAST)
    ended: tuple[Stimulus, ...] = (_OTHER, _STOP)
    yield (*_CAN, "tools"), "a compaction of a call and its result", (*called, _BACK, *ended, *summed)
    behind: tuple[Stimulus, ...] = (*_RUN, _COMPACT, _GIST, _STOP, _SECOND, *called[1:], _BACK, *ended, _COMPACT)
    yield (*_CAN, "tools"), "a compaction of a call behind a summary", (*behind, _MORE, _STOP, _LAST)
    yield (*_CAN, "tools"), "a call after a compaction", (*_RUN, *summed, _CALL, _CALLED, _BACK)
    yield (*_CAN, "tools", "tool-failure"), "a compaction of a tool's failure", (*called, _BROKEN, *ended, *summed)
    yield (*_CAN, "tools", "abort"), "a compaction after an abort amid a call", (*called, Abort(), *summed)
