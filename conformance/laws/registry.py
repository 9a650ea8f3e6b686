"""All laws: the one place to add one. The order matters: where several laws break, the first names the failure."""

import re
from collections.abc import Callable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from . import cycles, relations
from .anomalies import ANOMALY_LAWS
from .law import Judgement, Law
from .relations import Experiment
from .trace import Trace

OnTrace: TypeAlias = Callable[[Trace], Judgement]
OnExperiment: TypeAlias = Callable[[Experiment], Judgement]

_CLAUSES: Final = re.compile(r"\b(?:RC|TM|EF|BED|RS|X)-[A-Z]?\d+(?:\.\d+)?[a-z]?\b")


def _named(function: Callable[..., Judgement]) -> tuple[str, tuple[str, ...], str]:
    """A law's name, its clauses and what it says are those of its function and docstring."""
    says = (function.__doc__ or "").strip().splitlines()[0]
    return function.__name__.replace("_", "-"), tuple(_CLAUSES.findall(says)), says.split(" (")[0].rstrip(".")


def _on_trace(function: OnTrace, evidence: str, *needs: str) -> tuple[Law, OnTrace]:
    name, clauses, says = _named(function)
    return Law(name, "log", clauses, says, "projector", evidence, needs), function


def _on_experiment(function: OnExperiment, evidence: str, *needs: str) -> tuple[Law, OnExperiment]:
    name, clauses, says = _named(function)
    return Law(name, "relation", clauses, says, "projector", evidence, needs), function


_TRACE: Final = (
    _on_trace(cycles.one_terminal, "a closed cycle"),
    _on_trace(cycles.one_root, "a cycle"),
    _on_trace(cycles.steer_stays, "a steer"),
    _on_trace(cycles.follow_up_fifo, "a promotion while two follow-ups wait"),
    _on_trace(cycles.queue_fate, "an interrupted or failed stop while a follow-up waits"),
    _on_trace(cycles.one_text_per_block, "an ai-block", "steps"),
    _on_trace(cycles.groups_maximal, "a block with two calls", "steps"),
    _on_trace(cycles.results_attached, "an attached result", "steps"),
    _on_trace(cycles.rounds, "a cycle of two rounds", "rounds"),
    _on_trace(cycles.views_agree, "a cycle with both views", "steps", "rounds"),
    _on_trace(cycles.order, "two positions in one list"),
    _on_trace(cycles.conservation, "an event"),
    _on_trace(cycles.anomalies_exact, "a log with an anomaly"),
)
_EXPERIMENT: Final = (
    _on_experiment(relations.total, "an answer"),
    _on_experiment(relations.deterministic, "a log asked twice"),
    _on_experiment(relations.hash_seed, "a log asked in two processes"),
    _on_experiment(relations.chunking, "a log fed in two chunks", "feed"),
    _on_experiment(relations.closed_final, "a cycle closed before the log's end"),
    _on_experiment(relations.boundary_equivalence, "a stop whose reason was exchanged"),
    _on_experiment(relations.opaque_ids, "an id"),
    _on_experiment(relations.opaque_texts, "a text"),
    _on_experiment(relations.input_untouched, "an input that can be looked at afterwards"),
)
_LAST: Final = _on_trace(cycles.equals_reference, "a log with a cycle")

TRACE_LAWS: Final[Mapping[str, OnTrace]] = {law.name: judge for law, judge in (*_TRACE, _LAST)}
EXPERIMENT_LAWS: Final[Mapping[str, OnExperiment]] = {law.name: judge for law, judge in _EXPERIMENT}

LAWS: Final[Mapping[str, Law]] = {
    law.name: law
    for law in (
        *(law for law, _ in _EXPERIMENT[:3]),
        *(law for law, _ in _TRACE),
        *(law for law, _ in _EXPERIMENT[3:]),
        _LAST[0],
        *ANOMALY_LAWS.values(),
    )
}
"""Name → law."""


def selected(subject: str, patterns: Sequence[str] = ()) -> list[Law]:
    """The laws on *subject* whose names fit one of the glob *patterns* (all, where there is none).

    Raises ValueError for a pattern that fits no law of that subject.
    """
    laws = [law for law in LAWS.values() if law.subject == subject]
    for pattern in patterns:
        if not any(fnmatchcase(law.name, pattern) for law in laws):
            known = ", ".join(law.name for law in laws)
            raise ValueError(f"no law on a {subject} is called {pattern!r}; there are {known}")
    return [law for law in laws if not patterns or any(fnmatchcase(law.name, pattern) for pattern in patterns)]
