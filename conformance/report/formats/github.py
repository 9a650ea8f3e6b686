"""Annotations of GitHub Actions: workflow commands on standard output, one per line.

GitHub shows the first ten errors and the first ten warnings of a step.
"""

from collections.abc import Iterator, Mapping, Sequence

from ...check.results import LogFinding, LogResult, more_lines
from ...verify.outcome.results import BREAKS, AnyCounterexample, LawResult, Result
from ..causes import by_cause, cause_of
from ..law_summary import crash_story, explained, safe, why


def render(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> str:
    """Write an error for a broken target, the first; an error per broken law, a warning per law without evidence."""
    return "".join(f"{command}\n" for command in _commands(result, counterexamples))


def render_logs(results: Sequence[LogResult]) -> str:
    """Write an error for each finding, at its line; a warning where a log only ends in an open run."""
    return "".join(f"{command}\n" for result in results for command in _of_log(result))


def _commands(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> Iterator[str]:
    crash = result.crash
    if crash is not None:
        yield _command("error", BREAKS, f"{safe(crash.message)}\n{crash_story(result)}", file=crash.counterexample)
    errors = [law for law in result.laws if law.verdict == "error" and crash is None]
    for reason in dict.fromkeys(map(why, errors)):
        laws = ", ".join(law.law for law in errors if why(law) == reason)
        yield _command("error", "the run was not completed", f"{reason}\nnot decided: {laws}")
    for law in by_cause(result):  # of many, GitHub shows the first: the roots
        if law.wrong:
            told = explained(law, counterexamples, cause_of(result, law))
            yield _command("error", _title(law), told, file=law.counterexample)
        elif law.excused:
            yield _command("notice", _title(law), why(law), file=law.counterexample)
        elif law.verdict == "inconclusive":
            yield _command("warning", _title(law), f"inconclusive: {why(law)}")
    for title, said in result.notes:
        yield _command("warning", title, said)


def _of_log(result: LogResult) -> Iterator[str]:
    level = "warning" if result.verdict == "inconclusive" else "error"
    for one in result.findings:
        yield _command(level, _title(one), one.message, file=result.log, line=one.line)
    for line in more_lines(result):
        yield _command(level, "findings that are not listed", line, file=result.log)
    if result.why is not None:
        yield _command("error", "the log cannot be judged", result.why, file=result.log)


def _title(law: LawResult | LogFinding) -> str:
    return f"{law.law} ({', '.join(law.clauses)})"


def _command(level: str, title: str, message: str, *, file: str | None = None, line: int | None = None) -> str:
    properties = {"file": file, "line": line, "title": title}
    given = ",".join(f"{name}={_property(value)}" for name, value in properties.items() if value is not None)
    return f"::{level} {given}::{_data(message)}"


def _data(text: object) -> str:
    return safe(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: object) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
