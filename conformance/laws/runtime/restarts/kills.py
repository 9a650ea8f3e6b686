"""The kills of a word, and what the model is shown after the restart."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from ....observe.killed import PROBE, SPARE, Killed
from ....observe.runtime_trace import Request, RuntimeTrace
from ...law import Finding, Law, first_finding
from ..subject import Kills, Rerun

Entry: TypeAlias = Mapping[str, Any]

SHORT: Final = 4
"""Stimuli of a word that is killed where `verify` is quick: of the words that relation laws get, some fifteen."""


def points(length: int, *, both: bool = False) -> Iterator[tuple[int, bool]]:
    """Yield the points at which a word of *length* stimuli is killed: after how many, and whether within the last.

    Behind the last stimulus or, at every third length, within it. The words of a run end in each situation, so that its
    kills are at all points. Both points of each word take twice the time: `verify reference:turn` with 60 generated
    words 27 s of processor time, not 12 as without kills.

    >>> list(points(3)), list(points(2)), list(points(0))
    ([(3, True)], [(2, False)], [])
    >>> list(points(3, both=True)), list(points(0, both=True))
    ([(3, False), (3, True)], [])
    """
    if length:
        yield from [(length, False), (length, True)] if both else [(length, length % 3 == 0)]


def worth(length: int, means: Kills) -> bool:
    """Return True for a word, of *length* stimuli, that is killed: any, or a short one where *means* say so."""
    return length > 0 and (length <= SHORT or not means.short)


def kills(rerun: Rerun) -> Iterator[tuple[Killed, RuntimeTrace]]:
    """Yield each kill of the word, with the run that was not killed there; kills without quiet are left out."""
    word = tuple(step.stimulus for step in rerun.trace.steps if not step.closing)
    for place, amid in points(len(word), both=rerun.kills.both) if worth(len(word), rerun.kills) else ():
        found = rerun.kills.killed(word[:place], rerun.trace.options, amid=amid)
        if found is not None:
            whole = rerun.kills.unkilled(word[: place - amid], rerun.trace.options)
            if whole is not None:
                yield found, whole


def broken_since(killed: Killed, laws: Sequence[Law]) -> Iterator[Finding]:
    """Yield the first finding of each law that the word breaks from the restart on, and did not break before it."""
    for law in laws:
        fault = first_finding(law.judge(killed.after))
        if fault is not None and first_finding(law.judge(killed.before)) is None:
            yield Finding(None, f"after a restart {fault.message}", fault.expected, fault.observed, killed.applied)


def held(rerun: Rerun, name: str) -> Any:
    """Return the policy of that name, as declared or inferred; None where it is neither."""
    return rerun.trace.policies.get(name)


def texts(rerun: Rerun) -> dict[str, str]:
    """Return the texts of all messages of the word, and of the probe: text → id."""
    return {user.text: name for name, user in rerun.trace.sent.items()} | {one.text: one.id for one in (PROBE, SPARE)}


def asked(requests: Sequence[Request], sent: Mapping[str, str]) -> list[Entry] | None:
    """Return what the first of *requests* that shows the probe shows; None where none does, or shows no input."""
    for request in requests:
        entries = request.input or []
        if any(PROBE.id in names(entry, sent) for entry in entries):
            return list(entries)
    return None


def names(entry: Entry, sent: Mapping[str, str]) -> list[str]:
    """Return the ids of the messages that an entry of the user shows: by their ids, else by the texts *sent*.

    A runtime that joins messages shows several texts in one entry.
    """
    if entry.get("role") != "user":
        return []
    text = str(entry.get("text"))
    if entry.get("ids"):
        return [str(name) for name in entry["ids"]]
    return [sent[text]] if text in sent else [name for part, name in sent.items() if part and part in text]


def plain(entry: Entry) -> dict[str, Any]:
    """Return an entry without the ids that a runtime may keep in memory only."""
    return {name: value for name, value in entry.items() if name != "ids"}
