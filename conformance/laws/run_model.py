"""Laws on a runtime: what the model is shown, and what is kept of what it said."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from turncheck.model.core.events import AgentOutput
from turncheck.model.core.stimuli import (
    Abort,
    ModelFail,
    ModelOutput,
    Reasoning,
    Stimulus,
    Text,
    Together,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from ..observe.runtime_trace import Request, Response, RuntimeTrace
from .law import WITNESS, Finding, Judgement

_REJECTS: Final = {"malformed", "unknown-type"}
_ENTRIES: Final = {"user-message", "agent-output", "tool-result"}
"""Events that make an entry of the history each, at most."""
_SUMMARY: Final = "[summary]"
"""How the one entry begins that stands for what was compacted (RS-3.1)."""
_COMPACTED: Final = f"assistant {_SUMMARY}"
_UNKNOWN: Final[Mapping[str, set[tuple[str, int]]]] = {}


def log_well_formed(play: RuntimeTrace) -> Judgement:
    """The log holds the core's events and nothing else (X-1, RC-1, RC-D5)."""
    if play.log:
        yield WITNESS
    for anomaly in play.projection.anomalies:
        if anomaly.kind in _REJECTS:
            yield Finding(anomaly.at, f"{anomaly.kind}: no event of the log", "an event", play.log[anomaly.at])


def input_well_formed(play: RuntimeTrace) -> Judgement:
    """In what the model is shown every call is answered once, after it, before anything else is said (X-6, RS-3.2)."""
    said = _speakers(play)
    for request in play.requests:
        yield from well_formed(request.input or (), request.at, said)


def well_formed(
    entries: Sequence[Mapping[str, Any]], at: int | None = None, said: Mapping[str, set[tuple[str, int]]] = _UNKNOWN
) -> Judgement:
    """The rule of ``input_well_formed`` on the input of one request, which stands at *at*.

    *said* maps a text or a call's id to the responses that said it: a text of another response is something else, which
    may not stand between a call and its result. Without it a text right after a call counts as said beside it.
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


def _speakers(play: RuntimeTrace) -> dict[str, set[tuple[str, int]]]:
    """A text, or a call's id → the responses that said it: the model may repeat itself."""
    found: dict[str, set[tuple[str, int]]] = {}
    for response in play.responses:
        for _, stimulus in response.items:
            item = stimulus.item
            found.setdefault(item.call_id if isinstance(item, ToolCall) else item.text, set()).add(response[:2])
    return found


def _apart(said: Mapping[str, set[tuple[str, int]]], text: str, calls: Sequence[str]) -> bool:
    """Whether a text is known to be of another response than one of *calls*."""
    by = said.get(text)
    return by is not None and any(call in said and not by & said[call] for call in calls)


def input_not_invented(play: RuntimeTrace) -> Judgement:
    """The model is shown nothing that nobody said (X-7)."""
    outputs = [one for move in play.of(ModelOutput) for one in [move.stimulus] if isinstance(one, ModelOutput)]
    said = [one.item.text for one in outputs if isinstance(one.item, Text)]
    called = {one.item.call_id for one in outputs if isinstance(one.item, ToolCall)}
    called |= {str(event.get("callId")) for event in play.log if event.get("kind") == "tool-call"}  # ids made unique
    for request in play.requests:
        for place, entry in enumerate(request.input or ()):
            role, text = entry.get("role"), str(entry.get("text"))
            if role == "user":
                yield WITNESS
                if not entry.get("ids") and not any(one.text in text for one in play.sent.values()):
                    yield Finding(request.at, f"input[{place}]: nobody sent this", None, text)
            elif role == "assistant" and entry.get("callId") is not None and entry["callId"] not in called:
                yield Finding(request.at, f"input[{place}]: the model never made this call", None, entry["callId"])
            elif role == "assistant" and place == 0 and text.startswith(_SUMMARY) and _bound(play) is not None:
                yield WITNESS
            elif role == "assistant" and entry.get("callId") is None and text and not any(one in text for one in said):
                yield Finding(request.at, f"input[{place}]: the model never said this", None, text)


