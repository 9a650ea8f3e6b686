"""Judge a counterexample file by what it stores, starting nothing."""

from .judging import traced
from .laws.law import Finding
from .laws.registry import TRACE_LAWS
from .results import Counterexample


def stored_finding(found: Counterexample) -> bool | None:
    """Whether the stored projection breaks the law; None where one observation cannot tell."""
    law = TRACE_LAWS.get(found.law)
    if law is None or found.projection is None:
        return None
    trace = traced(found.input, found.profile, found.projection)
    return any(isinstance(item, Finding) for item in law(trace))
