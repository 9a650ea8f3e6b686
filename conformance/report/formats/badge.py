"""The JSON that a shields.io endpoint badge reads."""

import json
from collections.abc import Mapping

from ...verify.outcome.results import AnyCounterexample, Result


def render(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> str:  # noqa: ARG001 - as all reports
    """Count the passed laws among those that apply, and choose a colour."""
    passed, applicable = result.summary["pass"], len(result.laws) - result.summary["skipped"]
    message = f"{passed}/{applicable} laws" + ", incomplete" * result.incomplete
    return json.dumps({"schemaVersion": 1, "label": "turncheck", "message": message, "color": _colour(result)})


def _colour(result: Result) -> str:
    """Choose green only for a run that was not cut, and in which every law that applies passed."""
    if any(law.wrong for law in result.laws):
        return "red"
    if result.exit_code:
        return "lightgrey"
    short = result.summary["fail"] or result.summary["inconclusive"] or result.notes
    return "yellow" if short else "brightgreen"
