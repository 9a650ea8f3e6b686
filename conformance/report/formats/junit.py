"""JUnit XML: one test case per law, as Jenkins, GitLab and their like read it (the schema of Jenkins' xUnit plugin).

A law without evidence is *skipped*, with a message that says so: JUnit has no nearer outcome, and it must not be shown
as a pass. A failure that the baseline excuses is skipped too; a stale entry of the baseline is a failure. A target that
breaks is one error, a test case of its own before the laws; those that were not decided by then are skipped.
"""

from collections.abc import Mapping
from io import BytesIO

from junitparser import Error, Failure, Skipped, TestCase, TestSuite

from ...verify.outcome.results import BREAKS, AnyCounterexample, Crash, LawResult, Result
from ..causes import cause_line, cause_of
from ..law_summary import crash_story, line, story, why


def render(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> str:
    """Write *result* as one test suite."""
    suite = TestSuite(line(f"turncheck {result.target}"))
    who = result.implementation
    suite.add_property("implementation", line(f"{who.name} {who.version} ({who.language})"))
    suite.add_property("turncheck", result.turncheck)
    suite.add_property("seed", str(result.seed))
    for share in result.coverage.get("shares", ()):
        suite.add_property(f"{share.role} {share.what}", str(share))
    for place in range(len(result.causes)):
        suite.add_property("cause", cause_line(result, place))
    if result.cut:
        suite.add_property("cut", line(result.notes[0][1]))  # how the target broke is said by its test case
        suite.add_property("incomplete", str(result.incomplete).lower())
    for title, said in result.notes:
        suite.add_property("note", line(f"{title}: {said}"))
    if result.crash is not None:
        suite.add_testcase(_broken(result, result.crash))
    suite.add_testcases([_case(law, result, counterexamples) for law in result.laws])
    written = BytesIO()
    suite.write(written)  # pyright: ignore[reportUnknownMemberType]
    return written.getvalue().decode()


def _broken(result: Result, crash: Crash) -> TestCase:
    """The first test case: how the target broke."""
    case = TestCase(BREAKS, classname=line(result.target))
    broke = Error(line(crash.message), "error")
    broke.text = crash_story(result)
    case.result = broke
    return case


def _case(law: LawResult, result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> TestCase:
    case = TestCase(law.law, classname=line(result.target))
    if (outcome := _outcome(law, broke=result.crash is not None)) is not None:
        if isinstance(outcome, Failure):
            outcome.text = "\n".join(filter(None, [story(law, counterexamples), cause_of(result, law)]))
        case.result = outcome
    elif law.evidence.adapter:
        case.system_out = line(why(law))
    return case


def _outcome(law: LawResult, *, broke: bool) -> Failure | Error | Skipped | None:
    reason, clauses = line(why(law)), ", ".join(law.clauses)
    if law.wrong:
        return Failure(reason, clauses)
    match law.verdict:
        case "pass":
            return None
        case "error" if not broke:
            return Error(reason, "error")
        case "skipped":
            return Skipped(reason, "skipped")
        case verdict:
            return Skipped(f"{verdict}: {reason}", verdict)
