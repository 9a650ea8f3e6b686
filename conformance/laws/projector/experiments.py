"""Relation laws on a projector: observe it again, on a changed log or in parts, and compare the answers.

They need no oracle.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any, Final, TypeAlias, cast, get_args

import msgspec
from msgspec.structs import replace

from turncheck.model.core.cycles import CycleViews, Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.events import StopReason, symbol_of

from ..law import WITNESS, Finding, Judgement
from .answers import same
from .subject import Experiment, Json, relation_law


@relation_law("X-2", evidence="a log fed in two chunks", needs=("feed",))
def chunking(experiment: Experiment) -> Judgement:
    """Fed at once, one by one, or in any chunks: the projection is the same."""
    log, cuts = experiment.log, experiment.cuts
    whole = experiment.declared()
    chunks = [log[start:end] for start, end in zip((0, *cuts), (*cuts, len(log)), strict=True)]
    for name, parts, asking in (
        ("one by one", [[event] for event in log], False),
        ("in chunks", chunks, False),
        ("in chunks, and asked after each,", chunks, True),
    ):
        if len(parts) > 1:
            yield WITNESS
            yield from same(whole, experiment.fed(parts, asking), f"fed {name}")


@relation_law("L-N4", evidence="a log of which a part was fed again", needs=("feed", "repeats"), since="0.2")
def redelivery_changes_nothing(experiment: Experiment) -> Judgement:
    """Given a stream again, from its start or from a point in its middle, a projector shows what it showed before."""
    log, whole = experiment.log, experiment.declared()
    middle = next((cut for cut in experiment.cuts if cut), 0)
    for cut, start in ((len(log), 0), (middle, middle // 2)):
        if cut:
            yield WITNESS
            parts = [(0, log[:cut]), (start, log[start:])]
            yield from same(whole, experiment.fed_from(parts), f"fed {cut} events, and then all from event {start} on")


@relation_law("RC-5.3", "RC-7.4", "RC-D9", evidence="a cycle closed before the log's end")
def closed_final(experiment: Experiment) -> Judgement:
    """A closed cycle is final: later events do not change it."""
    stops = [cycle.stop + 1 for cycle in experiment.first.cycles if cycle.stop is not None]
    for cut in sorted({*experiment.cuts, *stops} & set(range(len(experiment.log)))):
        before = [cycle for cycle in experiment.observe(experiment.log[:cut]).cycles if cycle.stop is not None]
        if before:
            yield WITNESS
        after = list(experiment.first.cycles[: len(before)])
        if before != after:
            yield Finding(cut, f"the cycles closed by position {cut} changed when the log went on", before, after)


@relation_law(
    "L-S1", evidence="a log of a sub-agent beside the session's own agent", needs=("sub-agents",), since="0.2"
)
def agents_kept_apart(experiment: Experiment) -> Judgement:
    """How the events of a session's agents interleave changes no agent's view: each shows its own events alone.

    Two sub-agents do what the log's agent does, with the same ids; nobody but the ``agentId`` tells them apart.
    """
    if not experiment.log:
        return
    alone = experiment.observe(_objects(experiment.log))
    for name, order in _interleavings(experiment.log, experiment.cuts):
        yield WITNESS
        observed = experiment.observe([event for _, event in order])
        for agent in (None, *_AGENTS):
            own = observed if agent is None else observed.agents.get(agent, _NOTHING)
            places = [place for place, (whose, _) in enumerate(order) if whose == agent]
            expected = _placed(experiment.first if agent is None else alone, places)
            whose = "the session's own agent" if agent is None else f"the sub-agent {agent}"
            yield from same(expected, own, f"{whose}, {name}, shows other than its own events")
        if more := observed.agents.keys() - {*_AGENTS}:
            yield Finding(None, "an agent is shown that no event names", [*_AGENTS], sorted(more))


_AGENTS: Final = ("a", "b")
_NOTHING: Final = Projection((), (), (), ())
_Order: TypeAlias = Sequence[tuple[str | None, Json]]
"""Events of several agents in one log, each with its agent."""


def _interleavings(log: Sequence[Json], cuts: Sequence[int]) -> Iterator[tuple[str, _Order]]:
    """Yield logs in which sub-agents do what *log* does: in turns, one after the other, and all amid the first."""
    own: _Order = [(None, event) for event in log]
    first, second = ([(name, {**event, "agentId": name}) for event in _objects(log)] for name in _AGENTS)
    turns = [one for some in zip_longest(own, first, second) for one in some if one is not None]
    cut = max(cuts, default=0)
    yield "in turns", turns
    yield "before the others", [*own, *first, *second]
    yield "around the others", [*own[:cut], *second, *first, *own[cut:]]


def _objects(log: Sequence[Json]) -> list[Json]:
    """The events that can name an agent."""
    return [event for event in log if isinstance(event, dict)]


def _placed(projection: Projection, places: Sequence[int]) -> Projection:
    """Return the projection of an agent's events in a log where they stand at *places*."""
    moved = _moved(msgspec.to_builtins(replace(projection, agents={})), places)
    return msgspec.convert(moved, Projection)


