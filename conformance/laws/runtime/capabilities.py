"""Laws on capabilities that no machine's rows cover: images, usage, sessions, persistence."""

from collections.abc import Sequence
from typing import Any, Final, cast

from msgspec.structs import replace

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelFail,
    ModelOutput,
    ModelStop,
    Step,
    Stimulus,
    Text,
    TimerAwaited,
    Together,
    ToolFail,
    ToolReturn,
    User,
    image_count,
    unnamed,
)

from ...observe.runtime_trace import Applied, RuntimeTrace, flat
from ..law import WITNESS, Finding, Judgement
from .subject import Rerun, relation_law, run_law


@run_law("BED-013a", evidence="a request that counts images", needs=("images", "model-input"), since="0.2")
def images_shown(trace: RuntimeTrace) -> Judgement:
    """A message's images are shown to the model, all of them."""
    counts = {name: image_count(user.content) for name, user in trace.sent.items()}
    sent = {name: count for name, count in counts.items() if count}
    for request in trace.requests:
        for entry in request.input or ():
            ids, text, count = entry.get("ids") or (), entry.get("text"), entry.get("images")
            names = [name for name in sent if name in ids or trace.sent[name].text == text]
            if not names or count is None:
                continue  # an adapter that does not count images shows nothing
            wanted = sum(sent[name] for name in names)
            yield WITNESS
            if count != wanted:
                yield Finding(request.at, "a message's images are not what the model is shown", wanted, count)


@run_law("EF-6", "BED-012a", evidence="a response with usage", needs=("usage",), since="0.2")
def usage_told(trace: RuntimeTrace) -> Judgement:
    """The usage that the model reports is told again, in an event."""
    for response in trace.whole_responses():
        step = response.end
        usage = getattr(step and step.stimulus, "usage", None)
        if step is None or usage is None or not response.items:  # an empty response may leave no event to carry it
            continue
        yield WITNESS
        cycle = trace.cycle_before(step)
        stop = trace.cycles[cycle].stop if cycle >= 0 else None
        until = step.end if stop is None else max(stop + 1, step.end)
        if not any(event.get("usage") == usage for event in trace.log[step.first : until]):
            yield Finding(max(step.end - 1, 0), "the usage that the model reports is told nowhere", usage, None)


@relation_law("X-7", "BED-001b", evidence="a word in two sessions", needs=("sessions",), since="0.2")
def sessions_independent(rerun: Rerun) -> Judgement:
    """A word in one session gives the same, whatever another session does between its stimuli."""
    word = tuple(map(unnamed, rerun.word))
    if not word or any(isinstance(stimulus, Advance) for stimulus in word):
        return  # all sessions share the clock
    alone = rerun.answers([_in_session(one, "a") for one in word], rerun.trace.options)
    if len(alone) == len(word):  # else no quiet: another law judges that
        for kinds in ((User, Abort), (User, Abort, ModelOutput, ModelStop, ModelFail, ToolReturn, ToolFail)):
            yield from _beside(rerun, word, alone, kinds)


def _beside(
    rerun: Rerun, word: Sequence[Stimulus], alone: Sequence[Step], kinds: tuple[type[Stimulus], ...]
) -> Judgement:
    """Compare session ``a`` *alone* with itself beside a session ``b``, which gets the stimuli of *kinds* first.

    Without answers the runs of ``b`` stay open; with them it has requests and calls of its own, under the same ids.
    """
    mixed: list[tuple[str, Stimulus]] = []
    for one in word:
        mixed += [("b", _in_session(_other(each), "b")) for each in flat(one) if isinstance(each, kinds)]
        mixed.append(("a", _in_session(one, "a")))
    together = rerun.answers([stimulus for _, stimulus in mixed], rerun.trace.options)
    if len(together) < len(mixed):
        return
    if any(isinstance(one, TimerAwaited) for step in (*alone, *together) for one in step.awaiting):
        return  # the clock is one for all
    yield WITNESS
    expected = iter(alone)
    for place, ((session, _), step) in enumerate(zip(mixed, together, strict=True), 1):
        wanted, came = (_seen(next(expected)), _seen(step)) if session == "a" else (_NOTHING, _of_a(step))
        if wanted != came:
            again = tuple(Applied(one, each) for (_, one), each in zip(mixed[:place], together, strict=False))
            yield Finding(None, "what another session does changes this one", wanted, came, again)
            return


