"""Situations that rows of ``interaction`` do not make: several things at once, a clock that waits, ids that recur.

Those around decisions are of ``decision_words``, those on compactions of ``compaction_words``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelFail,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Stimulus,
    Text,
    Together,
    ToolCall,
    ToolReturn,
    User,
)
from turncheck.model.machines.interaction import CONCURRENT

from ..observe.runtime_trace import flat
from .classic_words import starts
from .lifecycle.compaction_words import compaction_words
from .lifecycle.decision_words import decision_words


class Rare(NamedTuple):
    """A situation by its name, with the word that makes it."""

    name: str
    word: tuple[Stimulus, ...]
    options: ResetOptions


_FIRST, _SECOND = User(id="u1", text="say 1 red"), User(id="u7", text="say 7 blue")
_STEER: Final = User(id="u8", text="say 8 red", delivery="steer")
_TEXT, _OTHER = (ModelOutput(item=Text(text=text)) for text in ("answer 2 red.", "answer 3 blue."))
_STOP, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_RETRYABLE: Final = ModelFail(failure="retryable")
_LONG: Final = 3600.0
"""Seconds after which a retry is due, whatever the delay."""
_ALIKE: Final = ("c5", "C5", "c5 ", "c51", "с5")  # noqa: RUF001 - the last one is Cyrillic
"""Ids that differ in case, by a space, by a prefix and by a letter that looks alike."""


def rare_words(capabilities: frozenset[str], policies: Mapping[str, Any]) -> Iterator[Rare]:
    """Yield the situations that *capabilities* and *policies* make possible, each with its word."""
    plain, _ = starts(capabilities)
    beside = policies.get("busy") == CONCURRENT  # of several open runs, no abort or clock says which one is meant
    words = [
        (plain, one)
        for one in (*_aborts(), *_tools(policies), *_failures(), *decision_words(), *compaction_words(policies))
    ]
    if capabilities.issuperset(("clock", "model-failure")) and policies.get("retries"):
        words += [(replace(plain, clock="manual"), one) for one in _waits()]
    for options, (needs, name, word) in words:
        if capabilities.issuperset(needs) and not (beside and _messages_overlap(word)):
            yield Rare(name, word, options)


def _messages_overlap(word: Sequence[Stimulus]) -> bool:
    """Return whether a message without delivery comes while a run is open, or may be."""
    is_open = False
    for stimulus in word:
        several = flat(stimulus)
        begins = any(isinstance(one, User) and one.delivery is None for one in several)
        if begins and (is_open or len(several) > 1):
            return True
        is_open = (is_open or begins) and not any(isinstance(one, Abort) or one == _STOP for one in several)
    return False


_Word = tuple[tuple[str, ...], str, tuple[Stimulus, ...]]


def _at_once(*stimuli: Any) -> Together:
    return Together(stimuli=stimuli)


def _call(name: str, path: str = "5") -> ModelOutput:
    return ModelOutput(item=ToolCall(call_id=name, tool="read", arguments={"path": path}))


def _returned(name: str, number: int = 5) -> ToolReturn:
    return ToolReturn(call_id=name, output=f"result {number} red")


def _aborts() -> Iterator[_Word]:
    yield ("abort",), "an abort while idle", (Abort(), _FIRST, _TEXT, _STOP)
    yield ("abort",), "an abort after a run", (_FIRST, _TEXT, _STOP, Abort(), _SECOND, _OTHER, _STOP)
    yield ("abort",), "an abort twice", (_FIRST, _TEXT, Abort(), Abort(), _SECOND, _OTHER, _STOP)
    both = ("abort", "together")
    yield both, "an abort and a model's end at once", (_FIRST, _TEXT, _at_once(Abort(), _STOP))
    yield both, "a model's end and an abort at once", (_FIRST, _TEXT, _at_once(_STOP, Abort()))
    yield both, "an abort and a message at once", (_FIRST, _TEXT, _at_once(Abort(), _SECOND))
    yield both, "a message and an abort at once", (_FIRST, _TEXT, _at_once(_SECOND, Abort()))
    yield both, "two aborts at once", (_FIRST, _TEXT, _at_once(Abort(), Abort()), _SECOND)


def _tools(policies: Mapping[str, Any]) -> Iterator[_Word]:
    called: tuple[Stimulus, ...] = (_FIRST, _call("c5"), _CALLED)
    at_once = ("tools", "together")
    yield (*at_once, "abort"), "an abort and a result at once", (*called, _at_once(Abort(), _returned("c5")))
    yield (*at_once, "abort"), "a result and an abort at once", (*called, _at_once(_returned("c5"), Abort()))
    yield (*at_once, "steer"), "a steer and a result at once", (*called, _at_once(_STEER, _returned("c5")))
    if policies.get("tools") == "parallel":
        two: tuple[Stimulus, ...] = (_FIRST, _call("c5"), _call("c9", "9"), _CALLED)
        yield at_once, "two results at once", (*two, _at_once(_returned("c5"), _returned("c9", 9)))
        yield at_once, "two results at once, the second first", (*two, _at_once(_returned("c9", 9), _returned("c5")))
    alike = tuple(_call(name, f"{place}") for place, name in enumerate(_ALIKE))
    ends = tuple(_returned(name, place) for place, name in enumerate(_ALIKE))
    yield ("tools",), "call ids that look alike", (_FIRST, *alike, _CALLED, *ends, _TEXT, _STOP)


def _failures() -> Iterator[_Word]:
    yield ("model-failure",), "a text before a retryable failure", (_FIRST, _TEXT, _RETRYABLE)
    yield ("model-failure", "tools"), "a call before a retryable failure", (_FIRST, _call("c5"), _RETRYABLE)


def _waits() -> Iterator[_Word]:
    yield (), "a retry that the clock brings", (_FIRST, _RETRYABLE, Advance(seconds=_LONG), _TEXT, _STOP)
    yield ("abort",), "an abort while a retry waits", (_FIRST, _RETRYABLE, Abort(), _SECOND, _OTHER, _STOP)
    yield (), "a message while a retry waits", (_FIRST, _RETRYABLE, _SECOND, Advance(seconds=_LONG), _TEXT, _STOP)
