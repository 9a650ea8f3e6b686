"""Laws on what goes on after a restart: the open run comes to its end, and the session serves."""

from collections.abc import Mapping

from ....observe.killed import Killed
from ....observe.runtime_trace import RuntimeTrace
from ...law import WITNESS, Finding, Judgement, first_finding
from ..requests import well_formed
from ..subject import Rerun, relation_law
from .kills import asked, held, kills, texts
from .pauses import paused


@relation_law("L-R2", "L-R4", evidence="a kill and a restart", needs=("persistence",), since="0.2")
def restart_serves(rerun: Rerun) -> Judgement:
    """After a kill at any point the open run ends or goes on as declared, and the next message is served."""
    for killed, whole in kills(rerun):
        yield WITNESS
        declared = _fate(killed, rerun)
        if killed.amid is None and declared is not None and killed.fate not in {None, declared}:
            said = "after a restart the open run is not what is declared"
            yield Finding(None, said, declared, killed.fate, killed.applied)
        yield from unserved(killed, whole, texts(rerun))


def _fate(killed: Killed, rerun: Rerun) -> str | None:
    """Return what has to become of the run that a kill cut; None where nothing is declared of it."""
    if held(rerun, "pauseAfterRestart") == "kept" and paused(killed.before):
        return "goes-on"
    fate: str | None = held(rerun, "openTurnAfterRestart")
    return fate


def unserved(killed: Killed, whole: RuntimeTrace, sent: Mapping[str, str]) -> Judgement:
    """Yield what keeps the session from going on: the open run, its calls, the next message, or its request."""
    if killed.stuck is not None:
        yield Finding(None, f"after a restart {killed.stuck}", "quiet, and an end", killed.stuck, killed.applied)
        return
    yield from _open_calls(killed, whole)
    probe = killed.probe
    if probe is None or not probe.took_place:
        refused = None if probe is None else probe.answer.refused
        yield Finding(None, "after a restart the next message is refused", None, refused, killed.applied)
        return
    later = [one for one in killed.requests if one.at >= probe.first]
    seen = any(one.input is not None for one in later)
    if not later or (seen and asked(later, sent) is None):
        yield Finding(None, "after a restart the next message is never served", "a request", None, killed.applied)
    if _first_fault(whole) is None:
        for request in killed.requests:
            fault = first_finding(well_formed(request.input or ()))
            if fault is not None:
                said = f"after a restart the model is shown what no provider takes: {fault.message}"
                yield Finding(None, said, fault.expected, fault.observed, killed.applied)


def _first_fault(trace: RuntimeTrace) -> Finding | None:
    found = (first_finding(well_formed(request.input or ())) for request in trace.requests)
    return next((one for one in found if one is not None), None)


def _open_calls(killed: Killed, whole: RuntimeTrace) -> Judgement:
    """A run that was open, and whose end the log tells, answered its calls, as far as it does so without a kill."""
    if killed.fate in {None, "untold"} or killed.amid is not None:
        return
    cycle = killed.before.open_cycles[-1]
    if any(one.kind == "unanswered-call" and whole.cycle_at(one.at) == cycle for one in whole.projection.anomalies):
        return
    for anomaly in killed.after.projection.anomalies:
        if anomaly.kind == "unanswered-call" and killed.after.cycle_at(anomaly.at) == cycle:
            call = killed.after.log[anomaly.at].get("callId")
            yield Finding(
                None, "after a restart the open run ended with a call unanswered", "a result", call, killed.applied
            )
