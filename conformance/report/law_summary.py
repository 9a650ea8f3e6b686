"""Parts that all reports share: a law's verdict and reason, its counterexample as text, the command to replay it."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from turncheck.model.rendering.printable import Printable, fill, lines

from ..verify.outcome.results import AnyCounterexample, LawResult, Result, Verdict
from .text import LONG, counterexample_lines, crash_lines

MARKS: Final[Mapping[Verdict, str]] = {"pass": "✓", "fail": "✗", "inconclusive": "?", "skipped": "-", "error": "!"}
LINES: Final = 400
"""Lines of a counterexample that a report shows; the file has the rest."""


def safe(text: object) -> Printable:
    """Spell *text*; cut a long one, and add its length."""
    whole = str(text)
    return lines(text) if len(whole) <= LONG else fill("{}… ({:,} characters)", lines(whole[:LONG]), len(whole))


def line(text: object) -> Printable:
    """Write *text* as ``safe`` does, on one line."""
    return lines(safe(text).replace("\n", " "))


def why(law: LawResult) -> Printable:
    """Give the reason of a law's verdict, or how often it could have broken; and what the baseline says of it."""
    said = law.why or str(law.evidence)
    if law.baseline is not None:
        state = "" if law.baseline.state == "known" else f"{law.baseline.state}, "
        said += f" (baseline: {state}{law.baseline.reason}, {law.baseline.issue})"
    return safe(said)


def story(law: LawResult, counterexamples: Mapping[str, AnyCounterexample]) -> str:
    """Write the shrunk counterexample, without its message, and the command that replays it; either can be absent."""
    found = counterexamples.get(law.law)
    told = [] if found is None else [*counterexample_lines(found, _plain)][1:]  # its head is ``why``
    return "\n".join([*_cut(told), *_replay(law.counterexample, *law.others)])


def crash_story(result: Result) -> str:
    """Write on what the target broke, the messages amid which it did, the laws not decided, how to replay it."""
    if result.crash is None:
        return ""
    told = [*crash_lines(result.crash, _plain)][1:]  # its head is the message
    left = ", ".join(undecided(result))
    not_decided = [f"not decided: {left}"] if left else []
    return "\n".join([*_cut(told), *_cut(result.exchange), *not_decided, *_replay(result.crash.counterexample)])


def undecided(result: Result) -> list[str]:
    """Name the laws without a verdict."""
    return [law.law for law in result.laws if law.verdict == "error"]


def _cut(told: Sequence[object]) -> list[str]:
    if len(told) > LINES:
        told = [*told[: LINES // 2], fill("  … {:,} lines …", len(told) - LINES), *told[-LINES // 2 :]]
    return [*map(line, told)]


def _plain(text: str, **_: object) -> Printable:
    return line(text)


def explained(law: LawResult, counterexamples: Mapping[str, AnyCounterexample], cause: str = "") -> str:
    """Give the reason of a broken law, the *cause* that it belongs to, and its story below them."""
    return "\n".join(filter(None, [why(law), cause, story(law, counterexamples)]))


def _replay(*files: str | None) -> list[str]:
    """Write the commands that judge the counterexamples in *files* again."""
    return [line(f"turncheck replay --run {shlex.quote(file)}") for file in files if file is not None]


def counted(result: Result) -> str:
    """Count the verdicts in words: ``22 pass, 1 fail``."""
    return ", ".join(f"{count} {verdict}" for verdict, count in result.summary.items() if count)
