"""The law on sub-agents that a kill cuts: they end before the run that called them, or go on with it."""

from ....observe.parts.agents import children
from ....observe.parts.overlapping import overlaps
from ...law import WITNESS, Judgement
from ...lifecycle.agents import children_answered_once, children_end_first
from ..subject import Rerun, relation_law
from .kills import broken_since, held, kills, texts
from .served import unserved


@relation_law(
    *("L-R2", "L-S2"),
    evidence="a kill while a sub-agent's run is open",
    needs=("persistence", "sub-agents", "tools"),
    overlapping="whole",  # a word with a sub-agent is given whole, or not at all: its agents are parts, as runs are
    since="0.2",
)
def restart_reaches_children(rerun: Rerun) -> Judgement:
    """After a kill sub-agents end before the run that called them, or go on with it, and the next message is served."""
    if overlaps(rerun.trace):  # the session's own runs beside each other: no law kills amid these
        return
    awaited = held(rerun, "subAgents") == "awaited"
    laws = (children_end_first, children_answered_once) if awaited else (children_answered_once,)
    for killed, whole in kills(rerun):
        at_work = [one for one in children(killed.before) if one.end is None]
        if not at_work or killed.amid is not None:
            continue
        yield WITNESS
        if killed.fate != "untold":
            yield from broken_since(killed, laws)
        yield from unserved(killed, whole, texts(rerun))
