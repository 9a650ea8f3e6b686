"""Laws on the contract itself: the log can be read, and what is declared is there."""

from turncheck.model.core.stimuli import (
    Abort,
    ModelFail,
    ModelOutput,
    Reasoning,
    Stimulus,
    Together,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from ...observe.runtime_trace import RuntimeTrace, flat
from ..law import WITNESS, Finding, Judgement
from .subject import run_law


@run_law("X-1", "RC-1", "RC-D5", evidence="a log")
def log_well_formed(trace: RuntimeTrace) -> Judgement:
    """The log holds the core's events and nothing else."""
    if trace.log:
        yield WITNESS
    for anomaly in trace.projection.anomalies:
        if anomaly.kind in {"malformed", "unknown-type"}:
            yield Finding(anomaly.at, f"{anomaly.kind}: no event of the log", "an event", trace.log[anomaly.at])


@run_law("X-1", evidence="a stimulus that needs a capability")
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
        case ModelOutput(item=ToolCall()) | ToolReturn():
            return "tools"
        case Abort():
            return "abort"
        case ToolFail():
            return "tool-failure"
        case ModelFail():
            return "model-failure"
        case Together():
            return "together"
        case _:
            return None
