"""The report as one HTML page that loads nothing: the laws, each failure with its pictures, the coverage.

The page's content security policy allows its one style and its one script, by their hashes, and nothing else: an
implementation's text stays text.
"""

import shlex
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache, partial
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from turncheck.model.clauses import clause_text
from turncheck.model.declaration.machine import Row
from turncheck.model.rendering.printable import lines
from turncheck.model.rendering.svg import HEAD

from ....generation.situations import rows_for
from ....laws.registry import LAWS
from ....verify.outcome.covered import Share
from ....verify.outcome.results import BREAKS, AnyCounterexample, Result
from ...causes import by_cause, cause_line, cause_of, counted_causes
from ...law_summary import MARKS, crash_story
from .failure import DRAWN, Failure, failure_of
from .machine import MachinePicture, picture_of
from .strings import BRIEF, compared, said

if TYPE_CHECKING:
    from jinja2 import Environment

LIMIT: Final = 3
"""Limit on a page's size. Failures that would exceed it are shown without their pictures."""
_TEMPLATES: Final = Path(__file__).parent / "templates"
_MACHINES: Final = {"projector": "request_cycle", "runtime": "interaction", "collator": "collation"}
"""A target's role → the machine whose rows are counted."""
_COUNTS: Final = ("logs", "events", "words", "stimuli", "unsettled", "flows", "frames")


def render(result: Result, counterexamples: Mapping[str, AnyCounterexample]) -> str:
    """Write the page of *result*; *counterexamples* maps its broken laws to theirs. The same bytes every time."""
    environment = _environment()
    core = picture_of("request_cycle")
    broken = [law for law in by_cause(result) if law.law in counterexamples]
    failures = [
        failure_of(place, law, counterexamples[law.law], cause_of(result, law)) for place, law in enumerate(broken, 1)
    ]
    drawn = [_coverage(share, result) for share in result.coverage.get("shares", ()) if share.what == "rows"]
    machines = list(dict.fromkeys([core, *(one.picture for one in drawn)]))
    sheet = (_TEMPLATES / "report.css").read_text("utf-8")
    rules = [*(one.style for one in machines), *(one.style for one in failures), *(one.style for one in drawn)]
    style = "\n".join([sheet, *rules])
    script = (_TEMPLATES / "report.js").read_text("utf-8")
    page = partial(
        environment.get_template("report.html").render,
        result=result,
        outcome=_outcome(result),
        broke=[said(line) for line in crash_story(result).splitlines()],
        kinds=sorted({law.kind for law in result.laws}),
        counts=[name for name in _COUNTS if name in result.coverage],
        roles=len({share.role for share in result.coverage.get("shares", ())}),
        failures={failure.law.law: failure.name for failure in failures},
        causes=[cause_line(result, place) for place in range(len(result.causes))],
        counted=counted_causes(result),
        coverage=drawn,
        machines=machines,
        head=HEAD,
        style=style,
        script=script,
        policy=_policy(style, script),
    )
    return page(bodies=_bodies(environment, failures, core, LIMIT * 1_000_000 - len(page(bodies=[]).encode())))


def _bodies(environment: "Environment", failures: Sequence[Failure], core: MachinePicture, room: int) -> list[str]:
    """Write each failure as HTML, with its pictures as long as there is *room* for them, in bytes."""
    body = partial(environment.get_template("failure.html").render, core=core, limit=LIMIT, drawn=DRAWN)
    bodies = [body(failure=failure, brief=True) for failure in failures]
    room -= len("".join(bodies).encode())
    for place, failure in enumerate(failures):
        whole = body(failure=failure, brief=False)
        more = len(whole.encode()) - len(bodies[place].encode())
        if more <= room:
            room -= more
            bodies[place] = whole
    return bodies


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - imported only to render

    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"said": said, "spelled": lines, "quoted": shlex.quote, "says": _says}
    environment.filters |= {"clause_text": clause_text, "text": partial(escape, quote=False)}  # less than Jinja escapes
    constants: Any = environment.globals
    constants.update(marks=MARKS, most=BRIEF, compared=compared, breaks=BREAKS)
    return environment


def _says(law: str) -> str:
    return LAWS[law].says if law in LAWS else ""


def _policy(style: str, script: str) -> str:
    """Write the policy: nothing from outside, and inline only these two."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _outcome(result: Result) -> str:
    if result.crash is None:
        return _judged(result)
    count = result.summary.get("fail", 0)
    return f"The target breaks, and {_broken(count)}" if count else "The target breaks"


def _broken(count: int) -> str:
    return f"{count} {'law is' if count == 1 else 'laws are'} broken"


def _judged(result: Result) -> str:
    count = result.summary.get("fail", 0)
    if count:
        broken = _broken(count)
        return broken if any(law.wrong for law in result.laws) else f"{broken}, as the baseline expects"
    if any(law.wrong for law in result.laws):
        return "No law is broken, and the baseline has stale entries"
    return "No law is broken" if result.exit_code == 0 else "No law is broken, and not all could be judged"


class _Drawn(NamedTuple):
    """A machine, its rows coloured by whether they were taken."""

    picture: MachinePicture
    name: str
    label: str
    absent: bool
    style: str


def _coverage(share: Share, result: Result) -> _Drawn:
    """Colour the rows of a role's machine: taken, missed, or not possible for a target of these capabilities."""
    picture = picture_of(_MACHINES[share.role])
    possible: Sequence[Row] = picture.rows
    if share.role == "runtime":
        declared = rows_for(frozenset(result.profile.capabilities), result.profile.policies)
        possible = declared if len(declared) == share.total else possible
    missed = [row for row in possible if f"{row.source}: {row.label}" in share.missed]
    colours = dict.fromkeys(picture.rows, "absent") | dict.fromkeys(possible, "taken") | dict.fromkeys(missed, "missed")
    name = f"coverage-{share.role}"
    return _Drawn(
        picture=picture,
        name=name,
        label=f"The machine {picture.machine.title}: {share.exercised} of {share.total} rows taken",
        absent=len(possible) < len(picture.rows),
        style=picture.lit(f"#{name}", colours),
    )
