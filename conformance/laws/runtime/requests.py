"""Laws on the input of requests to the model."""

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple

from turncheck.model.core.history import CUT, Entry, arranged, characters_of, joined
from turncheck.model.core.stimuli import ModelOutput, Shown, ToolCall

from ...observe.compactions import for_compaction
from ...observe.history import Asked, asked
from ...observe.runtime_trace import Request, RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from .responses import malformed, same_arguments
from .subject import run_law

_ENTRIES: Final = {"user-message", "agent-output", "tool-result"}
"""Events that make at most one entry of the history each."""
_SUMMARY: Final = "[summary]"
"""The beginning of the one entry that stands for the compacted prefix (RS-3.1)."""
_BOUND: Final = "maxHistoryMessages"
"""The policy that says how many entries a history may have before it is compacted."""
_SYSTEM: Final = "system"
"""The policy that says what each request shows in the role of that name."""
_BRIEF: Final = 200
"""Characters of an entry in a message: a cut result has thousands."""
_CHANCE: Final = 8
"""Characters of a runtime's own words that may happen to go on as a cut result does."""
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


@run_law(
    *("X-7", "BED-003b", "BED-004d", "BED-005k"),
    evidence="a request that shows what was said",
    needs=("model-input",),
    overlapping="never",  # when a run sees what ended beside it is the runtime's choice: ``no-update-lost`` looks
)
def history_whole(trace: RuntimeTrace) -> Judgement:
    """The model is shown all that was said, called and returned until then, whole and in order, and nothing else.

    What a runtime may choose of that (what stays of a response that was cut, for one) are its policies. Where
    ``maxHistoryMessages`` is declared, a longer history may lose a prefix, as RS-3.1 and RS-3.2 allow. What a model was
    asked to sum up is judged until then.
    """
    for request, expected, found in histories(trace, trace.policies):
        if any(for_compaction(event) for event in trace.log[: request.at]):
            return  # what is left then, the laws on compactions say
        if len(expected) > 1:
            yield WITNESS
        place = difference(expected, found, trace.policies.get(CUT))
        if place is not None and not _compacted(trace, request, expected, found):
            right = [*map(line, [*found[:place], *expected[place:]])]
            yield Finding(request.at, _told(place, expected, found), right, [*map(line, found)])
            return


@run_law("X-D1", evidence="a request", needs=("policy system", "model-input"), since="0.2")
def system_shown(trace: RuntimeTrace) -> Judgement:
    """Each request shows the texts that the runtime declares for the role ``system``, alone or within others."""
    declared = trace.policies.get(_SYSTEM, ())
    texts = [declared] if isinstance(declared, str) else [*declared]
    for request in trace.requests:
        if request.input is None:
            continue
        yield WITNESS
        shown = [str(entry.get("text")) for entry in request.input if entry.get("role") == "system"]
        missing = [text for text in texts if not any(text in one for one in shown)]
        if missing:
            yield Finding(request.at, f"a request lacks {_brief(missing[0])!r}, which system declares", texts, shown)


def histories(trace: RuntimeTrace, policies: Mapping[str, Any]) -> Iterator[tuple[Request, list[Shown], list[Shown]]]:
    """Yield the requests that show their input, each with what it has to show under *policies*, and what it shows."""
    for one in views(trace, policies):
        yield one.asked.request, one.arranged(one.asked.history), one.found


class View(NamedTuple):
    """A request that shows its input: what was asked, what it shows, and the arrangement of what it has to show."""

    asked: Asked
    found: list[Shown]
    arranged: Callable[[Sequence[Entry]], list[Shown]]


def views(trace: RuntimeTrace, policies: Mapping[str, Any]) -> Iterator[View]:
    """Yield the requests that show their input.

    ``system`` is the runtime's own, and an empty text says nothing. A call whose arguments are no JSON is left out
    with its result: a runtime reports it in its own way, and in its own place. So are calls whose id recurs, and where
    one does, those of ids that the model did not choose: ``ids_never_mixed`` judges them. That a call got no
    result at all is the business of ``input_well_formed``.
    """
    items = [one.item for step in trace.of(ModelOutput) for one in [step.stimulus] if isinstance(one, ModelOutput)]
    calls = [one for one in items if isinstance(one, ToolCall)]
    made = Counter(call.call_id for call in calls)
    unusable = {call.call_id for call in calls if malformed(call.arguments) or made[call.call_id] > 1}
    renamed = max(made.values(), default=0) > 1
    own = {None, *made}
    merged = policies.get("adjacent") == "merged"
    for one_asked in asked(trace, policies):
        given = one_asked.request.input
        if given is None:
            continue
        found = [_entry(raw) for raw in given if raw.get("role") != "system"]
        found = [one for one in found if one.call_id is not None or one.role != "assistant" or one.text]
        found = [one for one in found if one.call_id not in unusable and not (renamed and one.call_id not in own)]
        answered = {one.call_id for one in found if one.role == "tool"}

        def right(history: Sequence[Entry], answered: Collection[str | None] = answered) -> list[Shown]:
            return arranged((one for one in history if _told_of(one.shown, unusable, answered)), policies)

        yield View(one_asked, joined(found) if merged else found, right)