def input_loses_nothing(play: RuntimeTrace) -> Judgement:
    """What the model was shown and has said, it is shown again: history is whole (X-7, BED-005k, BED-004d).

    Where ``maxHistoryMessages`` is declared, a longer history may lose a prefix, as RS-3.1 and RS-3.2 allow.
    """
    before: list[Any] = []
    for request in play.requests:
        if request.input is None:
            continue
        now = [entry for entry in request.input if entry.get("role") != "system"]
        if before:
            yield WITNESS
        keys = [*map(_key, now)]
        missing = [entry for entry in before if _key(entry) not in keys]
        earlier = [*map(_key, before)]
        if not all(_within(entry, now) for entry in missing) and not _compacted(play, request, earlier):
            yield Finding(request.at, "the model is not shown any more what it was shown before", earlier, keys)
        before = now
    for response in play.whole_responses():
        later = _next_in_run(play, response)
        if later is None:
            continue
        shown = " ".join(str(entry.get("text")) for entry in later if entry.get("role") == "assistant")
        for _, stimulus in response.items:
            if isinstance(stimulus.item, Text) and stimulus.item.text not in shown:
                yield Finding(None, "the model is not shown what it said", stimulus.item.text, later)


def items_conserved(play: RuntimeTrace) -> Judgement:
    """Every item of a whole response is logged once, complete and in order (X-7, RC-6.3, BED-003b)."""
    for response in play.whole_responses():
        assert response.end is not None
        places: list[int] = []
        for move, stimulus in response.items:
            if not _shown(play, stimulus):
                continue
            found = [
                at
                for at in range(move.first, len(play.log))
                if isinstance(event := play.events[at], AgentOutput) and _same(play.log[at], event, stimulus)
            ]
            yield WITNESS
            if len(found) != 1:
                what = "lost" if not found else f"logged {len(found)} times"
                yield Finding(found[1] if found else move.first, f"an item of the model is {what}", 1, _item(stimulus))
            places += found[:1]
        if places != sorted(places):
            yield Finding(places[0], "the items of a response are logged out of order", sorted(places), places)


def response_is_one_round(play: RuntimeTrace) -> Judgement:
    """The items of one response are one round, and those of two responses are two (RC-D3, EF-5, EF-8)."""
    rounds = {
        at: (index, number)
        for index, cycle in enumerate(play.cycles)
        for number, one in enumerate(cycle.rounds)
        for at in one.outputs
    }
    owners: dict[tuple[int, int], tuple[str, int]] = {}
    for response in play.whole_responses():
        texts = {_item(stimulus) for _, stimulus in response.items}
        found = [at for at in rounds if _logged(play.log[at]) in texts]
        places = {rounds[at] for at in found}
        if len(found) > 1:
            yield WITNESS
        if len(places) > 1:
            yield Finding(found[0], "one response is shown as several rounds", 1, len(places))
        for place in places:
            if owners.setdefault(place, response[:2]) != response[:2]:
                yield Finding(found[0], "two responses are shown as one round", 2, 1)


def rounds_bounded(play: RuntimeTrace) -> Judgement:
    """A run asks the model at most as often as its limit says (EF-1, RS-4.1, TM-3.3)."""
    bound = play.bound
    if bound is None:
        return
    failed = {  # what is asked again because the model failed is no round of its own
        one.asked for one in play.responses if one.end is not None and isinstance(one.end.stimulus, ModelFail)
    }
    for index in range(len(play.cycles)):
        asked = [one.at for one in play.requests if one.cycle == index and one.at not in failed]
        if len(asked) >= bound:
            yield WITNESS
        if len(asked) > bound:
            yield Finding(asked[bound], "a run asks the model more often than its limit", bound, len(asked))


def capabilities_honest(play: RuntimeTrace) -> Judgement:
    """What is declared is there: the machine that is claimed is the one that answers (X-1)."""
    for move in play.moves:
        for stimulus in getattr(move.stimulus, "stimuli", (move.stimulus,)):
            need = needs(stimulus)
            if need is None or need not in play.capabilities:
                continue
            refused = move.step.refused
            if refused is not None and refused.why == "unsupported":
                yield Finding(
                    None, f"{need} is declared, and {type(stimulus).__name__} unsupported", need, refused.message
                )
            elif move.took_place:
                yield WITNESS
    if "model-input" in play.capabilities:
        for request in play.requests:
            if request.input is None:
                yield Finding(request.at, "model-input is declared, and a request does not show it", "input", None)


