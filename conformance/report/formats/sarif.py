"""SARIF 2.1.0, as code scanning reads it: rules are laws, results are broken laws.

Only what is broken is a result, since code scanning makes an alert of each: the target itself, once and first, and each
broken law. A law without evidence is a notification of the run.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import quote

from turncheck.adapters.logs.framing import blocks, physical
from turncheck.adapters.logs.reading import MAX_LINE
from turncheck.model.clauses import clause_text

from ...check.results import LogFinding, LogResult, more_lines
from ...laws.registry import LAWS
from ...verify.outcome.results import BREAKS, AnyCounterexample, Crash, LawResult, Result
from ..causes import by_cause, cause_of
from ..law_summary import crash_story, explained, safe, why

SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
Json: TypeAlias = dict[str, Any]


def render(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> str:
    """Write a result for each broken law, at its counterexample file; suppressed where the baseline excuses it.

    Before them stands one for a target that broke, which names the laws that were not decided.
    """
    crash = result.crash
    rules = [*([] if crash is None else [BREAKS]), *(law.law for law in result.laws)]
    results = [] if crash is None else [_crash(result, crash, rules)]
    results += [_broken(law, rules, result, counterexamples) for law in by_cause(result) if law.wrong or law.excused]
    told = {"inconclusive"} if crash is not None else {"error", "inconclusive"}
    notes = [_notice(law, rules) for law in result.laws if law.verdict in told]
    notes += [_note("warning", f"{title}: {said}") for title, said in result.notes]
    whole = result.cut is None and not result.summary["error"]
    return _sarif(rules, results, notes, whole=whole, category=f"turncheck/{safe(result.target)}/")


def render_logs(results: Sequence[LogResult]) -> str:
    """Write a result for each finding, at its line."""
    rules = list(dict.fromkeys(one.law for result in results for one in result.findings))
    found = [one for result in results for one in _findings(result, rules)]
    failed = [result for result in results if result.why is not None]
    notes = [_note("error", f"{result.log} cannot be judged: {result.why}") for result in failed]
    notes += [_note("warning", f"{result.log}: {line}") for result in results for line in more_lines(result)]
    return _sarif(rules, found, notes, whole=not failed, category="turncheck/check/")


def _sarif(rules: Sequence[str], results: list[Json], notes: list[Json], *, whole: bool, category: str) -> str:
    driver = {"name": "turncheck", "version": version("turncheck"), "rules": [*map(_rule, rules)]}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": category},
        "invocations": [{"executionSuccessful": whole, "toolExecutionNotifications": notes}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=1) + "\n"


def _rule(name: str) -> Json:
    if name == BREAKS:
        says = "The target answers each message, and its process lives on"
        return {"id": name, "shortDescription": {"text": says}, "defaultConfiguration": {"level": "error"}}
    law = LAWS[name]
    clauses = [f"{clause}: {clause_text(clause)}" for clause in law.clauses]
    return {
        "id": name,
        "shortDescription": {"text": law.says},
        "help": {
            "text": "\n".join([f"{law.says}.", *clauses]),
            "markdown": "\n".join([f"{law.says}.", "", *(f"- {clause}" for clause in clauses)]),
        },
        "defaultConfiguration": {"level": "error"},
        "properties": {"tags": list(law.clauses)},
    }


def _crash(result: Result, crash: Crash, rules: Sequence[str]) -> Json:
    found = _result(BREAKS, rules, f"{safe(crash.message)}\n{crash_story(result)}".rstrip()) | {
        "partialFingerprints": {"targetLaw/v1": safe(f"{result.target}:{BREAKS}")}
    }
    if crash.counterexample is not None:
        found["locations"] = [_location(crash.counterexample, {"startLine": 1})]
    return found


def _broken(
    law: LawResult, rules: Sequence[str], result: Result, counterexamples: Mapping[str, AnyCounterexample]
) -> Json:
    found = _result(law.law, rules, explained(law, counterexamples, cause_of(result, law))) | {
        "partialFingerprints": {"targetLaw/v1": safe(f"{result.target}:{law.law}")}
    }
    place = result.cause_of(law.law)
    if place is not None:
        found["properties"] = {"cause": place + 1, "root": result.causes[place].root.law}
    if law.others:
        found["relatedLocations"] = [_location(file, {"startLine": 1}) for file in law.others]
    if law.counterexample is not None:
        found["locations"] = [_location(law.counterexample, {"startLine": 1})]
    if law.excused:
        found["suppressions"] = [{"kind": "external", "justification": why(law)}]
    return found


def _note(level: str, text: str) -> Json:
    return {"level": level, "message": {"text": safe(text)}}


def _notice(law: LawResult, rules: Sequence[str]) -> Json:
    return {
        "level": "error" if law.verdict == "error" else "note",
        "message": {"text": f"{law.law}: {law.verdict}: {why(law)}"},
        "associatedRule": {"id": law.law, "index": rules.index(law.law)},
    }


def _findings(result: LogResult, rules: Sequence[str]) -> Iterator[Json]:
    places = _places(result.log, result.findings)
    for one in result.findings:
        region = {"startLine": one.line, **places.get(one.line, {})}
        level = "note" if result.verdict == "inconclusive" else "error"
        found = _result(one.law, rules, safe(one.message), level)
        if result.log != "-":
            found["locations"] = [_location(result.log, region)]
        yield found


def _result(law: str, rules: Sequence[str], text: str, level: str = "error") -> Json:
    return {"ruleId": law, "ruleIndex": rules.index(law), "level": level, "message": {"text": text}}


def _location(file: str, region: dict[str, int]) -> Json:
    """Quote the path; a relative one stays relative, since code scanning looks for it from the repository's root."""
    scheme = "file://" if Path(file).is_absolute() else ""
    uri = scheme + quote(Path(file).as_posix(), errors="replace")
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


def _places(log: str, findings: Sequence[LogFinding]) -> Mapping[int, dict[str, int]]:
    """Map each line to its offset and length in bytes, without its line feed; empty for a log that is gone."""
    wanted = {one.line for one in findings}
    try:
        if not wanted or not Path(log).is_file():  # a pipe cannot be read twice
            return {}
        with Path(log).open("rb") as stream:
            found = (
                (origin.line, {"byteOffset": origin.offset, "byteLength": len(text)})
                for origin, text in physical(blocks(stream, MAX_LINE))
                if origin.line in wanted and text is not None
            )
            return dict(islice(found, len(wanted)))
    except OSError:  # gone, or its name is too long
        return {}
