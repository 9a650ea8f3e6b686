"""All laws: the one place to add one. The order matters: where several laws break, the first names the failure."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final, TypeAlias

from ..observe.projector_trace import ProjectorTrace
from ..observe.runtime_trace import RuntimeTrace
from . import cycles, relations, run_calls, run_ends, run_machine, run_messages, run_model, run_relations, run_suite
from .anomalies import ANOMALY_LAWS
from .collation import COLLATION_LAWS
from .law import Judgement, Law
from .relations import Experiment
from .run_relations import Rerun

OnTrace: TypeAlias = Callable[[ProjectorTrace], Judgement]
OnExperiment: TypeAlias = Callable[[Experiment], Judgement]
OnPlay: TypeAlias = Callable[[RuntimeTrace], Judgement]
OnRerun: TypeAlias = Callable[[Rerun], Judgement]

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


def _on_play(function: OnPlay, evidence: str, *needs: str) -> tuple[Law, OnPlay]:
    name, clauses, says = _named(function)
    return Law(name, "run", clauses, says, "runtime", evidence, needs), function


def _on_rerun(function: OnRerun, evidence: str, *needs: str, suite: bool = False) -> tuple[Law, OnRerun]:
    name, clauses, says = _named(function)
    return Law(name, "relation", clauses, says, "runtime", evidence, needs, suite), function


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
    _on_trace(cycles.conservation, "an event", "steps or rounds"),
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

_PLAY: Final = (
    _on_play(run_ends.run_never_stuck, "quiet in an open run"),
    _on_play(run_ends.run_ends_once, "a run that ended"),
    _on_play(run_ends.next_message_served, "a message after a run's end"),
    _on_play(run_ends.abort_interrupts, "an abort of an open run", "abort"),
    _on_play(run_ends.abort_ends_as_declared, "an abort of an open run", "abort", "policy abortEnds"),
    _on_play(run_ends.nothing_starts_after_abort, "an abort of an open run", "abort"),
    _on_play(run_ends.aborted_text_dropped, "an abort amid a response", "abort", "machine conversation"),
    _on_play(run_ends.model_failure_survived, "a model's failure", "model-failure"),
    _on_play(run_calls.calls_answered, "a run with a call that ended", "tools"),
    _on_play(run_calls.cut_calls_answered, "a call of a response that was cut", "tools"),
    _on_play(run_calls.results_survive, "a result before an abort or a failure", "tools"),
    _on_play(run_calls.results_not_invented, "a result", "tools"),
    _on_play(run_calls.tool_failure_survived, "a tool's failure", "tool-failure"),
    _on_play(run_calls.malformed_never_executes, "a call with malformed arguments", "raw-arguments"),
    _on_play(run_calls.ids_never_mixed, "a call id twice in a response", "tools", "call-ids"),
    _on_play(run_calls.tools_as_declared, "two calls in one response", "tools", "policy tools"),
    _on_play(run_messages.messages_consumed, "a run that completed", "model-input"),
    _on_play(run_messages.steers_in_their_run, "a steer in a run that completed", "steer", "model-input"),
    _on_play(run_messages.follow_ups_in_turn, "a request while a follow-up waits", "follow-up", "model-input"),
    _on_play(run_messages.messages_in_order, "a request that shows two messages", "model-input"),
    _on_play(run_messages.queue_as_declared, "an abort or a failure while a follow-up waits", "follow-up"),
    _on_play(run_messages.busy_as_declared, "a message in an open run", "policy busy"),
    _on_play(run_messages.sent_together_none_lost, "two messages at once", "together"),
    _on_play(run_model.input_well_formed, "a request that shows a result", "tools", "model-input"),
    _on_play(run_model.input_not_invented, "a request that shows a message", "model-input"),
    _on_play(run_model.input_loses_nothing, "a second request", "model-input"),
    _on_play(run_model.items_conserved, "an item of a whole response"),
    _on_play(run_model.response_is_one_round, "a response with two items"),
    _on_play(run_model.rounds_bounded, "a run that reaches its limit", "limits"),
    _on_play(run_model.log_well_formed, "a log"),
    _on_play(run_model.capabilities_honest, "a stimulus that needs a capability"),
)
_RERUN: Final = (
    _on_rerun(run_relations.run_deterministic, "a word applied twice"),
    _on_rerun(run_relations.run_hash_seed, "a word applied in two processes"),
    _on_rerun(run_relations.run_boundary_equivalence, "two ends at one point"),
    _on_rerun(run_relations.observer_isolated, "a word with an observer that throws", "observer"),
    _on_rerun(run_relations.slow_consumer_same, "a word with a slow observer", "observer"),
    _on_rerun(run_relations.run_opaque, "a word renamed"),
    _on_rerun(run_machine.equals_machine, "a word applied to the reference as well", "machine"),
)
_SUITE: Final = _on_rerun(run_suite.equals_model, "a word of the suite", suite=True)

_COLLATION: Final = tuple(
    Law(name, "relation", clauses, says, "collation", "a flow of frames")
    for name, clauses, says in map(_named, COLLATION_LAWS.values())
)

PLAY_LAWS: Final[Mapping[str, OnPlay]] = {law.name: judge for law, judge in _PLAY}
RERUN_LAWS: Final[Mapping[str, OnRerun]] = {law.name: judge for law, judge in (*_RERUN, _SUITE)}
TRACE_LAWS: Final[Mapping[str, OnTrace]] = {law.name: judge for law, judge in (*_TRACE, _LAST)}
EXPERIMENT_LAWS: Final[Mapping[str, OnExperiment]] = {law.name: judge for law, judge in _EXPERIMENT}

LAWS: Final[Mapping[str, Law]] = {
    law.name: law
    for law in (
        *(law for law, _ in _EXPERIMENT[:3]),
        *(law for law, _ in _TRACE),
        *(law for law, _ in _EXPERIMENT[3:]),
        _LAST[0],
        *(law for law, _ in _PLAY),
        *(law for law, _ in _RERUN),
        _SUITE[0],
        *_COLLATION,
        *ANOMALY_LAWS.values(),
    )
}
"""Name → law."""


def selected(subjects: Sequence[str], patterns: Sequence[str] = (), *, suite: bool = False) -> list[Law]:
    """The laws on *subjects* whose names fit one of the glob *patterns* (all, where there is none).

    With *suite*, those too that a suite alone can judge.
    Raises ValueError for a pattern that fits no law of those subjects.
    """
    laws = [law for law in LAWS.values() if law.subject in subjects and (suite or not law.suite)]
    for pattern in patterns:
        if not any(fnmatchcase(law.name, pattern) for law in laws):
            on = f"no law on a {' or a '.join(subjects)} is called {pattern!r}"
            raise ValueError(f"{on}{meant(pattern, laws)}; `turncheck laws` lists them")
    return [law for law in laws if not patterns or any(fnmatchcase(law.name, pattern) for pattern in patterns)]


def meant(name: str, laws: Iterable[Law]) -> str:
    """For who mistyped: "; perhaps …" with the nearest names of *laws*, nothing where none is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - only for who mistyped

    names = [law.name for law in laws]
    word = name.strip("*")
    near = [one for one in names if word and word in one] or get_close_matches(name, names)
    return f"; perhaps {' or '.join(near[:3])}" if near else ""