def needs(stimulus: Stimulus) -> str | None:
    """The capability without which a stimulus cannot take place; None for what every runtime has."""
    match stimulus:
        case User(delivery="steer"):
            return "steer"
        case User(delivery="followUp"):
            return "follow-up"
        case ModelOutput(item=Reasoning()):
            return "reasoning"
        case ModelOutput(item=ToolCall(arguments=str())):
            return "raw-arguments"
        case ModelOutput(item=ToolCall()) | ToolReturn():
            return "tools"
        case Abort():
            return "abort"
        case ToolFail():
            return "tool-failure"
        case ModelFail():
            return "model-failure"
        case Together():
            return "together"
        case _:
            return None


def _within(entry: Any, now: Sequence[Any]) -> bool:
    """Whether a text is shown within one that joins it to others."""
    role, text = entry.get("role"), str(entry.get("text"))
    return not entry.get("callId") and any(one.get("role") == role and text in str(one.get("text")) for one in now)


def _key(entry: Any) -> str:
    """What an entry is, whatever its wrapping: a call and its result by id, a text by itself."""
    return f"{entry.get('role')} {entry.get('callId') or entry.get('text')}"


def _bound(play: RuntimeTrace) -> int | None:
    """How many entries a history may have before it is compacted, None where it never is."""
    return cast("int | None", play.policies.get("maxHistoryMessages"))


def _compacted(play: RuntimeTrace, request: Request, before: list[str]) -> bool:
    """Whether what is missing is the prefix of a history over its bound, cut before a user's message (RS-3.1).

    How long a history is, is not seen: it is at most all that was logged until then.
    """
    bound = _bound(play)
    now = [key for key in map(_key, request.input or ()) if not key.startswith((_COMPACTED, "system "))]
    known = [key for key in before if not key.startswith(_COMPACTED)]
    cut = max((place for place, key in enumerate(known, 1) if key not in now), default=0)
    new = [key for key in now if key not in known]
    first = [*known[cut:], *new][:1]
    logged = sum(event.get("type") in _ENTRIES for event in play.log[: request.at])
    return (
        bound is not None
        and logged > bound
        and not set(known[:cut]) & set(now)
        and all(key.startswith("user ") for key in first)
    )


def _next_in_run(play: RuntimeTrace, response: Response) -> list[Any] | None:
    """The input of the request after a response, in the same run."""
    places = [place for place, one in enumerate(play.requests) if one.at == response.asked]
    if not places or places[0] + 1 >= len(play.requests):
        return None
    first, after = play.requests[places[0]], play.requests[places[0] + 1]
    return list(after.input) if after.input is not None and after.cycle == first.cycle else None


def _shown(play: RuntimeTrace, stimulus: ModelOutput) -> bool:
    """Whether the runtime has to log the item: malformed calls it may report otherwise."""
    match stimulus.item:
        case Reasoning():
            return "reasoning" in play.capabilities
        case ToolCall(arguments=str()):
            return False
        case ToolCall(call_id=name):
            return name not in _repeated(play)
        case Text():
            return True


def _repeated(play: RuntimeTrace) -> set[str]:
    names = list(_called(play))
    return {name for name in names if names.count(name) > 1}


def _called(play: RuntimeTrace) -> Iterator[str]:
    for move in play.of(ModelOutput):
        if isinstance(move.stimulus, ModelOutput) and isinstance(move.stimulus.item, ToolCall):
            yield move.stimulus.item.call_id


def _same(raw: Any, event: AgentOutput, stimulus: ModelOutput) -> bool:
    item = stimulus.item
    if isinstance(item, ToolCall):
        return event.kind == "tool-call" and event.call_id == item.call_id
    return event.kind == ("assistant" if isinstance(item, Text) else "reasoning") and raw.get("text") == item.text


def _item(stimulus: ModelOutput) -> str:
    item = stimulus.item
    return item.call_id if isinstance(item, ToolCall) else item.text


def _logged(raw: Any) -> str:
    return str(raw.get("callId") or raw.get("text"))
