"""The laws on a log that the machine itself decides: one for each kind of anomaly (RC-D4)."""

from collections.abc import Mapping
from typing import Final

from turncheck.model.core.cycles import AnomalyKind

from .law import Law


def _law(name: AnomalyKind, clauses: tuple[str, ...], says: str) -> Law:
    return Law(name, "log", clauses, says, subject="log", evidence="every event of the log")


ANOMALY_LAWS: Final[Mapping[AnomalyKind, Law]] = {
    law.name: law  # type: ignore[misc]
    for law in (
        _law("malformed", ("RC-1", "RC-D5"), "every line is a readable event whose fields fit"),
        _law("unknown-type", ("RC-1",), "every event is one of the four types, or an observation"),
        _law("outside-run", ("RC-7.3", "RC-7.4", "X-3"), "nothing of a run comes before its root or after its stop"),
        _law("unknown-call", ("X-6",), "every result answers a call of its run"),
        _law("duplicate-result", ("X-6", "X-7"), "no call is answered twice"),
        _law("duplicate-call", ("RC-D4", "X-7"), "no call id is used twice in one run"),
        _law("unanswered-call", ("X-6",), "every call has its result before its run ends"),
        _law("truncated", ("RC-5.3", "X-5"), "every run ends"),
    )
}
"""Anomaly kind → the law of the same name."""

MESSAGES: Final[Mapping[AnomalyKind, str]] = {
    "malformed": "the line is no event of the log",
    "unknown-type": "the event's type is none of user-message, agent-output, tool-result, run-stop",
    "outside-run": "the event stands outside a run: no user message opened one, or its stop came before",
    "unknown-call": "the result answers no call of this run",
    "duplicate-result": "the call has its result already",
    "duplicate-call": "the call id was used before in this run",
    "unanswered-call": "the run stopped, and this call never got a result",
    "truncated": "the log ends, and the run that began here has no stop",
}
"""What a finding says to people."""