def _told_of(shown: Shown, unusable: Collection[str], answered: Collection[str | None]) -> bool:
    """Return whether an entry can be compared: no call that is unusable, and no result of its own that never came."""
    if shown.call_id in unusable:
        return False
    return shown.role != "tool" or shown.text is not None or shown.call_id in answered


def _entry(raw: Mapping[str, Any]) -> Shown:
    text, name = raw.get("text"), raw.get("callId")
    return Shown(
        role=raw.get("role", "user"),
        text=text if text is None else str(text),
        ids=tuple(map(str, raw.get("ids") or ())),
        call_id=name if name is None else str(name),
        tool=raw.get("tool"),
        arguments=raw.get("arguments"),
        is_error=raw.get("isError"),
    )


def difference(expected: Sequence[Shown], found: Sequence[Shown], most: int | None = None) -> int | None:
    """The first place where what is shown is not what was said, results cut at *most*; None where it is the same."""
    for place, (right, one) in enumerate(zip_longest(expected, found)):
        if right is None or one is None or not _same(right, one, most):
            return place
    return None


def line(shown: Shown) -> str:
    """An entry in words.

    >>> line(Shown(role="tool", call_id="c1", text="no such file", is_error=True))
    'result c1: no such file (an error)'
    """
    match shown:
        case Shown(role="tool", call_id=name, text=text, is_error=failed):
            told = "the runtime's own words" if text is None else text
            return f"result {name}: {told}{' (an error)' if failed else ''}"
        case Shown(role="assistant", call_id=str(name), tool=tool, arguments=arguments):
            return f"call {name}: {tool} {json.dumps(arguments, ensure_ascii=False)}"
        case Shown(role=role, text=text):
            return f"{role}: {text}"


def _told(place: int, expected: Sequence[Shown], found: Sequence[Shown]) -> str:
    right = line(expected[place]) if place < len(expected) else "nothing more"
    shown = line(found[place]) if place < len(found) else "nothing more"
    return f"entry {place} of what the model is shown is {_brief(shown)!r}, where it has to be {_brief(right)!r}"


def _brief(text: str) -> str:
    return text if len(text) <= _BRIEF else f"{text[:_BRIEF]}… ({len(text):,} characters)"


def _same(right: Shown, one: Shown, most: int | None) -> bool:
    """Return whether an entry shows what is right, whole; a tool's output may stand within the runtime's own words."""
    if right.role != one.role or right.call_id != one.call_id:
        return False
    if right.role == "user":
        if one.ids:  # known by its id: the runtime may have added to its text, a time or a sender
            return right.ids == one.ids and (one.text is None or _text(right) in _text(one))
        return right.text is None or _text(right) == _text(one)
    if right.role == "tool":
        marked = right.is_error is None or right.is_error == bool(one.is_error)
        return marked and (right.text is None or _returned(right.text, one.text or "", most))
    if right.call_id is None:
        return _text(right) == _text(one)
    named = one.tool is None or one.tool == right.tool
    return named and (one.arguments is None or same_arguments(right.arguments, one.arguments))


def _returned(text: str, shown: str, most: int | None) -> bool:
    """Return whether a tool's output is shown, with any words around: all, or *most* characters of a longer one."""
    if most is None or len(text) <= most:
        return text in shown
    return most <= characters_of(text, shown) <= most + _CHANCE


def _text(shown: Shown) -> str:
    """A text without its blanks: who joins two texts chooses what stands between them."""
    return "".join((shown.text or "").split())


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


def _compacted(trace: RuntimeTrace, request: Request, expected: Sequence[Shown], found: Sequence[Shown]) -> bool:
    """True where the history is over its bound, and what is left of it is whole, from a user's message on (RS-3.1).

    The length of a history cannot be seen: it is at most the number of entries that were logged until then.
    """
    bound = trace.policies.get(_BOUND)
    if found and found[0].role == "assistant" and (found[0].text or "").startswith(_SUMMARY):
        found = found[1:]
    left = expected[len(expected) - len(found) :]
    logged = sum(event.get("type") in _ENTRIES for event in trace.log[: request.at])
    return (
        bound is not None
        and logged > bound
        and 0 < len(found) <= len(expected)
        and left[0].role == "user"
        and difference(left, found, trace.policies.get(CUT)) is None
    )
