"""JUnit XML: one test case per law, as Jenkins, GitLab and their like read it (the schema of Jenkins' xUnit plugin).

A law without evidence is *skipped*, with a message that says so: JUnit has no nearer outcome, and it must not be shown
as a pass. A failure that the baseline excuses is skipped too; a stale entry of the baseline is a failure.
"""

from collections.abc import Mapping
from io import BytesIO

from junitparser import Error, Failure, Skipped, TestCase, TestSuite

from ...verify.outcome.results import AnyCounterexample, LawResult, Result
from ..causes import cause_line, cause_of
from ..law_summary import line, story, why


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
        suite.add_property("cut", line(result.cut))
        suite.add_property("incomplete", str(result.incomplete).lower())
    for title, said in result.notes:
        suite.add_property("note", line(f"{title}: {said}"))
    suite.add_testcases([_case(law, result, counterexamples) for law in result.laws])
    written = BytesIO()
    suite.write(written)  # pyright: ignore[reportUnknownMemberType]
    return written.getvalue().decode()


def _case(law: LawResult, result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> TestCase:
    case = TestCase(law.law, classname=line(result.target))
    if (outcome := _outcome(law)) is not None:
        if isinstance(outcome, Failure):
            outcome.text = "\n".join(filter(None, [story(law, counterexamples), cause_of(result, law)]))
        case.result = outcome
    elif law.evidence.adapter:
        case.system_out = line(why(law))
    return case


def _outcome(law: LawResult) -> Failure | Error | Skipped | None:
    reason, clauses = line(why(law)), ", ".join(law.clauses)
    if law.wrong:
        return Failure(reason, clauses)
    match law.verdict:
        case "pass":
            return None
        case "error":
            return Error(reason, "error")
        case "skipped":
            return Skipped(reason, "skipped")
        case verdict:
            return Skipped(f"{verdict}: {reason}", verdict)
