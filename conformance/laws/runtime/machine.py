"""Laws that compare a runtime with a machine: step by step, or over the finite alphabet of a suite."""

from collections.abc import Collection, Mapping, Sequence, Set
from typing import Any, Final

from msgspec import to_builtins

from turncheck.model.core.stimuli import Awaited, ModelAwaited, ModelOutput, Step, TimerAwaited, ToolCall, unnamed

from ...observe.runtime_trace import flat
from ..law import WITNESS, Finding, Judgement
from .contract import needs
from .subject import Rerun, relation_law

_SAID: Final[Mapping[str, Sequence[str]]] = {
    "user-message": ("id", "text", "delivery"),
    "model-request": (),
    "agent-output": ("kind", "text", "callId", "tool", "arguments"),
    "tool-result": ("callId", "isError"),
    "run-stop": ("reason",),
}
"""Type of a log event → the fields that the machine decides.

Names of requests and responses, details and the texts of synthetic results are an implementation's own."""

_SEEN: Final = ("user", "tool")
"""The roles whose entries are compared; an implementation may divide an assistant's turns differently."""

_AWAITED: Final = ("kind", "callId", "cancelled", "in")


@relation_law("X-D1", evidence="a word applied to the reference as well", needs=("machine",), each_word=True)
def equals_machine(rerun: Rerun) -> Judgement:
    """Every settled step is that of the machine which the runtime claims to be."""
    if rerun.reference is None:
        return
    options = rerun.trace.options
    expected = rerun.reference([unnamed(one) for one in rerun.word], options)
    items = [one.item for stimulus in rerun.word for one in flat(stimulus) if isinstance(one, ModelOutput)]
    given = [item.call_id for item in items if isinstance(item, ToolCall)]
    if options.deaf_model or options.deaf_tools or (options.limits and "limits" not in expected.capabilities):
        return  # the implementation's names alone tell the addressee of a stimulus; and a bound is the machine's own
    if len(given) != len(set(given)):
        return  # an implementation makes a recurring id unique in its own way, and stimuli name it so
    yield WITNESS
    chosen = {*given}
    for ours, theirs in zip(rerun.trace.steps, expected.applied, strict=False):
        if any(needs(one) not in {None, *expected.capabilities} for one in (ours.stimulus, *flat(ours.stimulus))):
            return  # beyond the machine's alphabet: the machine says nothing of the rest
        if _waits(ours.answer) and not _waits(theirs.step):
            return  # how long a runtime waits before it asks again is its own
        seen = all(one.input is not None for one in ours.answer.awaiting if isinstance(one, ModelAwaited))
        observed, right = _plain(ours.answer, chosen, seen=seen), _plain(theirs.step, chosen, seen=seen)
        if observed != right:
            at = ours.end - 1 if ours.end > ours.first else None
            yield Finding(at, "the step is not the one of the machine that is claimed", right, observed)
            return


def _waits(answer: Step) -> bool:
    return any(isinstance(one, TimerAwaited) for one in answer.awaiting)


def _plain(answer: Step, given: Set[str], *, seen: bool) -> dict[str, Any]:
    """A step without the implementation's own names; *given* are the call ids that the environment chose.

    *seen* adds the input of requests, which not every runtime can tell.
    """

    def named(part: Mapping[str, Any], names: Collection[str]) -> dict[str, Any]:
        kept = {name: part[name] for name in names if part.get(name) is not None}
        return kept | ({"callId": "its own"} if kept.get("callId") not in {None, *given} else {})

    def awaited(one: Awaited) -> dict[str, Any]:
        shown = (one.input or ()) if seen and isinstance(one, ModelAwaited) else ()
        entries = [named(to_builtins(entry), ("role", "ids", "callId")) for entry in shown if entry.role in _SEEN]
        return named(to_builtins(one), _AWAITED) | ({"shown": entries} if entries else {})

    events: list[dict[str, Any]] = [event for event in answer.events if isinstance(event, dict)]
    said = [named(event, ("type", *_SAID[event["type"]])) for event in events if event.get("type") in _SAID]
    return {
        "events": said,
        "awaiting": [awaited(one) for one in answer.awaiting],
        "refused": None if answer.refused is None else answer.refused.why,
    }


@relation_law("X-7", evidence="a word of the suite", suite=True, each_word=True)
def equals_model(rerun: Rerun) -> Judgement:
    """Over a finite alphabet, every settled step shows what the model's shows."""
    if rerun.model is None:
        return
    for step, expected, observed in rerun.model(rerun.trace):
        yield WITNESS
        if observed != expected:
            at = step.end - 1 if step.end > step.first else None
            yield Finding(at, "the step is not the model's, over the alphabet of the suite", expected, observed)
            return
