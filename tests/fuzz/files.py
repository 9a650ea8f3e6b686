"""The files that people keep and edit: counterexamples, and baselines."""

import datetime as dt
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.messages import Implementation, Profile
from turncheck.conformance.laws.registry import LAWS
from turncheck.conformance.report.text import counterexample_lines
from turncheck.conformance.verify.kept.baseline import BaselineError, grade, parse
from turncheck.conformance.verify.kept.replay import stored
from turncheck.conformance.verify.kept.updating import updated
from turncheck.conformance.verify.outcome.counterexample_files import read
from turncheck.conformance.verify.outcome.results import Counterexample, Evidence, LawResult, Result, Verdict, summary
from turncheck.model.rendering.printable import Printable, lines

TODAY: Final = dt.date(2026, 11, 23)
_VERDICTS: Final[dict[str, Verdict]] = {
    "calls-answered": "fail",
    "items-conserved": "pass",
    "run-deterministic": "fail",
    "input-well-formed": "skipped",
}


def _result() -> Result:
    laws = tuple(
        LawResult(name, "run", ("X-1",), verdict, Evidence(1, 0), f'"{name}" is\n{verdict}')
        for name, verdict in _VERDICTS.items()
    )
    who = Implementation("a", "1", "python")
    return Result(
        turncheck="0",
        target="cmd:a",
        implementation=who,
        profile=Profile(("runtime",), ()),
        seed=0,
        laws=laws,
        coverage={},
        summary=summary(laws),
    )


RESULT: Final = _result()


class _File:
    """The part of a path that ``read`` needs."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read_bytes(self) -> bytes:
        return self._data


def counterexample(data: bytes, *, whole: bool) -> None:
    """A file is refused with a documented error, or written and read again as it was, and judged.

    The *whole*: it is shown too.
    """
    try:
        found = read(cast("Path", _File(data)))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return
    assert read(cast("Path", _File(msgspec.json.format(msgspec.json.encode(found), indent=2)))) == found
    subject = "projector" if isinstance(found, Counterexample) else "runtime"
    if found.law not in LAWS or LAWS[found.law].subject != subject:
        return
    if whole:
        for line in counterexample_lines(found, _plain):
            assert isinstance(line, str)
    with suppress(TargetError):
        stored(found)


def _plain(text: object, **_: Any) -> Printable:
    return lines(text)


def baseline(data: bytes, *, whole: bool) -> None:
    """A file is refused with BaselineError, or read. The *whole*: under an update of it nothing is wrong."""
    try:
        text = data.decode()
        parse(text, "known.toml")
    except (UnicodeDecodeError, BaselineError):
        return
    if not whole:
        return
    after = updated(text, RESULT, TODAY)
    assert not any(law.wrong for law in grade(RESULT, parse(after, "updated"), TODAY).laws)
    assert updated(after, RESULT, TODAY) == after
