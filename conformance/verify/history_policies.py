"""What a runtime chooses of what its model is shown, where its profile does not say: inferred once, from some words.

Each word ends where one policy shows: a response that is cut with and without a call, two tools that end in the other
order, a text behind a call. The environment's closing message then asks what the history is. Of each policy the value
is taken that explains most requests, the default where several do; from then on the law holds the runtime to it.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

from turncheck.adapters.protocol.messages import HISTORY_POLICIES
from turncheck.adapters.protocol.runtime import RuntimeTarget
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

from ..generation.classic_words import starts
from ..laws.runtime.requests import difference, histories
from ..observe.driver import Driver, UnsettledError
from ..observe.runtime_trace import RuntimeTrace

_FIRST: Final = User(id="u1", text="say one")
_TEXT, _OTHER = (ModelOutput(item=Text(text=text)) for text in ("answer two.", "answer three."))
_CALL, _SECOND = (
    ModelOutput(item=ToolCall(call_id=name, tool="read", arguments={"path": name})) for name in ("c4", "c5")
)
_END, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_RETURNED, _LAST = (ToolReturn(call_id=name, output=f"result {name}") for name in ("c4", "c5"))
_FAILED: Final = ToolFail(call_id="c4", message="failure c4")
_STEER: Final = User(id="u6", text="say six", delivery="steer")
_BREAK: Final = ModelFail(failure="stream")


def words(capabilities: frozenset[str]) -> Iterator[tuple[Stimulus, ...]]:
    """Yield the words that tell the values of the policies apart, as far as *capabilities* go."""
    yield (_FIRST,)  # what breaks behind it is judged by it at least
    yield _FIRST, _TEXT, _OTHER, _END
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
        if "tool-failure" in capabilities:
            yield _FIRST, _CALL, _CALLED, _FAILED, _END
        yield _FIRST, _CALL, _SECOND, _CALLED, _LAST, _RETURNED, _END
        yield _FIRST, _CALL, _SECOND, _CALLED, _RETURNED, _LAST, _END
        yield _FIRST, _CALL, _RETURNED, _SECOND, _LAST, _CALLED, _END


def inferred(runtime: RuntimeTarget, seen: Callable[[Driver], None] = lambda _: None) -> dict[str, str]:
    """Return the policies of ``HISTORY_POLICIES`` that *runtime* does not declare, and that are not their defaults.

    A runtime that shows no input chooses nothing that could be seen; of one that does not settle, the words before
    count. *seen* is given each word that did not break. Raises TargetError.
    """
    profile = runtime.profile
    undeclared = [name for name in HISTORY_POLICIES if name not in profile.policies]
    if not undeclared or not profile.can("model-input"):
        return {}
    capabilities = frozenset(profile.capabilities)
    options, _ = starts(capabilities)
    traces: list[RuntimeTrace] = []
    for word in words(capabilities):
        driver = Driver(runtime, options)
        with contextlib.suppress(UnsettledError):
            for stimulus in word:
                driver.apply(stimulus)
            driver.close()
        seen(driver)
        if driver.unsettled:
            break
        traces.append(driver.trace())
    return best(traces, undeclared, profile.policies)


def best(traces: Sequence[RuntimeTrace], undeclared: Sequence[str], declared: Mapping[str, Any]) -> dict[str, str]:
    """Return the values that explain most of *traces*; defaults, and what makes no difference, are left out."""
    chosen: dict[str, str] = {}
    explained = _explained(traces, declared)
    while True:
        found = chosen
        for name in undeclared:
            for value in HISTORY_POLICIES[name][1:]:
                tried = {**chosen, name: value}
                count = _explained(traces, {**declared, **tried})
                if count > explained:
                    found, explained = tried, count
        if found is chosen:
            return dict(sorted(chosen.items()))
        chosen = found


def _explained(traces: Sequence[RuntimeTrace], policies: Mapping[str, Any]) -> int:
    """How many requests show what they have to show under *policies*."""
    return sum(
        difference(expected, found) is None
        for trace in traces
        for _, expected, found in histories(trace, {**trace.policies, **policies})
    )
