"""Relation laws on a projector: two observations compared. They need no oracle, but a way to observe again."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, get_args

from msgspec.structs import replace

from turncheck.model.core.cycles import CycleViews, Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.events import StopReason, symbol_of
from turncheck.model.core.policies import Policies

from .law import WITNESS, Finding, Judgement

Json: TypeAlias = Any
Observe: TypeAlias = Callable[[Sequence[Json]], Projection]


@dataclass(frozen=True)
class Experiment:
    """One log, and the ways to observe the target on logs under the same policies.

    ``elsewhere`` observes in another process with another hash seed; ``fed`` feeds chunk by chunk, asking in between if
    told so, and then asks, under the policies that the target declares, as ``declared`` observes; ``input_changed``
    says whether an observation of this log so far changed what it was given, None where that cannot be seen.
    """

    log: Sequence[Json]
    policies: Policies
    cuts: Sequence[int]
    first: Projection
    observe: Observe
    elsewhere: Observe
    declared: Callable[[], Projection]
    fed: Callable[[Sequence[Sequence[Json]], bool], Projection]
    input_changed: Callable[[], bool | None]


def _same(expected: Projection, observed: Projection, message: str) -> Iterator[Finding]:
    for part in ("cycles", "queued", "dropped", "anomalies"):
        if getattr(expected, part) != getattr(observed, part):
            yield Finding(None, f"{message}: {part} differ", getattr(expected, part), getattr(observed, part))
            return


def total(_: Experiment) -> Judgement:
    """The projection is total: it answers on every input (RC-D4). Judged by the runner: a refusal never gets here."""
    yield WITNESS


def input_untouched(experiment: Experiment) -> Judgement:
    """The events that are given to a projector are left as they are (RC-7.6)."""
    changed = experiment.input_changed()
    if changed is not None and experiment.log:
        yield WITNESS
    if changed:
        yield Finding(None, "the projector changed its input")


def deterministic(experiment: Experiment) -> Judgement:
    """The same log twice gives the same projection twice (RC-7.6, X-2)."""
    if experiment.log:
        yield WITNESS
    yield from _same(experiment.first, experiment.observe(experiment.log), "asked again")


def hash_seed(experiment: Experiment) -> Judgement:
    """A new process under another hash seed gives the same projection (RC-7.6, X-2)."""
    if experiment.log:
        yield WITNESS
    yield from _same(experiment.first, experiment.elsewhere(experiment.log), "asked in another process")


def chunking(experiment: Experiment) -> Judgement:
    """Fed at once, one by one, or in any chunks: the projection is the same (X-2)."""
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
        yield from _same(whole, experiment.fed(parts, asking), f"fed {name}")


def closed_final(experiment: Experiment) -> Judgement:
    """A closed cycle is final: what the log says later does not change it (RC-5.3, RC-7.4)."""
    stops = [cycle.stop + 1 for cycle in experiment.first.cycles if cycle.stop is not None]
    for cut in sorted({*experiment.cuts, *stops} & set(range(len(experiment.log)))):
        before = [cycle for cycle in experiment.observe(experiment.log[:cut]).cycles if cycle.stop is not None]
        if before:
            yield WITNESS
        after = list(experiment.first.cycles[: len(before)])
        if before != after:
            yield Finding(cut, f"the cycles closed by position {cut} changed when the log went on", before, after)


_REASONS: Final = get_args(StopReason)


def boundary_equivalence(experiment: Experiment) -> Judgement:
    """Exchanging stop reasons of equal policy changes reasons and nothing else (RC-2, X-4)."""
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
        if list(observed.cycles) != expected or (observed.queued, observed.dropped, observed.anomalies) != rest:
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


def _fields(event: Json) -> dict[str, Json]:
    """Those of an event, none where it is no object."""
    return event if isinstance(event, dict) else {}  # pyright: ignore[reportUnknownVariableType]


def _name(number: int) -> str:
    """Names that mean something to languages, then long ones; in an order that is not the original one."""
    return _NAMES[number] if number < len(_NAMES) else f"{9999 - number} {'long ' * 12}"


def opaque_ids(experiment: Experiment) -> Judgement:
    """Renaming ids changes nothing but the ids (X-8)."""
    names: dict[str, str] = {}

    def rename(event: Json) -> Json:
        fields = _fields(event)
        other = {
            key: names.setdefault(value, _name(len(names))) if key in _IDS and isinstance(value, str) else value
            for key, value in fields.items()
        }
        return other or event

    renamed = [rename(event) for event in experiment.log]
    if names:
        yield WITNESS
        yield from _same(experiment.first, experiment.observe(renamed), "with other ids")


def opaque_texts(experiment: Experiment) -> Judgement:
    """Changing texts, arguments and outputs changes nothing else: state never comes from content (X-8)."""
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
        yield from _same(experiment.first, experiment.observe(changed), "with other texts")