@relation_law(
    *("BED-007b", "BED-007c"), evidence="a kill after a run", needs=("persistence",), each_word=True, since="0.2"
)
def restart_remembers(rerun: Rerun) -> Judgement:
    """After a kill and a restart between runs, the model is shown what it would be shown without them."""
    steps = [step for step in rerun.trace.steps if not step.closing]
    if not 0 < len(steps) <= _SHORT or steps[-1].active or not rerun.trace.stops_within(steps[-1]):
        return
    word = tuple(step.stimulus for step in steps)
    after = User(id="after", text="say after")
    expected = _input(rerun.answers((*word, after), rerun.trace.options)[-1:])
    restarted = rerun.restarted(word, (after,), rerun.trace.options)
    observed = _input(restarted[len(word) :])
    if expected is None or len(restarted) <= len(word):  # no quiet: another law's business
        return
    yield WITNESS
    if observed != expected:
        again = tuple(
            Applied(one, step, restarted=one is after) for one, step in zip((*word, after), restarted, strict=False)
        )
        yield Finding(None, "after a restart the model is shown something else", expected, observed, again)


_NOTHING: Final[list[Any]] = []
_SHORT = 3
"""Stimuli of a word that is followed by a kill. Each kill costs a start of the process: 5 s for OpenAI Agents on a
busy machine, which has 41 such words of four stimuli among 233."""


def _in_session(stimulus: Stimulus, name: str) -> Stimulus:
    if isinstance(stimulus, Together):
        inner = tuple(replace(one, session_id=name) for one in stimulus.stimuli)
        return replace(stimulus, session_id=name, stimuli=inner)
    return replace(stimulus, session_id=name)


def _other(stimulus: Stimulus) -> Stimulus:
    """Return the stimulus with other texts than those of the first session; a message has another id too."""
    match stimulus:
        case User(id=name, text=text):
            return replace(stimulus, id=f"other {name}", text=f"other {text}")
        case ModelOutput(item=Text(text=text)):
            return replace(stimulus, item=Text(text=f"other {text}"))
        case ToolReturn(output=str(text)):
            return replace(stimulus, output=f"other {text}")
        case _:
            return stimulus


def _of_a(step: Step) -> list[dict[str, Any]]:
    """Return the events of session ``a``."""
    events = [cast("dict[str, Any]", event) for event in step.events if isinstance(event, dict)]
    return [event for event in events if event.get("sessionId") == "a"]


def _seen(step: Step) -> Any:
    """Return a step of session ``a`` without the ids of requests and executions, which sessions may count together."""
    told = ("type", "kind", "id", "text", "reason", "delivery", "callId", "tool", "arguments", "output", "isError")
    return {
        "events": [{name: event[name] for name in told if name in event} for event in _of_a(step)],
        "awaiting": sorted(type(one).__name__ for one in step.awaiting if one.session_id == "a"),
        "refused": None if step.refused is None else step.refused.why,
    }


def _input(steps: Sequence[Step]) -> Any:
    """Return the model's context in the last request of *steps*, without ids; None if no step shows it."""
    requests = [cast("dict[str, Any]", event) for step in steps for event in step.events if isinstance(event, dict)]
    shown = [event["input"] for event in requests if event.get("type") == "model-request" and "input" in event]
    if not shown:
        return None
    return [{name: value for name, value in entry.items() if name != "ids"} for entry in shown[-1]]
