"""Judge a counterexample file by what it stores, starting nothing."""

from turncheck.model.decode import judge
from turncheck.model.projection import project

from .judging import without
from .laws.law import Finding
from .laws.registry import TRACE_LAWS
from .laws.trace import Trace
from .results import Counterexample


def stored_finding(found: Counterexample) -> bool | None:
    """Whether the stored projection breaks the law; None where one observation cannot tell."""
    law = TRACE_LAWS.get(found.law)
    if law is None or found.projection is None:
        return None
    events = tuple(map(judge, found.input.events))
    views = frozenset(("steps", "rounds")) & frozenset(found.profile.capabilities)
    expected = without(project(events, found.input.policies), views)
    trace = Trace(events, found.input.policies, found.projection, expected, views)
    return any(isinstance(item, Finding) for item in law(trace))
