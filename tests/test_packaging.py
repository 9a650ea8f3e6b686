"""What is installed: the packages that are listed are the folders, and the wheel holds them all."""

import subprocess
import sys
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner
from sources import FOLDERS, copied

from turncheck.conformance.cli.group import COMMANDS, turncheck

ROOT = Path(__file__).parents[1]
LIMIT = 120.0  # seconds; never waited for


def installed(path):
    """What a file of the checkout is called once it is installed."""
    return f"turncheck/{path.relative_to(ROOT).as_posix()}"


def files(pattern):
    return {installed(path) for folder in FOLDERS for path in (ROOT / folder).rglob(pattern) if path.is_file()}


SCRIPTS = "turncheck/adapters/runtimes/"
"""Adapters that run in environments of their own: data of the package, and no modules of it."""
TEMPLATES = "turncheck/conformance/templates/"
"""What `turncheck init` writes: as above."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The names in a wheel that was built from a copy of the sources."""
    folder = copied(tmp_path_factory.mktemp("sources"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "out"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (path,) = (folder / "out").iterdir()
    with ZipFile(path) as archive:
        return set(archive.namelist())


def test_the_packages_that_are_listed_are_the_folders():
    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    folders = {path.rpartition("/")[0].replace("/", ".") for path in files("__init__.py")}
    assert sorted(listed) == sorted(folders)


def test_every_folder_with_modules_is_a_package():
    modules = {name.rpartition("/")[0] for name in files("*.py") if not name.startswith((SCRIPTS, TEMPLATES))}
    assert modules == {name.rpartition("/")[0] for name in files("__init__.py")}


def test_every_module_is_in_the_wheel(wheel):
    assert files("*.py") - wheel == set()


def test_the_types_are_marked_as_such_in_the_wheel(wheel):
    assert {f"turncheck/{folder}/py.typed" for folder in FOLDERS} <= wheel


def test_every_schema_is_in_the_wheel(wheel):
    schemas = files("*.json")
    assert schemas
    assert schemas - wheel == set()


def test_every_adapter_of_a_runtime_is_in_the_wheel_with_its_lock_file(wheel):
    adapters = {name for name in files("*.*") if name.startswith(SCRIPTS) and "__pycache__" not in name}
    assert adapters
    assert adapters - wheel == set()


def test_both_helper_libraries_are_in_the_wheel(wheel):
    assert {"turncheck/adapters/kit/turncheck_kit.py", "turncheck/adapters/kit/turncheck_kit.mjs"} <= wheel


def test_every_template_of_init_is_in_the_wheel(wheel):
    templates = {name for name in files("*.*") if name.startswith(TEMPLATES) and "__pycache__" not in name}
    assert templates
    assert templates - wheel == set()


def test_the_clauses_and_the_stories_of_the_laws_are_in_the_wheel(wheel):
    assert {"turncheck/model/clauses.toml", "turncheck/conformance/laws/stories.toml"} <= wheel


def test_every_template_of_the_html_report_is_in_the_wheel(wheel):
    templates = {name for name in files("*.*") if "/html/templates/" in name}
    assert templates
    assert templates - wheel == set()


def test_the_wheel_holds_nothing_else(wheel):
    kinds = (
        "*.py",
        "*.json",
        "*.mjs",
        "*.d.ts",
        "*.lock",
        "*.in",
        "*.html",
        "*.css",
        "*.js",
        "*.toml",
        "*.yml",
        "py.typed",
    )
    assert {name for name in wheel if name.startswith("turncheck/")} <= {name for kind in kinds for name in files(kind)}


def test_the_wheel_claims_one_name_alone(wheel):
    tops = {name.partition("/")[0] for name in wheel}
    assert {"dist-info" if top.endswith(".dist-info") else top for top in tops} == {"turncheck", "dist-info"}


@pytest.mark.parametrize("command", list(COMMANDS))
def test_every_command_has_help(command):
    ran = CliRunner().invoke(turncheck, [command, "--help"])
    assert ran.exit_code == 0
    assert f"Usage: turncheck {command}" in ran.output
