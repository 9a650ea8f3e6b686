"""A runtime's policies on what its model is shown, and when: inferred once, from some words, where undeclared.

Each word ends where one policy shows: a response that is cut with and without a call, two tools that end in the other
order, a text behind a call, a long result. The environment's closing message then asks what the history is. Of each
policy the value is taken that explains most requests, the default where several do; from then on the law holds the
runtime to it. The words are applied too where all is declared: what no policy explains is judged.

How many of several messages one request hands over shows where two wait. There is no default: what shows neither value,
or both, is not inferred, and no law asks.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, Final

from turncheck.adapters.protocol.messages import HISTORY_POLICIES
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.core.history import CUT, HANDOVERS, characters_of
from turncheck.model.core.stimuli import (
    Abort,
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

from ...generation.classic_words import starts
from ...laws.law import first_finding
from ...laws.runtime.messages import handed_over_as_declared, handovers
from ...laws.runtime.requests import difference, histories, history_whole
from ...observe.driver import Driver, UnsettledError
from ...observe.runtime_trace import RuntimeTrace

_FIRST: Final = User(id="u1", text="say one")
_TEXT, _OTHER = (ModelOutput(item=Text(text=text)) for text in ("answer two.", "answer three."))
_CALL, _SECOND = (
    ModelOutput(item=ToolCall(call_id=name, tool="read", arguments={"path": name})) for name in ("c4", "c5")
)
_END, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_RETURNED, _LAST = (ToolReturn(call_id=name, output=f"result {name}") for name in ("c4", "c5"))
_FAILED: Final = ToolFail(call_id="c4", message="failure c4")
_STEER: Final = User(id="u6", text="say six", delivery="steer")
_WAITING: Final = {
    kind: tuple(
        User(id=f"u{number}", text=f"say {name}", delivery=kind) for number, name in ((7, "seven"), (8, "eight"))
    )
    for kind in ("steer", "followUp")
}
_BREAK: Final = ModelFail(failure="stream")
_LONG: Final = 60_000
"""Characters of a long result: runtimes with a bound have 4,000 to 40,000."""
_LEAST: Final = 1_000
"""Characters that a runtime's bound has at least, where it is not declared: what shows fewer has lost the result."""


def words(capabilities: frozenset[str], most: int | None = None) -> Iterator[tuple[Stimulus, ...]]:
    """Yield the words that tell the values of the policies apart, as far as *capabilities* go.

    One has a result of more than *most* characters, which is the declared ``CUT``.
    """
    yield (_FIRST,)  # what breaks behind it is judged by it at least
    yield _FIRST, _TEXT, _OTHER, _END
    if "steer" in capabilities:
        yield _FIRST, *_WAITING["steer"], _TEXT, _END
    if "follow-up" in capabilities:
        yield _FIRST, *_WAITING["followUp"], _TEXT, _END
    cuts = [cut for need, cut in (("abort", Abort()), ("model-failure", _BREAK)) if need in capabilities]
    for cut in cuts:
        yield _FIRST, cut
        yield _FIRST, _TEXT, cut
        if "tools" in capabilities:
            yield _FIRST, _TEXT, _CALL, cut
        if "steer" in capabilities:
            yield _FIRST, _STEER, cut
    if "tools" in capabilities:
        yield _FIRST, _CALL, _TEXT, _CALLED, _RETURNED, _END
        if "steer" in capabilities:
            yield _FIRST, _CALL, _CALLED, *_WAITING["steer"], _RETURNED, _END
        if "tool-failure" in capabilities:
            yield _FIRST, _CALL, _CALLED, _FAILED, _END
        yield _FIRST, _CALL, _SECOND, _CALLED, _LAST, _RETURNED, _END
        yield _FIRST, _CALL, _SECOND, _CALLED, _RETURNED, _LAST, _END
        yield _FIRST, _CALL, _RETURNED, _SECOND, _LAST, _CALLED, _END
        yield _FIRST, _CALL, _SECOND, _RETURNED, _TEXT, _LAST, _CALLED, _END
        if "abort" in capabilities:
            yield _FIRST, _CALL, _SECOND, _CALLED, _RETURNED, Abort()
        yield _FIRST, _CALL, _CALLED, _long(max(_LONG, 2 * (most or 0))), _END