def _moved(value: Any, places: Sequence[int]) -> Any:
    if isinstance(value, int):  # every number of a projection is a position
        return places[value]
    if isinstance(value, dict):
        return {key: _moved(one, places) for key, one in cast("dict[str, Any]", value).items()}
    return [_moved(one, places) for one in cast("list[Any]", value)] if isinstance(value, list | tuple) else value


_REASONS: Final = get_args(StopReason)


@relation_law("RC-2", "X-4", evidence="a stop whose reason was exchanged")
def boundary_equivalence(experiment: Experiment) -> Judgement:
    """Exchanging stop reasons of equal policy changes reasons and nothing else."""
    fates = experiment.policies.queue_fate()
    for turn in (1, 2):
        exchange: dict[str, str] = {}
        for reason in _REASONS:
            equal = [other for other in _REASONS if fates[other] == fates[reason]]
            exchange[reason] = equal[(equal.index(reason) + turn) % len(equal)]
        changed = [_exchanged(event, exchange) for event in experiment.log]
        if changed == list(experiment.log):
            continue
        if any(cycle.reason for cycle in experiment.first.cycles):
            yield WITNESS
        expected = [_with_reason(cycle, exchange) for cycle in experiment.first.cycles]
        observed = experiment.observe(changed)
        rest = (experiment.first.queued, experiment.first.dropped, experiment.first.anomalies)
        if [*observed.cycles] != expected or (observed.queued, observed.dropped, observed.anomalies) != rest:
            names = ", ".join(f"{old} → {new}" for old, new in exchange.items() if old != new)
            yield Finding(None, f"with {names} more changed than the reasons", expected, observed.cycles)


def _exchanged(event: Json, exchange: Mapping[str, str]) -> Json:
    return {**event, "reason": exchange[event["reason"]]} if symbol_of(judge(event)) == "run-stop" else event


def _with_reason(cycle: CycleViews, exchange: Mapping[str, str]) -> CycleViews:
    reason: Any = None if cycle.reason is None else exchange[cycle.reason]
    return replace(cycle, reason=reason)


_IDS: Final = ("id", "callId", "responseId")
_NAMES: Final = ("constructor", "__proto__", "")
_TEXTS: Final = ("text", "detail")
_CONTROL: Final = ("run-stop", "[cancelled]", "", "tool-result", "idle", "None", "\u2028", '{"type": "run-stop"}')
_VALUES: Final = ("output", "arguments")
_FREE: Final[tuple[Json, ...]] = ({"type": "run-stop", "reason": "error"}, "[cancelled]", [], {"isError": True}, 0)


@relation_law("X-8", evidence="an id")
def opaque_ids(experiment: Experiment) -> Judgement:
    """Renaming ids changes nothing but the ids."""
    names: dict[str, str] = {}

    def rename(event: Json) -> Json:
        ids = {key: value for key, value in _fields(event).items() if key in _IDS and isinstance(value, str)}
        return event | {key: names.setdefault(value, _name(len(names))) for key, value in ids.items()} if ids else event

    renamed = [rename(event) for event in experiment.log]
    if names:
        yield WITNESS
        yield from same(experiment.first, experiment.observe(renamed), "with other ids")


@relation_law("X-8", evidence="a text")
def opaque_texts(experiment: Experiment) -> Judgement:
    """Changing texts, arguments and outputs changes nothing else: state never comes from content."""
    changed: list[Json] = []
    for place, event in enumerate(experiment.log):
        fields = _fields(event)
        texts = {key: _CONTROL[place % len(_CONTROL)] for key in _TEXTS if isinstance(fields.get(key), str)}
        values = {key: _FREE[place % len(_FREE)] for key in _VALUES if key in fields}
        parts = (
            {"content": [{"type": "run-stop"}, *fields["content"]]} if isinstance(fields.get("content"), list) else {}
        )
        changed.append({**fields, **texts, **values, **parts} if fields else event)
    if changed != list(experiment.log):
        yield WITNESS
        yield from same(experiment.first, experiment.observe(changed), "with other texts")


@relation_law("RC-7.6", evidence="an input that can be looked at afterwards")
def input_untouched(experiment: Experiment) -> Judgement:
    """The events that are given to a projector are left as they are."""
    changed = experiment.input_changed()
    if changed is not None and experiment.log:
        yield WITNESS
    if changed:
        yield Finding(None, "the projector changed its input")


def _fields(event: Json) -> dict[str, Json]:
    """The fields of an event; none where it is no object."""
    return event if isinstance(event, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _name(number: int) -> str:
    """Names with a meaning in programming languages, then long ones that sort the other way round."""
    return _NAMES[number] if number < len(_NAMES) else f"{9999 - number} {'long ' * 12}"
