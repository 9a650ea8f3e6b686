"""Ends of runs that an adapter logs several times: by an event, by an exception, by a stream that closes.

An adapter logs each end as it sees it, with the channel in ``via``; ``same_end`` says which of them are one.
"""

from collections.abc import Mapping
from typing import Any, Final, cast

from turncheck.model.core.events import same_end

_SILENT: Final = ("native", "fault")
"""Types that may stand between two tellings of one end."""


def channel(stop: Mapping[str, Any]) -> str:
    """Return the channel by which an end was told: ``event``, unless ``via`` says otherwise."""
    return str(stop.get("via") or "event")


class ToldEnds:
    """Reads a log event by event, and makes an observation of an end that was told before."""

    def __init__(self) -> None:
        self._told: dict[str, str] = {}  # channel → reason, of the last end and since then
        self._run: Any = None  # the run that this end names; one that ends beside it has an end of its own

    def once(self, raw: Any) -> Any:
        """Return the event; where it tells the last end again, a ``native`` that holds it as ``end``.

        >>> ends = ToldEnds()
        >>> ends.once({"type": "run-stop", "reason": "error"})
        {'type': 'run-stop', 'reason': 'error'}
        >>> ends.once({"type": "run-stop", "reason": "error", "via": "exception"})["type"]
        'native'
        >>> ends.once({"type": "run-stop", "reason": "completed", "via": "exception"})["type"]
        'run-stop'
        """
        event = _fields(raw)
        kind = event.get("type")
        if kind in _SILENT:
            return raw
        if kind != "run-stop":
            self._told = {}
            return raw
        if event.get("runId") != self._run:
            self._told, self._run = {}, event.get("runId")
        by, reason = channel(event), str(event.get("reason"))
        if same_end(self._told, by, reason):
            self._told[by] = reason
            return {"type": "native", "end": raw}
        self._told = {by: reason}
        return raw


def told_by_event(log: Any, at: int) -> bool:
    """Return whether an event told the end of the run at position *at*, itself or again."""
    if _by_event(log[at]):
        return True
    for event in log[at + 1 :]:
        if event.get("type") not in _SILENT:
            return False
        end = event.get("end") if event.get("type") == "native" else None
        if isinstance(end, dict) and _by_event(cast("Mapping[str, Any]", end)):
            return True
    return False


def _by_event(stop: Mapping[str, Any]) -> bool:
    return channel(stop) == "event" and stop.get("source") != "adapter"


def _fields(raw: Any) -> Mapping[str, Any]:
    """The fields of what an adapter logged, none where it is no object."""
    return cast("Mapping[str, Any]", raw) if isinstance(raw, dict) else {}
