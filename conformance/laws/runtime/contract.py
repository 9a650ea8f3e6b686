"""Laws on the contract itself: the log can be read, and what is declared is there."""

from collections.abc import Iterator, Mapping
from typing import Final

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Approve,
    Client,
    ClientResult,
    Compact,
    Deny,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    Stimulus,
    StoreFail,
    Together,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
    image_count,
)

from ...observe.runtime_trace import RuntimeTrace, flat
from ...observe.told_ends import channel, told_by_event
from ..law import WITNESS, Finding, Judgement
from .completion import taken_with_the_next
from .subject import run_law


@run_law("X-1", "RC-1", "RC-D5", evidence="a log")
def log_well_formed(trace: RuntimeTrace) -> Judgement:
    """The log holds the core's events and nothing else."""
    if trace.log:
        yield WITNESS
    for anomaly in trace.projection.anomalies:
        if anomaly.kind in {"malformed", "unknown-type"}:
            yield Finding(anomaly.at, f"{anomaly.kind}: no event of the log", "an event", trace.log[anomaly.at])


@run_law("X-D1", evidence="a stimulus that needs a capability")
def capabilities_honest(trace: RuntimeTrace) -> Judgement:
    """Everything that is declared is there: the machine that is claimed is the one that answers."""
    for step in trace.steps:
        refused = step.answer.refused
        for stimulus in flat(step.stimulus):
            need = needs(stimulus)
            if need is None or need not in trace.capabilities:
                continue
            if refused is not None and refused.why == "unsupported":
                message = f"{need} is declared, and {type(stimulus).__name__} unsupported"
                yield Finding(None, message, need, refused.message)
            elif step.took_place:
                yield WITNESS
    if "model-input" in trace.capabilities:
        for request in trace.requests:
            if request.input is None:
                yield Finding(request.at, "model-input is declared, and a request does not show it", "input", None)


@run_law("RS-6", evidence="a run that ended", needs=("terminal-events",), since="0.2")
def ends_told(trace: RuntimeTrace) -> Judgement:
    """Each run ends with an event of the runtime's own: none ends silently.

    Where only the environment ended an aborted run (a client that left), its end can be told to nobody.
    """
    aborted = {cycle for _, cycle in trace.aborts()}
    for index, cycle in enumerate(trace.cycles):
        if cycle.stop is None or taken_with_the_next(trace, index):
            continue
        stop = trace.log[cycle.stop]
        if told_by_event(trace.log, cycle.stop):
            yield WITNESS
        elif index not in aborted or channel(stop) != "event":
            why = f"a run ends without an event: the adapter learns it from {_LEARNT.get(channel(stop), 'elsewhere')}"
            yield Finding(cycle.stop, why, "an event", stop)


_LEARNT: Final = {"exception": "an exception", "close": "the end of the stream"}


def needs(stimulus: Stimulus) -> str | None:
    """The capability without which a stimulus cannot take place; None where every runtime has it."""
    match stimulus:
        case User(delivery="steer"):
            return "steer"
        case User(delivery="followUp"):
            return "follow-up"
        case ModelOutput(item=Reasoning()):
            return "reasoning"
        case ModelOutput(item=ToolCall(arguments=str())):
            return "raw-arguments"
        case ModelOutput(item=ToolCall()):
            return "tools"
        case _:
            return _NEEDS.get(type(stimulus))


_NEEDS: Final[Mapping[type, str]] = {
    ToolReturn: "tools",
    Abort: "abort",
    ToolFail: "tool-failure",
    Approve: "approval",
    Deny: "approval",
    ClientResult: "client-tools",
    Compact: "compaction",
    Client: "clients",
    ModelFail: "model-failure",
    Together: "together",
    StoreFail: "store-faults",
}


def exercised(stimulus: Stimulus, calls: set[str]) -> Iterator[str]:
    """Yield the capabilities that a stimulus exercises if it takes place; *calls* are the ids of calls until now.

    The first is the one that it needs; the others' words may do without.
    """
    need = needs(stimulus)
    if need is not None:
        yield need
    match stimulus:
        case ModelOutput(item=ToolCall(call_id=name)):
            if need != "tools":
                yield "tools"
            if name in calls:
                yield "call-ids"
            calls.add(name)
        case ModelStop(usage=usage) if usage is not None:
            yield "usage"
        case User(content=content) if image_count(content):
            yield "images"
        case Advance():
            yield "clock"
        case _:
            pass
