"""Laws on a recorded log: one per kind of anomaly (RC-D4). The machine finds the anomaly; the law explains it."""

from collections.abc import Mapping
from typing import Final

from turncheck.model.core.cycles import Anomaly

from .law import Finding, Judgement, Law, LawsOn, declared

log_law: Final = LawsOn[Anomaly]("log", "log")
EVENTS: Final = "every event of the log"


@log_law("RC-D5", evidence=EVENTS)
def malformed(anomaly: Anomaly) -> Judgement:
    """Every line is a readable event whose fields fit."""
    yield Finding(anomaly.at, "the line is no event of the log")


@log_law("RC-1", evidence=EVENTS)
def unknown_type(anomaly: Anomaly) -> Judgement:
    """Every event is one of the four types, or an observation."""
    yield Finding(anomaly.at, "the event's type is none of user-message, agent-output, tool-result, run-stop")


@log_law("RC-7.4", "X-3", evidence=EVENTS)
def outside_run(anomaly: Anomaly) -> Judgement:
    """Nothing of a run comes before its root or after its stop."""
    yield Finding(anomaly.at, "the event stands outside a run: no user message opened one, or its stop came before")


@log_law("X-6", evidence=EVENTS)
def unknown_call(anomaly: Anomaly) -> Judgement:
    """Every result answers a call of its run."""
    yield Finding(anomaly.at, "the result answers no call of this run")


@log_law("X-6", evidence=EVENTS)
def duplicate_result(anomaly: Anomaly) -> Judgement:
    """No call is answered twice."""
    yield Finding(anomaly.at, "the call has its result already")


@log_law("RC-D4", evidence=EVENTS)
def duplicate_call(anomaly: Anomaly) -> Judgement:
    """No call id is used twice in one run."""
    yield Finding(anomaly.at, "the call id was used before in this run")


@log_law("X-6", evidence=EVENTS)
def unanswered_call(anomaly: Anomaly) -> Judgement:
    """Every call has its result before its run ends."""
    yield Finding(anomaly.at, "the run stopped, and this call never got a result")


@log_law("RC-5.3", evidence=EVENTS)
def truncated(anomaly: Anomaly) -> Judgement:
    """Every run ends."""
    yield Finding(anomaly.at, "the log ends, and the run that began here has no stop")


LOG_LAWS: Final[Mapping[str, Law]] = declared(globals())
"""Anomaly kind → the law of the same name: `check` needs no other."""
