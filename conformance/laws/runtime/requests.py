"""Laws on the input of requests to the model."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from turncheck.model.core.stimuli import ModelOutput, Text, ToolCall

from ...observe.runtime_trace import Request, Response, RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from .subject import run_law

_ENTRIES: Final = {"user-message", "agent-output", "tool-result"}
"""Events that make at most one entry of the history each."""
_SUMMARY: Final = "[summary]"
"""The beginning of the one entry that stands for the compacted prefix (RS-3.1)."""
_COMPACTED: Final = f"assistant {_SUMMARY}"
_BOUND: Final = "maxHistoryMessages"
"""The policy that says how many entries a history may have before it is compacted."""
_UNKNOWN: Final[Mapping[str, set[tuple[str, int]]]] = {}


@run_law("X-6", "RS-3.2", evidence="a request that shows a result", needs=("tools", "model-input"))
def input_well_formed(trace: RuntimeTrace) -> Judgement:
    """The model is shown each call with one result, after it and before anything else is said."""
    said = _speakers(trace)
    for request in trace.requests:
        yield from well_formed(request.input or (), request.at, said)


def well_formed(
    entries: Sequence[Mapping[str, Any]], at: int | None = None, said: Mapping[str, set[tuple[str, int]]] = _UNKNOWN
) -> Judgement:
    """The rule of ``input_well_formed`` on the input of one request, which stands at *at*.

    *said* maps a text or a call's id to the responses that said it: a text of another response must not stand between a
    call and its result. Without *said* a text right after a call counts as one of the same response.
    """
    waiting: list[str] = []
    answered = False  # a result stands between the last call and here
    for place, entry in enumerate(entries):
        role, call = entry.get("role"), entry.get("callId")
        if role == "assistant" and call is not None:
            if answered and waiting:
                yield Finding(at, f"input[{place}]: {waiting} unanswered when {call} is made", [], waiting)
            waiting, answered = [*waiting, call], False
        elif role == "tool":
            yield WITNESS
            if call in waiting:
                waiting.remove(call)
            else:
                yield Finding(at, f"input[{place}]: a result without its call, or a second one", None, call)
            answered = True
        elif waiting and (
            role == "user" or (role == "assistant" and (answered or _apart(said, str(entry.get("text")), waiting)))
        ):
            yield Finding(at, f"input[{place}]: {waiting} unanswered when something else is said", [], waiting)
            waiting = []
    if waiting:
        yield Finding(at, f"the model is shown {waiting} unanswered", [], waiting)


@run_law("X-7", evidence="a request that shows a message", needs=("model-input",))
def input_not_invented(trace: RuntimeTrace) -> Judgement:
    """The model is shown nothing that nobody said."""
    outputs = [one for step in trace.of(ModelOutput) for one in [step.stimulus] if isinstance(one, ModelOutput)]
    said = [one.item.text for one in outputs if isinstance(one.item, Text)]
    called = {one.item.call_id for one in outputs if isinstance(one.item, ToolCall)}
    called |= {str(event.get("callId")) for event in trace.log if event.get("kind") == "tool-call"}  # ids made unique
    for request in trace.requests:
        for place, entry in enumerate(request.input or ()):
            role, text = entry.get("role"), str(entry.get("text"))
            if role == "user":
                yield WITNESS
                if not entry.get("ids") and not any(one.text in text for one in trace.sent.values()):
                    yield Finding(request.at, f"input[{place}]: nobody sent this", None, text)
            elif role == "assistant" and entry.get("callId") is not None and entry["callId"] not in called:
                yield Finding(request.at, f"input[{place}]: the model never made this call", None, entry["callId"])
            elif (
                role == "assistant"
                and place == 0
                and text.startswith(_SUMMARY)
                and trace.policies.get(_BOUND) is not None
            ):
                yield WITNESS
            elif role == "assistant" and entry.get("callId") is None and text and not any(one in text for one in said):
                yield Finding(request.at, f"input[{place}]: the model never said this", None, text)


@run_law("X-7", "BED-005k", "BED-004d", evidence="a second request", needs=("model-input",))
def input_loses_nothing(trace: RuntimeTrace) -> Judgement:
    """History is whole: the model is shown again everything that it was shown and has said.

    Where ``maxHistoryMessages`` is declared, a longer history may lose a prefix, as RS-3.1 and RS-3.2 allow.
    """
    before: list[Any] = []
    for request in trace.requests:
        if request.input is None:
            continue
        now = [entry for entry in request.input if entry.get("role") != "system"]
        if before:
            yield WITNESS
        keys = [*map(_key, now)]
        missing = [entry for entry in before if _key(entry) not in keys]
        earlier = [*map(_key, before)]
        if not all(_within(entry, now) for entry in missing) and not _compacted(trace, request, earlier):
            yield Finding(request.at, "the model is not shown any more what it was shown before", earlier, keys)
        before = now
    for response in trace.whole_responses():
        later = _next_in_run(trace, response)
        if later is None:
            continue
        shown = " ".join(str(entry.get("text")) for entry in later if entry.get("role") == "assistant")
        for _, stimulus in response.items:
            if isinstance(stimulus.item, Text) and stimulus.item.text not in shown:
                yield Finding(None, "the model is not shown what it said", stimulus.item.text, later)


def _speakers(trace: RuntimeTrace) -> dict[str, set[tuple[str, int]]]:
    """A text, or a call's id → the responses that said it: the model may repeat itself."""
    found: dict[str, set[tuple[str, int]]] = {}
    for response in trace.responses:
        for _, stimulus in response.items:
            item = stimulus.item
            found.setdefault(item.call_id if isinstance(item, ToolCall) else item.text, set()).add(response[:2])
    return found


def _apart(said: Mapping[str, set[tuple[str, int]]], text: str, calls: Sequence[str]) -> bool:
    """True for a text that is known to come from another response than one of *calls*."""
    by = said.get(text)
    return by is not None and any(call in said and not by & said[call] for call in calls)


def _within(entry: Any, now: Sequence[Any]) -> bool:
    """True for a text that stands within a longer one of the same role."""
    role, text = entry.get("role"), str(entry.get("text"))
    return not entry.get("callId") and any(one.get("role") == role and text in str(one.get("text")) for one in now)


def _key(entry: Any) -> str:
    """The identity of an entry in any wrapping: a call and its result by id, a text by itself."""
    return f"{entry.get('role')} {entry.get('callId') or entry.get('text')}"


def _compacted(trace: RuntimeTrace, request: Request, before: list[str]) -> bool:
    """True if the missing entries are the prefix of a history over its bound, cut before a user's message (RS-3.1).

    The length of a history cannot be seen: it is at most the number of entries that were logged until then.
    """
    bound = trace.policies.get(_BOUND)
    now = [key for key in map(_key, request.input or ()) if not key.startswith((_COMPACTED, "system "))]
    known = [key for key in before if not key.startswith(_COMPACTED)]
    cut = max((place for place, key in enumerate(known, 1) if key not in now), default=0)
    new = [key for key in now if key not in known]
    first = [*known[cut:], *new][:1]
    logged = sum(event.get("type") in _ENTRIES for event in trace.log[: request.at])
    return (
        bound is not None
        and logged > bound
        and not set(known[:cut]) & set(now)
        and all(key.startswith("user ") for key in first)
    )


def _next_in_run(trace: RuntimeTrace, response: Response) -> list[Any] | None:
    """The input of the request after a response, in the same run."""
    for first, after in pairwise(trace.requests):
        if first.at == response.asked:
            return list(after.input) if after.input is not None and after.cycle == first.cycle else None
    return None
