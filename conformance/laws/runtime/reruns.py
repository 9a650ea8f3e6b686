"""Relation laws on a runtime: apply the same word again, or a changed one, and compare the two observations."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import takewhile
from typing import Any, Final, Literal, cast
from zlib import crc32

from msgspec import convert, to_builtins
from msgspec.structs import replace

from turncheck.model.core.stimuli import Abort, ModelFail, ModelOutput, ModelStop, Step, Stimulus, Text, User

from ...observe.compactions import for_compaction
from ...observe.runtime_trace import Again, Applied, ObservedStep, RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from .subject import Rerun, relation_law

_UNSEEN: Final = ("timestamp", "seq")

_IDS: Final = {"id", "callId"}

_OWN: Final = {*_IDS, "text", "output", "message"}
"""The fields of a stimulus whose strings the environment chose."""

_CONTROL: Final = ("stop", "cancelled", "TERMINATE", "[DONE]", "Error: failed", "null", "/abort", "interrupted", "</s>")
"""Texts that a runtime could take for a command or a sign."""

_WHOLE: Final = r"(?<![\w-])(?:{})(?![\w-])"


@relation_law("X-2", "BED-001b", evidence="a word applied twice", overlapping="whole")
def run_deterministic(rerun: Rerun) -> Judgement:
    """The same word again, in a runtime that was reset, gives the same."""
    yield from _same(rerun, rerun.again, "the same word again")


@relation_law("X-2", evidence="a word applied in two processes", overlapping="whole")
def run_hash_seed(rerun: Rerun) -> Judgement:
    """A new process with another hash seed gives the same."""
    yield from _same(rerun, rerun.elsewhere, "a process with another hash seed")


@relation_law("RC-2", "X-4", evidence="two ends at one point")
def run_boundary_equivalence(rerun: Rerun) -> Judgement:
    """Runs that complete, are interrupted or fail at one point are followed by the same."""
    trace = rerun.trace
    place = _fork(trace)
    if place is None:
        return
    before = rerun.word[:place]
    after = (User(id="after", text="say after"), ModelOutput(item=Text(text="after all")), ModelStop(reason="end-turn"))
    ends: dict[str, tuple[Stimulus, ...]] = {
        "completed": (ModelOutput(item=Text(text="until here")), ModelStop(reason="end-turn"))
    }
    if "abort" in trace.capabilities:
        ends["interrupted"] = (Abort(),)
    if "model-failure" in trace.capabilities and not trace.policies.get("retries"):
        ends["error"] = (ModelFail(failure="fatal"),)
    seen: dict[str, list[str]] = {}
    applied: dict[str, tuple[Applied, ...]] = {}
    for reason, end in ends.items():
        found = rerun.again((*before, *end, *after), trace.options).trace
        if len(found.steps) != len(before) + len(end) + len(after) or found.steps[-len(after)].was_active:
            continue  # unsettled, or not ended: other laws' business
        log = found.log[found.steps[-len(after)].first : found.steps[-1].end]
        if any(map(for_compaction, log)):
            continue  # its history is long enough for one: which length that is, the end of a run may decide
        seen[reason] = [_shape(event) for event in log if event.get("type") != "native"]
        applied[reason] = rerun.second()
    if len(seen) > 1:
        yield WITNESS
    first: list[str] = next(iter(seen.values()), list[str]())
    for reason, shape in seen.items():
        if shape != first:
            yield Finding(None, f"what follows a run that is {reason} differs", first, shape, applied[reason])


@relation_law("X-2", evidence="a word with an observer that throws", needs=("observer",), overlapping="whole")
def observer_isolated(rerun: Rerun) -> Judgement:
    """An observer that throws changes nothing."""
    yield from _same(rerun, rerun.again, "an observer that throws", observer="throws")


@relation_law(
    "X-2", "X-7", "BED-011a", evidence="a word with a slow observer", needs=("observer",), overlapping="whole"
)
def slow_consumer_same(rerun: Rerun) -> Judgement:
    """A slow consumer sees the same events as a fast one."""
    yield from _same(rerun, rerun.again, "a slow consumer", observer="slow")


@relation_law("X-8", evidence="a word renamed", overlapping="whole")
def run_opaque(rerun: Rerun) -> Judgement:
    """Other ids and texts give other ids and texts, and nothing else.

    It is judged until a compaction: how much of a history is summed up, the sizes of its texts may decide, of which the
    clause does not speak.
    """
    steps = [*takewhile(lambda step: not _compacts(rerun.trace, step), rerun.trace.steps)]
    expected = [_plain(step.answer) for step in steps]
    names = _other_names(to_builtins(rerun.word), str(expected))
    if not names or not steps:
        return
    yield WITNESS
    word = convert(_renaming(names)(to_builtins(rerun.word)), tuple[Stimulus, ...])
    found = rerun.again(word, rerun.trace.options)
    back = _renaming({renamed: name for name, renamed in names.items()})
    whole = len(steps) == len(rerun.trace.steps)
    again = [back(_plain(one.step)) for one in found.applied[: None if whole else len(steps)]]
    if again != expected:
        place = next((at for at, (one, other) in enumerate(zip(expected, again, strict=False)) if one != other), 0)
        here = slice(place, place + 1)
        said = "renamed ids and texts change more than names"
        yield Finding(None, said, expected[here], again[here], rerun.second()[: place + 1])


def _compacts(trace: RuntimeTrace, step: ObservedStep) -> bool:
    return any(map(for_compaction, trace.log[step.first : step.end]))


def _same(rerun: Rerun, again: Again, what: str, *, observer: Literal["throws", "slow"] | None = None) -> Judgement:
    """Apply the word again, and compare step by step; with an *observer*, what that gets is compared."""
    yield WITNESS
    trace, shown = rerun.trace, _plain if observer is None else _consumed
    other = again(rerun.word, trace.options if observer is None else replace(trace.options, observer=observer))
    for place, (first, second) in enumerate(zip(trace.steps, other.applied, strict=False), 1):
        one, two = shown(first.answer), shown(second.step)
        if one != two:
            at = max(first.end - 1, 0)
            yield Finding(at, f"{what} gives something else", one, two, rerun.second()[:place])
            return
    if len(trace.steps) != len(other.applied):
        yield Finding(None, f"{what} ends elsewhere", len(trace.steps), len(other.applied), rerun.second())


def _plain(step: Step) -> Any:
    """A step as JSON, without times."""
    answer = to_builtins(step)
    events: list[dict[str, Any]] = [event for event in step.events if isinstance(event, dict)]
    answer["events"] = [{key: value for key, value in event.items() if key not in _UNSEEN} for event in events]
    return answer


def _consumed(step: Step) -> Any:
    """A step as a consumer sees it: without native events, and with requests to the model apart.

    The adapter logs a request when the model is asked; where that stands among what the consumer gets says nothing.
    """
    answer = _plain(step)
    requests = [event for event in answer["events"] if event.get("type") == "model-request"]
    rest = [event for event in answer["events"] if event.get("type") not in {"native", "model-request"}]
    return {**answer, "events": rest, "requests": requests}


def _fork(trace: RuntimeTrace) -> int | None:
    """The last place where the only thing open is a request that is not answered yet, and no message waits."""
    for place in range(len(trace.steps), 0, -1):
        step = trace.steps[place - 1]
        asked = [one.at for one in trace.requests if step.first <= one.at < step.end]
        if asked and step.active and not step.closing and not step.tools() and not _waiting(trace, asked[-1], step.end):
            return place
    return None


def _waiting(trace: RuntimeTrace, at: int, end: int) -> bool:
    """True if a message before *end* waits for a later run than the one that is open *at*, or steers after that."""
    now = trace.cycle_at(at)
    return any(
        place < end and (not 0 <= trace.message_cycles[name] <= now or place > at)
        for name, place in trace.messages.items()
    )


def _shape(event: Any) -> str:
    return " ".join(str(event.get(key)) for key in ("type", "kind", "reason", "text") if event.get(key) is not None)


def _other_names(word: Any, log: str) -> dict[str, str]:
    """Each id of the word → another one; each text and output → a sign from ``_CONTROL``, as far as they go.

    A sign that stands in the *log* already is left out, since the runtime may have written it itself.
    """
    ids: dict[str, None] = {}
    texts: dict[str, None] = {}

    def gather(value: Any, key: str = "") -> None:
        if isinstance(value, dict):
            for name, part in cast("dict[str, Any]", value).items():
                gather(part, name)
        elif isinstance(value, list | tuple):
            for part in cast("Sequence[Any]", value):
                gather(part, key)
        elif isinstance(value, str) and key in _OWN:
            (ids if key in _IDS else texts)[value] = None

    gather(word)
    signs = [one for one in _CONTROL if not re.search(_WHOLE.format(re.escape(one)), log)]
    turn = crc32("".join(texts).encode()) % len(_CONTROL)  # so that any text may say any of them
    says = [*signs[turn:], *signs[:turn]]
    found = {name: f"o{name}" for name in ids} | {name: f"({name})" for name in texts if name not in ids}
    control = dict(zip((name for name in texts if name not in ids), says, strict=False))
    # A runtime may join two texts of the model; in brackets they can be told apart.
    return found | {name: f"({sign})" if name.endswith(".") else sign for name, sign in control.items()}


def _renaming(names: Mapping[str, str]) -> Callable[[Any], Any]:
    """A function that renames *names* in all strings of a value: whole strings, and whole words within a string."""
    longest = sorted(names, key=len, reverse=True)
    within = re.compile(_WHOLE.format("|".join(map(re.escape, longest))))

    @cache
    def text(value: str) -> str:
        return within.sub(lambda found: names[found[0]], value)

    def rename(value: Any) -> Any:
        if isinstance(value, str):
            return text(value)
        if isinstance(value, dict):
            return {key: rename(part) for key, part in cast("dict[str, Any]", value).items()}
        if isinstance(value, list | tuple):
            parts = [rename(part) for part in cast("Sequence[Any]", value)]
            return parts if isinstance(value, list) else tuple(parts)
        return value

    return rename
