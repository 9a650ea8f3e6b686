"""`turncheck init`: the written files run unchanged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from turncheck.conformance.cli.commands.init import STARTERS

LIMIT = 280.0  # seconds; never waited for
EVERY = pytest.mark.parametrize(
    ("kind", "lang"), [(kind, lang) for kind, starters in STARTERS.items() for lang in starters]
)


def run(folder, *arguments, before=""):
    """Run a command in *folder*, with turncheck and pytest on the path as a user has them, behind *before*."""
    own = Path(sys.executable).parent
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    return subprocess.run(
        [str(argument) for argument in arguments],
        cwd=folder,
        env=environment | {"PATH": os.pathsep.join([*filter(None, [str(before)]), str(own), os.environ["PATH"]])},
        capture_output=True,
        text=True,
        check=False,
        timeout=LIMIT,
    )


def told(out):
    """Return the commands that it names as the next ones."""
    return [line.strip() for line in out.partition("Next:\n")[2].splitlines()]


@EVERY
def test_what_is_written_is_said(invoke, tmp_path, kind, lang):
    ran = invoke(tmp_path, "init", "--kind", kind, "--lang", lang)
    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert ran.code == 0
    assert written == set(STARTERS[kind][lang].files)
    assert {line.removeprefix("wrote ") for line in ran.out.splitlines() if line.startswith("wrote ")} == written


@EVERY
def test_the_next_two_commands_are_said(invoke, tmp_path, kind, lang):
    assert told(invoke(tmp_path, "init", "--kind", kind, "--lang", lang).out) == [*STARTERS[kind][lang].commands]


def test_a_runtime_is_meant_where_no_kind_is_named(invoke, tmp_path):
    assert invoke(tmp_path, "init", "--lang", "python").code == 0
    assert (tmp_path / "adapter.py").is_file()


def test_a_projector_in_a_language_that_has_none_is_refused(invoke, tmp_path):
    ran = invoke(tmp_path, "init", "--kind", "projector", "--lang", "http")
    assert (ran.code, "for a projector there are python, node" in ran.err) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_another_folder_is_made_and_gone_to(invoke, tmp_path):
    ran = invoke(tmp_path, "init", "--lang", "python", "checks")
    assert told(ran.out)[0] == "cd checks"
    assert (tmp_path / "checks" / "adapter.py").is_file()


def test_nothing_is_overwritten(invoke, tmp_path):
    (tmp_path / "agent.py").write_text("mine", "utf-8")
    ran = invoke(tmp_path, "init", "--lang", "python")
    assert (ran.code, ran.out, "agent.py: there already" in ran.err) == (2, "", True)
    assert [path.name for path in tmp_path.iterdir()] == ["agent.py"]


def test_force_overwrites(invoke, tmp_path):
    (tmp_path / "agent.py").write_text("mine", "utf-8")
    assert invoke(tmp_path, "init", "--lang", "python", "--force").code == 0
    assert "class Agent" in (tmp_path / "agent.py").read_text("utf-8")


def test_a_folder_that_cannot_be_made_is_told(invoke, tmp_path):
    (tmp_path / "file").write_text("", "utf-8")
    ran = invoke(tmp_path, "init", "--lang", "python", "file/below")
    assert (ran.code, "a folder is needed where file is a file" in ran.err) == (2, True)


@pytest.mark.parametrize("arguments", [(), ("--lang", "cobol")])
def test_a_language_has_to_be_named(invoke, tmp_path, arguments):
    ran = invoke(tmp_path, "init", *arguments)
    assert (ran.code, "--lang" in ran.err) == (2, True)


def test_every_workflow_fits_its_schema(invoke, tmp_path):
    for kind, starters in STARTERS.items():
        for lang in starters:
            invoke(tmp_path, "init", "--kind", kind, "--lang", lang, f"{kind}-{lang}")
    workflows = sorted(tmp_path.glob("*/.github/workflows/turncheck.yml"))
    ran = run(
        tmp_path, sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows
    )
    assert (len(workflows), ran.returncode, ran.stderr) == (sum(map(len, STARTERS.values())), 0, "")


# ---- as written ----


@pytest.mark.parametrize(
    ("kind", "lang", "target"),
    [
        ("runtime", "python", "python:adapter:AgentAdapter"),
        ("runtime", "node", "cmd:node adapter.mjs"),
        ("projector", "python", "python:turns:project"),
        ("projector", "node", "cmd:node projector.mjs"),
        ("collator", "python", "python:blocks:Blocks"),
        ("collator", "node", "cmd:node collator.mjs"),
    ],
)
def test_it_walks_through_its_life(invoke, tmp_path, kind, lang, target):
    invoke(tmp_path, "init", "--kind", kind, "--lang", lang)
    ran = run(tmp_path, "turncheck", "smoke", target)
    assert ran.returncode == 0, ran.stdout + ran.stderr


WORDS = "10"
"""The tests run as written, with fewer generated words: of 57 real defects in the museum, 54 are caught by so many."""
SHORT = ("--turncheck-examples", WORDS)
TESTS = {"python": ("pytest", "-p", "no:cacheprovider", *SHORT), "node": ("node", "--test"), "http": ("pytest",)}


@pytest.fixture
def brief(tmp_path_factory):
    """A folder with a `turncheck` that generates fewer words: `node --test` has no option for it."""
    folder = tmp_path_factory.mktemp("brief")
    script = folder / "turncheck"
    script.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).parent}/turncheck" "$@" --examples {WORDS}\n', "utf-8")
    script.chmod(0o755)
    return folder


@EVERY
def test_the_test_passes(invoke, tmp_path, brief, kind, lang):
    invoke(tmp_path, "init", "--kind", kind, "--lang", lang)
    ran = run(tmp_path, *TESTS[lang], before=brief if lang == "node" else "")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_fault_in_the_agent_turns_the_test_red(invoke, tmp_path):
    invoke(tmp_path, "init", "--lang", "python")
    agent = tmp_path / "agent.py"
    text = agent.read_text("utf-8")
    mended = "        while self.open:  # a call without a result would spoil every later request\n"
    assert text.count(mended) == 1
    agent.write_text(text.replace(mended, "        while False:\n"), "utf-8")
    ran = run(tmp_path, "pytest", "-k", "calls-answered", "--turncheck-examples", "0")
    assert ran.returncode == 1
    assert "the run ended with this call unanswered" in ran.stdout


@pytest.mark.parametrize(
    ("lang", "name", "oldest", "test"),
    [
        ("python", "turns.py", "queue.pop(0)", "pytest --turncheck-examples 0"),
        ("node", "turns.mjs", "queue.shift()", "node --test"),
    ],
)
def test_a_fault_in_the_projector_turns_the_test_red(invoke, tmp_path, brief, lang, name, oldest, test):
    invoke(tmp_path, "init", "--kind", "projector", "--lang", lang)
    turns = tmp_path / name
    text = turns.read_text("utf-8")
    assert text.count(oldest) == 1
    turns.write_text(text.replace(oldest, "queue.pop()"), "utf-8")
    ran = run(tmp_path, *test.split(), before=brief if lang == "node" else "")
    assert ran.returncode == 1
    assert "the next root is not the follow-up that waited longest" in ran.stdout


@pytest.mark.parametrize(
    ("lang", "name", "adds", "test"),
    [
        ("python", "blocks.py", '["text"] += frame["content"]', "pytest --turncheck-examples 0"),
        ("node", "blocks.mjs", ".text += content", "node --test"),
    ],
)
def test_a_fault_in_the_collator_turns_the_test_red(invoke, tmp_path, brief, lang, name, adds, test):
    """EF-D2: a delta replaces the one before."""
    invoke(tmp_path, "init", "--kind", "collator", "--lang", lang)
    blocks = tmp_path / name
    text = blocks.read_text("utf-8")
    assert text.count(adds) == 1
    blocks.write_text(text.replace(adds, adds.replace("+=", "=")), "utf-8")
    ran = run(tmp_path, *test.split(), before=brief if lang == "node" else "")
    assert ran.returncode == 1
    assert "the newest block does not show what was streamed" in ran.stdout