@cache  # each verification gives it, and writing it takes 2 ms
def _long(characters: int) -> ToolReturn:
    text = " ".join(f"{number:05}" for number in range(characters // 6))
    return ToolReturn(call_id="c4", output=text)


def inferred(runtime: RuntimeTarget, seen: Callable[[Driver], None] = lambda _: None) -> dict[str, str | int]:
    """Return the policies that *runtime* does not declare: on its handovers, and on its history where not the default.

    A runtime that shows no input chooses nothing that could be seen; of one that does not settle, the words before
    count. *seen* is given each word that did not break. Raises TargetError.
    """
    profile = runtime.profile
    if not profile.can("model-input"):
        return {}
    capabilities = frozenset(profile.capabilities)
    options, _ = starts(capabilities)
    traces: list[RuntimeTrace] = []
    for word in words(capabilities, profile.policies.get(CUT)):
        driver = Driver(runtime, options)
        with contextlib.suppress(UnsettledError):
            for stimulus in word:
                driver.apply(stimulus)
            driver.close()
        seen(driver)
        if driver.unsettled:
            break
        traces.append(driver.trace())
    declared = profile.policies
    shown = {name: value for name, value in handed_over(traces).items() if name not in declared}
    return dict(sorted({**best(traces, declared), **shown}.items()))


def handed_over(traces: Sequence[RuntimeTrace]) -> dict[str, str]:
    """Return how many messages are handed over where several wait; what is not the same throughout is left out."""
    found: dict[str, set[str]] = {}
    for one in (one for trace in traces for one in handovers(trace)):
        found.setdefault(one.policy, set()).add(one.value)
    return {name: value for name, them in HANDOVERS.items() for value in them if found.get(name) == {value}}


def best(traces: Sequence[RuntimeTrace], declared: Mapping[str, Any]) -> dict[str, str | int]:
    """Return the values, besides *declared*, that explain most of *traces*; what makes no difference is left out."""
    values: dict[str, Sequence[str | int]] = {name: them[1:] for name, them in HISTORY_POLICIES.items()}
    values[CUT] = sorted({*_cuts(traces)})
    chosen: dict[str, str | int] = {}
    shown = [sum(request.input is not None for request in trace.requests) for trace in traces]
    explained = [_explained(trace, declared) for trace in traces]
    while True:
        found = chosen
        for name in (name for name in values if name not in declared):
            for value in values[name]:
                tried = {**chosen, name: value}
                better = _better(traces, {**declared, **tried}, shown, explained)
                if better is not None:
                    found, explained = tried, better
        if found is chosen:
            return dict(sorted(chosen.items()))
        chosen = found


def _better(
    traces: Sequence[RuntimeTrace], policies: Mapping[str, Any], shown: Sequence[int], explained: Sequence[int]
) -> list[int] | None:
    """Return how many requests of each trace show what they have to show under *policies*; None if no more than before.

    *shown* is how many there are of each trace, and *explained* how many did until now. The traces that lack most are
    looked at first, and no further where the rest cannot make good: most values explain none of what is left, and
    looking through all traces for each value was a tenth of a verification.
    """
    found, could = [*shown], sum(shown)
    for at in sorted(range(len(traces)), key=lambda at: explained[at] - shown[at]):
        if could <= sum(explained):
            return None
        found[at] = _explained(traces[at], policies)
        could += found[at] - shown[at]
    return found if could > sum(explained) else None


def _explained(trace: RuntimeTrace, policies: Mapping[str, Any]) -> int:
    """Count the requests that show what they have to show under *policies*."""
    return sum(
        difference(expected, found, policies.get(CUT)) is None
        for _, expected, found in histories(trace, {**trace.policies, **policies})
    )


def _cuts(traces: Sequence[RuntimeTrace]) -> Iterator[int]:
    """Yield how many characters of a long result are shown, where it is not all of them."""
    for trace in traces:
        said = {
            name: one.output for name, ends in trace.returned.items() for _, one in ends if isinstance(one, ToolReturn)
        }
        for entry in (entry for request in trace.requests for entry in request.input or ()):
            text = said.get(entry.get("callId") or "")
            if entry.get("role") == "tool" and isinstance(text, str) and len(text) >= _LONG // 2:
                size = characters_of(text, str(entry.get("text")))
                if _LEAST <= size < len(text):
                    yield size


def unexplained(trace: RuntimeTrace) -> bool:
    """Return whether a law on such policies finds something in *trace*, whose own hold what was inferred too."""
    return any(first_finding(law.judge(trace)) is not None for law in (history_whole, handed_over_as_declared))
