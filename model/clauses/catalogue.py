"""The clauses in our own words, by identifier: the request cycle and what all machines promise together stand here.

``RC`` is the core (seed: the request cycle model), ``RC-D`` what it left open and was decided, ``X`` what every machine
promises. Findings name these identifiers; they are a promise (semantic versioning).
"""

from collections.abc import Mapping
from typing import Final

from .runtime_clauses import PROMISES, REVIEWED, Way

_CORE: Final[Mapping[str, tuple[Way, str]]] = {
    "RC-1": ("log", "The input is an ordered list of user-message, agent-output, tool-result and run-stop events."),
    "RC-2": (
        "log",
        "Completed, interrupted and error are one boundary class: each closes the run; they differ by reason only.",
    ),
    "RC-3.1": ("log", "A user message while idle is direct, whatever delivery it asks for."),
    "RC-3.2": ("log", "A user message while active is a steer or a follow-up, by its delivery, else by policy."),
    "RC-4.1": ("log", "A follow-up is queued, and is no part of the running cycle."),
    "RC-4.2": ("log", "A steer belongs to the running cycle, and is never a root."),
    "RC-5.1": ("log", "A cycle has exactly one root: a direct message or a promoted follow-up."),
    "RC-5.2": ("log", "A cycle holds all agent work and all steers of its run, in order."),
    "RC-5.3": ("log", "A cycle ends at the first run-stop, and holds exactly one."),
    "RC-5.4": ("log", "A cycle excludes the next root."),
    "RC-6.1": ("log", "A cycle is a list of inference rounds: what the model was fed, and what it then made."),
    "RC-6.2": (
        "log",
        "A cycle is a list of steps: root, steers and ai-blocks; the root comes first, the only non-steer.",
    ),
    "RC-6.3": ("log", "An ai-block has exactly one AI text; two are never merged."),
    "RC-6.4": ("log", "Adjacent tool calls of one class form one group."),
    "RC-6.5": ("log", "A tool result is no step: it is attached to its call."),
    "RC-7": ("log", "The cycles are built by one deterministic state machine."),
    "RC-7.1": ("log", "The projection starts idle."),
    "RC-7.2": ("log", "A user message while idle opens a direct cycle."),
    "RC-7.3": ("log", "An output or a result while active is appended to the cycle."),
    "RC-7.4": ("log", "A run-stop while active closes the cycle."),
    "RC-7.5": ("log", "A queued follow-up becomes the next root at once, first in first out, one per cycle."),
    "RC-7.6": ("relation", "The projection is deterministic."),
    "RC-D1": ("log", "A call with no text before it in its place opens a block whose text is absent."),
    "RC-D2": ("log", "Results, queued follow-ups and another response do not break a group; a text or a steer does."),
    "RC-D3": (
        "log",
        "Consecutive outputs of one response id are one round; without ids, a result or steer splits them.",
    ),
    "RC-D4": (
        "log",
        "The projection is total: what is not permitted is an anomaly, and a rejected event changes nothing.",
    ),
    "RC-D5": ("log", "An event is malformed when it is unreadable, lacks a required field, or a field does not fit."),
    "RC-D6": (
        "log",
        "After an interrupted or failed run the queue is promoted, held or dropped, as the policy declares.",
    ),
    "RC-D7": (
        "run",
        "Several follow-ups answered in one agent run are told apart by boundaries that the adapter makes.",
    ),
    "RC-D8": ("run", "A message that was accepted and never consumed, while its run completed, is lost."),
    "RC-D9": ("log", "At the log's end an open cycle has no reason, and waiting follow-ups are reported as queued."),
    "X-1": ("run", "Whatever a machine is told, the log that its outputs map to is accepted by the core."),
    "X-2": (
        "relation",
        "The same input gives the same output: again, in a new process, under another hash seed, in any chunks.",
    ),
    "X-3": ("run", "A turn has one terminal, and nothing of it comes after."),
    "X-4": ("relation", "Exchanging stop reasons of equal policy changes reasons and nothing else."),
    "X-5": ("run", "Every run ends while the environment answers: nothing is ever stuck."),
    "X-6": ("run", "Every tool call has exactly one result before its run ends."),
    "X-7": ("run", "Messages, items and results are conserved: none lost, none twice, order kept."),
    "X-8": ("relation", "Renaming ids and changing texts changes them in the output, and nothing else."),
}

_ALL: Final = {**_CORE, **PROMISES}

CLAUSES: Final[Mapping[str, str]] = {name: says for name, (_, says) in _ALL.items()}
"""Identifier → the clause."""

WAYS: Final[Mapping[str, Way]] = {name: way for name, (way, _) in _ALL.items()}
"""Identifier → how the clause is judged."""

__all__ = ["CLAUSES", "REVIEWED", "WAYS", "Way"]
