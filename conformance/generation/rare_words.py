"""Situations that rows of ``interaction`` do not make: several things at once, a clock that waits, ids that recur.

Those around decisions are of ``decision_words``, those on compactions of ``compaction_words``, those on clients of
``client_words``, and those behind which a runtime is killed of ``restart_words``.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import convert
from msgspec.structs import replace

from turncheck.model.core.provider_limits import BACKOFF, NOTICE, SHARE, WINDOW, Backoff
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
from .lifecycle.client_words import client_words
from .lifecycle.compaction_words import compaction_words
from .lifecycle.decision_words import decision_words
from .lifecycle.restart_words import restart_words


class Rare(NamedTuple):
    """A situation by its name, with the word that makes it; with *killed*, the runtime is killed behind it."""

    name: str
    word: tuple[Stimulus, ...]
    options: ResetOptions
    killed: bool = False


_FIRST, _SECOND = User(id="u1", text="say 1 red"), User(id="u7", text="say 7 blue")
_STEER: Final = User(id="u8", text="say 8 red", delivery="steer")
_TEXT, _OTHER = (ModelOutput(item=Text(text=text)) for text in ("answer 2 red.", "answer 3 blue."))
_STOP, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_RETRYABLE: Final = ModelFail(failure="retryable")
_LONG: Final = 3600.0
"""Seconds after which a retry is due, whatever the delay."""
_WINDOW: Final = 1000
"""Tokens of the context window where its limit is tried."""
_ALIKE: Final = ("c5", "C5", "c5 ", "c51", "с5")  # noqa: RUF001 - the last one is Cyrillic
"""Ids that differ in case, by a space, by a prefix and by a letter that looks alike."""


def rare_words(capabilities: frozenset[str], policies: Mapping[str, Any]) -> Iterator[Rare]:
    """Yield the situations that *capabilities* and *policies* make possible, each with its word."""
    plain, _ = starts(capabilities)
    beside = policies.get("busy") == CONCURRENT  # of several open runs, no abort or clock says which one is meant
    words = [
        (plain, one)
        for one in (
            *(*_aborts(), *_tools(policies), *_failures()),
            *(*decision_words(), *compaction_words(policies), *client_words()),
        )
    ]
    if capabilities.issuperset(("clock", "model-failure")) and policies.get("retries"):
        waits = (*_waits(), *_backoffs(policies))
        words += [(replace(plain, clock="manual"), one) for one in waits]
    if SHARE in policies:
        words += [(replace(plain, limits={WINDOW: _WINDOW}), one) for one in _fills(policies[SHARE] * _WINDOW)]
    kills = [(plain, one) for one in restart_words()]
    for place, (options, (needs, name, word)) in enumerate((*words, *kills)):
        if capabilities.issuperset(needs) and not (beside and _messages_overlap(word)):
            yield Rare(name, word, options, killed=place >= len(words))


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


def _backoffs(policies: Mapping[str, Any]) -> Iterator[_Word]:
    """Yield words whose clock stands at the moment when a retry is due, and short of it."""
    if BACKOFF not in policies:
        return
    backoff = convert(policies[BACKOFF], Backoff)
    most = [backoff.bounds(retry)[1] for retry in range(1, policies["retries"] + 1)]
    each = tuple(one for seconds in most for one in (_RETRYABLE, Advance(seconds=seconds)))
    yield (), "retries that wait longer each time", (_FIRST, *each, _TEXT, _STOP)
    once: tuple[Stimulus, ...] = (_RETRYABLE, Advance(seconds=most[0]))
    short = backoff.bounds(1)[0] / 2
    early = (_RETRYABLE, Advance(seconds=short), Advance(seconds=most[0] - short))
    yield (), "a retry that is not due yet", (_FIRST, *early, _TEXT, _STOP)
    yield (), "a backoff that begins anew", (_FIRST, *once, _TEXT, _STOP, _SECOND, *once, _OTHER, _STOP)
    called = (_call("c5"), _CALLED, _returned("c5"))
    yield ("tools",), "a backoff that begins anew in its run", (_FIRST, *once, *called, *once, _TEXT, _STOP)


def _fills(limit: float) -> Iterator[_Word]:
    """Yield words in which the context's use comes to the *limit* (tokens), stays beyond it, falls, and comes again."""
    below, beyond = int(limit) - 9, int(limit) + 9
    messages = [User(id=f"u{number}", text=f"say {number} red") for number in (21, 22, 23, 24, 25)]

    def used(*tokens: int) -> Iterator[Stimulus]:
        for message, number in zip(messages, tokens, strict=False):
            usage = {"inputTokens": number - 1, "outputTokens": 1}
            said = ModelOutput(item=Text(text=f"answer to {message.id}."))
            yield from (message, said, ModelStop(reason="end-turn", usage=usage))

    needs = ("usage", NOTICE)
    yield needs, "a context that fills up at once", (*used(beyond),)
    yield needs, "a context that fills up, and stays full", (*used(below, beyond, beyond + 1),)
    yield needs, "a context that fills up twice", (*used(beyond, below, beyond),)
