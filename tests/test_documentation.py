"""The documentation: links lead somewhere, and the commands that it shows exist."""

import re
from pathlib import Path

import click
import pytest
from msgspec import Raw

from turncheck.adapters.protocol import messages as protocol
from turncheck.adapters.protocol.errors import DOCUMENT
from turncheck.conformance.cli.group import COMMANDS, turncheck
from turncheck.conformance.laws.registry import LAWS, selected

ROOT = Path(__file__).parents[1]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "diagrams" / "README.md",
    *sorted((ROOT / "tests" / "recordings").glob("*.md")),
]
MESSAGES = (protocol.Hello(1), protocol.Reset(1), protocol.Project(1, Raw()), protocol.Feed(1, Raw()))

every_page = pytest.mark.parametrize("page", PAGES, ids=[page.relative_to(ROOT).as_posix() for page in PAGES])


def prose(page):
    """A page without its blocks of code."""
    return re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page):
    """Return the anchors of a page's headings, as the usual renderers make them."""
    headings = re.findall(r"^#+ +(.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links(page):
    """The relative links of a page: (target, anchor)."""
    found = re.findall(r"\]\(([^()\s]+)\)", prose(page))
    return [link.partition("#")[::2] for link in found if not re.match(r"[a-z]+:", link)]


VERDICTS = re.compile(r"(\d+) pass, (?:(\d+) fail, )?(\d+) skipped; [\d…,]+ (words|logs)")
SUBJECTS = {"words": "runtime", "logs": "projector"}


@every_page
def test_the_verdicts_of_a_run_that_a_page_shows_are_of_all_laws(page):
    for *numbers, unit in VERDICTS.findall(page.read_text("utf-8")):
        assert sum(int(number or 0) for number in numbers) == len(selected([SUBJECTS[unit]]))


@every_page
def test_every_link_leads_to_a_file(page):
    assert [name for name, _ in links(page) if not (page.parent / name).exists()] == []


@every_page
def test_every_anchor_is_a_heading(page):
    named = [(page.parent / name if name else page, anchor) for name, anchor in links(page) if anchor]
    assert [anchor for target, anchor in named if target.suffix == ".md" and anchor not in anchors(target)] == []


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_an_error_message_names_a_heading_of_the_documentation(message):
    name, _, anchor = protocol.see(message).partition("#")
    assert anchor in anchors(ROOT / name)


def test_an_error_message_names_a_page_that_is_there():
    assert (ROOT / DOCUMENT).is_file()


RUNTIME_LAWS = [law for law in LAWS.values() if law.subject == "runtime"]


@pytest.mark.parametrize("capability", sorted(protocol.RUNTIME_CAPABILITIES))
def test_a_capability_names_the_laws_that_need_it(capability):
    (row,) = re.findall(rf"^\| `{capability}` \|.*\| (.+) \|$", prose(ROOT / "docs" / "protocol.md"), re.MULTILINE)
    named = set(re.findall(r"`([a-z-]+)`", row))
    assert {law.name for law in RUNTIME_LAWS if capability in law.needs} <= named
    assert named <= {law.name for law in RUNTIME_LAWS}


@pytest.mark.parametrize("value", ["whole", "never"])
def test_a_way_to_judge_runs_side_by_side_names_its_laws(value):
    (row,) = re.findall(rf"^\| `{value}` \| (.+) \|.+\|$", prose(ROOT / "docs" / "protocol.md"), re.MULTILINE)
    named = set(re.findall(r"`([a-z-]+)`", row))
    laws = {law.name for law in RUNTIME_LAWS if law.overlapping == value}
    told_above = {law.name for law in RUNTIME_LAWS if "policy busy=concurrent" in law.needs}
    relations = {law.name for law in RUNTIME_LAWS if law.kind == "relation"}
    assert named <= laws
    assert laws - named - told_above <= (relations if value == "never" else set())


def shown(pattern):
    return [
        (page.name, *found) for page in PAGES for found in re.findall(pattern, page.read_text("utf-8"), re.MULTILINE)
    ]


COMMAND_LINES = sorted(set(shown(r"(?:^\$ |`|^  )turncheck ([a-z]+)((?: [^`\n]*)?)")))


def test_the_readme_shows_commands():
    assert {"check", "project", "verify"} <= {command for page, command, _ in COMMAND_LINES if page == "README.md"}


@pytest.mark.parametrize(("page", "command", "rest"), COMMAND_LINES)
def test_a_command_line_that_is_shown_exists(page, command, rest):
    assert command in COMMANDS
    found = turncheck.get_command(click.Context(turncheck), command)
    assert found is not None
    known = {option for parameter in found.params for option in parameter.opts}
    assert set(re.findall(r"(?<!\S)--[a-z-]+", rest)) <= known


TARGETS = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
MADE = sorted(set(shown(r"(?:^|`)(make) ([a-z]+)")))


@pytest.mark.parametrize(("page", "_make", "target"), MADE)
def test_a_make_target_that_is_shown_exists(page, _make, target):
    assert target in TARGETS


def test_the_way_of_a_log_in_memory_is_as_shown(tmp_path, monkeypatch, capsys):
    page = (ROOT / "docs" / "log-format.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    log = tmp_path / "log.jsonl"
    log.write_text('{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n')
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    assert capsys.readouterr().out == "None 0 1 completed\n"
