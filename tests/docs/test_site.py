"""The site builds, and a warning would be an error: links, anchors, clauses, commands and pages that nobody lists."""

import subprocess
import sys
from pathlib import Path

import pytest

from turncheck.conformance.cli.group import COMMANDS
from turncheck.conformance.laws.registry import LAWS
from turncheck.model.clauses import catalogue
from turncheck.model.machines.registry import MACHINES

ROOT = Path(__file__).parents[2]
BUILD = (sys.executable, "-m", "sphinx", "-c", "docs", "-q", "-W", "--keep-going")
"""As in the Makefile."""
PATIENCE = 600  # seconds; never waited for where the machine has a core free


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The site, and what building it printed."""
    folder = tmp_path_factory.mktemp("site")
    command = [*BUILD, "-d", str(folder / "trees"), ".", str(folder / "site")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE, check=False)
    return folder / "site", ran.stdout + ran.stderr


def page(built, name):
    return (built[0] / f"{name}.html").read_text("utf-8")


def test_it_builds_without_a_warning(built):
    assert built[1] == ""


def test_its_root_leads_to_the_first_page(built):
    assert "url=docs/index.html" in page(built, "index")


def test_every_law_has_a_section(built):
    text = page(built, "docs/registry/laws")
    assert [law for law in LAWS if f'id="{law}"' not in text] == []


def test_every_clause_can_be_linked(built):
    text = page(built, "docs/registry/clauses")
    assert [clause for clause in catalogue() if f'id="term-{clause}"' not in text] == []


def test_every_machine_is_drawn(built):
    text = page(built, "docs/registry/machines")
    assert [name for name in MACHINES if f"_images/{name}.svg" not in text] == []


def test_every_command_is_described_by_its_name(built):
    text = page(built, "docs/registry/command-line")
    assert [name for name in COMMANDS if f'id="turncheck-{name}"' not in text] == []
