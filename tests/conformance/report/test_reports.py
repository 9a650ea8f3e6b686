"""Every kind of report: hostile strings do no harm, long ones are cut, a real run is rendered."""

import html.parser
import json
import re
from pathlib import Path
from unicodedata import category
from xml.etree import ElementTree as ET

import pytest
import xmlschema
from hostile_text import TEXT, harm
from jsonschema import Draft4Validator

from turncheck.conformance.check.results import LogFinding, LogResult
from turncheck.conformance.report.registry import KINDS, OF_LOGS, on_logs, on_result

DATA = Path(__file__).parents[2] / "data"
JUNIT = xmlschema.XMLSchema(DATA / "junit-10.xsd")
SARIF = Draft4Validator(json.loads((DATA / "sarif-2.1.0-rtm.5.json").read_text()))
PLAIN = sorted(set(KINDS) - {"html"})
LONG = 1_000_000
HOSTILE = {
    "a script": "<script>alert(1)</script>",
    "the end of everything": "]]> --> </pre></details></summary></failure></testsuite>",
    "control characters": "\x00\x01\x07\x1b[31m\x7f\x85",
    "lines": "one\n::error::two\r\n\r\n| three |\u2028four",
    "bidi overrides": "\u202egnp.exe\u2066\u200b\ufeff",
    "a lone surrogate": "\ud800 \udfff",
    "no characters": "\ufffe\uffff\U0010ffff",
    "markup": "| `x` **b** [x](javascript:1) ![x](y) @all $x$ &lt; &#10; \\",
    "escapes": "%0A%25 %zz \\u0000 \\",
    "private use": "\ue0000\ue000 \uf8ff",
    "commands of CI services": TEXT,
    "a long text": "x" * LONG,
}
COMMAND = re.compile(r"::(error|warning|notice) (\w+=[^:,]*,)*title=[^:,]*::.*")


class Tags(html.parser.HTMLParser):
    """The tags of a text, in order."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.append(tag if not attrs else f"{tag} {attrs}")

    def handle_endtag(self, tag):
        self.found.append(f"/{tag}")


def junit(text):
    JUNIT.validate(ET.fromstring(text))


def sarif(text):
    SARIF.validate(json.loads(text))


def badge(text):
    assert set(json.loads(text)) == {"schemaVersion", "label", "message", "color"}


def github(text):
    assert [line for line in text.splitlines() if not COMMAND.fullmatch(line)] == []


def markdown(text):
    folds = text.count("<details>")
    assert Tags(text).found == ["details", "summary", "/summary", "pre", "/pre", "/details"] * folds
    assert [row for row in text.splitlines() if row.startswith("|") and row.count("|") != 6] == []


WELL_FORMED = {"junit": junit, "sarif": sarif, "badge": badge, "github": github, "markdown": markdown}


def unseen(text):
    return {character for character in text if category(character) in {"Cc", "Cf", "Cs", "Cn"}} - {"\n"}


def test_every_kind_is_held_to_its_form():
    assert sorted(WELL_FORMED) == PLAIN


@pytest.mark.parametrize("kind", PLAIN)
def test_a_real_run_is_well_formed(kind, broken):
    WELL_FORMED[kind](on_result(kind)(*broken))


@pytest.mark.parametrize("kind", PLAIN)
def test_a_run_whose_target_broke_is_well_formed(kind, crashed):
    WELL_FORMED[kind](on_result(kind)(*crashed))


@pytest.mark.parametrize("kind", PLAIN)
def test_a_run_that_judged_nothing_is_well_formed(kind, result):
    WELL_FORMED[kind](on_result(kind)(result(), {}))


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", PLAIN)
def test_a_report_stays_well_formed_whatever_an_implementation_writes(kind, name, hostile):
    for breaks in (False, True):
        WELL_FORMED[kind](on_result(kind)(*hostile(HOSTILE[name], breaks=breaks)))


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", PLAIN)
def test_a_report_holds_nothing_that_is_not_seen(kind, name, hostile):
    assert unseen(on_result(kind)(*hostile(HOSTILE[name], breaks=True))) == set()


@pytest.mark.parametrize("kind", sorted(set(KINDS) - {"github"}))
def test_a_ci_service_obeys_nothing_in_a_report(kind, hostile):
    assert harm(on_result(kind)(*hostile(TEXT, breaks=True))) == []


def test_github_obeys_our_commands_alone(hostile):
    text = on_result("github")(*hostile(TEXT))
    assert [line.split(" ")[0] for line in text.splitlines()] == ["::error"] * 3 + ["::warning"] * 2
    assert harm(text) == ["::"] * 5


@pytest.mark.parametrize("kind", PLAIN)
def test_a_long_text_does_not_make_a_long_report(kind, hostile):
    assert len(on_result(kind)(*hostile(HOSTILE["a long text"]))) < LONG / 5


@pytest.mark.parametrize("kind", sorted(set(PLAIN) - {"badge"}))
def test_a_text_that_is_cut_says_how_long_it_was(kind, hostile):
    assert "(1,000,000 characters)" in re.sub(r"&#40;", "(", on_result(kind)(*hostile(HOSTILE["a long text"]))).replace(
        "&#41;", ")"
    )


@pytest.mark.parametrize("kind", PLAIN)
def test_the_same_result_gives_the_same_text(kind, broken):
    assert on_result(kind)(*broken) == on_result(kind)(*broken)


@pytest.mark.parametrize("kind", ["junit", "sarif", "markdown", "github"])
def test_a_failure_comes_with_the_command_that_replays_it(kind, broken):
    assert "turncheck replay --run found/x.json" in on_result(kind)(*broken)


# ---- of logs ----


def judged(text="x", verdict="fail"):
    return LogResult(text, "pi", 1, 1, (LogFinding("malformed", ("RC-D5",), 0, 3, text),), verdict, text)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("kind", OF_LOGS)
def test_a_report_of_logs_stays_well_formed_whatever_they_hold(kind, name):
    text = on_logs(kind)([judged(HOSTILE[name]), judged(HOSTILE[name], "error")])
    WELL_FORMED[kind](text)
    assert unseen(text) == set()


@pytest.mark.parametrize("kind", OF_LOGS)
def test_a_report_of_no_logs_is_well_formed(kind):
    WELL_FORMED[kind](on_logs(kind)([]))


# ---- the registry ----


@pytest.mark.parametrize("kind", ["nonsense", "registry", ""])
def test_only_what_the_registry_lists_is_a_report(kind):
    with pytest.raises(KeyError):
        on_result(kind)


def test_the_documentation_lists_every_kind_and_which_check_has():
    page = (DATA.parents[1] / "docs" / "reports.md").read_text("utf-8")
    rows = [f"| `{kind}` | {says} | {'✓' if kind in OF_LOGS else ''}" for kind, says in KINDS.items()]
    assert [row for row in rows if row not in page] == []


def test_a_kind_that_tells_of_no_logs_says_so():
    with pytest.raises(KeyError):
        on_logs("badge")


@pytest.mark.parametrize("kind", KINDS)
def test_an_incomplete_run_is_told_from_one_that_its_caller_cut(result, kind):
    cut, incomplete = (on_result(kind)(result(cut="x", incomplete=one), {}) for one in (False, True))
    assert "incomplete" in incomplete
    assert cut != incomplete
