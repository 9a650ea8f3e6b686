"""The installed files: the listed packages are the folders, the wheel holds them all, and extras stay out."""

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from click.testing import CliRunner
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from sources import FOLDERS, copied

from turncheck.conformance.cli.group import COMMANDS, turncheck
from turncheck.model.extras import EXTRAS

ROOT = Path(__file__).parents[1]
LIMIT = 120.0  # seconds; never waited for


def installed(path):
    """Return the installed name of a file of the checkout."""
    return f"turncheck/{path.relative_to(ROOT).as_posix()}"


def files(pattern):
    found = {installed(path) for folder in FOLDERS for path in (ROOT / folder).rglob(pattern) if path.is_file()}
    return found | {f"turncheck/{path.name}" for path in (ROOT / ".src" / "turncheck").glob(pattern)}


SCRIPTS = "turncheck/adapters/runtimes/"
"""Adapters that run in environments of their own: data of the package, and no modules of it."""
TEMPLATES = "turncheck/conformance/templates/"
"""What `turncheck init` writes: as above."""


@pytest.fixture(scope="module")
def wheel_file(tmp_path_factory):
    """A wheel that was built from a copy of the sources."""
    folder = copied(tmp_path_factory.mktemp("sources"))
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", "out"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=LIMIT)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (path,) = (folder / "out").iterdir()
    return path


@pytest.fixture(scope="module")
def wheel(wheel_file):
    """The names in the wheel."""
    with ZipFile(wheel_file) as archive:
        return set(archive.namelist())


CATALOGUES = {ROOT / "adapters/logs/formats", ROOT / "conformance/cli/commands"}
"""Folders with one file for each entry of a registry."""


@pytest.mark.parametrize(
    "room",
    sorted({path.parent for folder in FOLDERS for path in (ROOT / folder).rglob("__init__.py")} - CATALOGUES),
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_a_room_has_at_most_twelve_siblings(room):
    rooms = [path.parent for path in room.glob("*/__init__.py")]
    modules = [path for path in room.glob("*.py") if path.name not in ("__init__.py", "__main__.py")]
    assert len(rooms + modules) <= 12, sorted(path.name for path in rooms + modules)


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


# ---- the wheel without extras ----

LOG = (
    '{"type":"user-message","text":"red"}\n{"type":"run-stop","reason":"completed"}\n'
    '{"type":"user-message","text":"blue"}\n{"type":"run-stop","reason":"completed"}\n'
)
PROJECTOR = "def project(events):\n    raise ValueError\n"
DONE, FOUND, LACKS = 0, 1, 2
WITHOUT_EXTRAS = [
    ("check log.jsonl", DONE),
    ("check s3://bucket/logs", "fleet"),
    ("completion bash", DONE),
    ("diagrams", "diagrams"),
    ("diagrams --format dot", DONE),
    ("drive reference:interaction", DONE),
    ("explain follow-up-fifo --picture svg", DONE),
    ("export promela turn", DONE),
    ("formats", DONE),
    ("init --lang python", DONE),
    ("laws", DONE),
    ("learn reference:interaction", "learn"),
    ("matrix reference:event_flow --examples 0", DONE),
    ("mutants collation --every 400 --verified 1000 --examples 0", DONE),
    ("project log.jsonl", DONE),
    ("prove turn", "proofs"),
    ("redact log.jsonl", DONE),
    ("replay --run found/python-turns-project.total.json", FOUND),
    ("smoke reference", DONE),
    ("targets", DONE),
    ("verify python:turns:project --examples 0 --laws total", FOUND),
    ("verify reference:engine --examples 0 --laws run-ends-once", DONE),
    ("verify http://127.0.0.1:9/agent", "http"),
    ("verify reference --report html=report.html", "diagrams"),
]
"""A command line → its exit code, or the extra that it lacks."""


def closure(requirements: list[str], found: dict[str, Distribution]) -> Iterator[Distribution]:
    """The distributions that *requirements* bring without any extra, as they are installed here."""
    for requirement in map(Requirement, requirements):
        name = canonicalize_name(requirement.name)
        if name not in found and (requirement.marker is None or requirement.marker.evaluate({"extra": ""})):
            found[name] = distribution(name)
            yield found[name]
            yield from closure(found[name].requires or [], found)


@pytest.fixture(scope="module")
def bare(wheel_file, tmp_path_factory):
    """Run a command line in an environment that has the wheel and its base dependencies: ``bare(line)``."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "environment"], check=True, timeout=LIMIT)
    (site,) = folder.glob("environment/lib/python*/site-packages")
    with ZipFile(wheel_file) as archive:
        archive.extractall(site)
    (info,) = site.glob("*.dist-info")
    for found in closure(Distribution.at(info).requires or [], {}):
        for top in {path.parts[0] for path in found.files or []} - {"..", "__pycache__"}:
            (site / top).symlink_to(found.locate_file(top))
    (folder / "log.jsonl").write_text(LOG, "utf-8")
    (folder / "turns.py").write_text(PROJECTOR, "utf-8")

    def bare(line):
        return subprocess.run(
            [folder / "environment/bin/python", "-m", "turncheck.conformance", *line.split()],
            cwd=folder,
            env={name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "TURNCHECK"))},
            input="user hello\n",
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )

    bare("verify python:turns:project --examples 0 --laws total --out found")
    return bare


def test_the_extras_of_the_code_are_those_that_can_be_installed():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    assert {*declared} == {*EXTRAS, "all"}
    assert [Requirement(line).extras for line in declared["all"]] == [{*EXTRAS}]


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_has_the_modules_that_its_distributions_install(extra):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    tops = {file.parts[0] for line in declared[extra] for file in distribution(Requirement(line).name).files or []}
    assert {module.partition(".")[0] for module in EXTRAS[extra]} <= tops


def test_every_command_is_tried_without_extras():
    assert {line.split()[0] for line, _ in WITHOUT_EXTRAS} == {*COMMANDS}


@pytest.mark.parametrize(("line", "outcome"), WITHOUT_EXTRAS, ids=lambda value: value if isinstance(value, str) else "")
def test_without_extras_a_command_does_its_work_or_names_the_extra_in_one_line(bare, line, outcome):
    ran = bare(line)
    if isinstance(outcome, int):
        assert ran.returncode == outcome, ran.stdout + ran.stderr
    else:
        assert (ran.returncode, ran.stdout) == (LACKS, "")
        assert ran.stderr.startswith("Error: ")
        assert ran.stderr.endswith(f"needs the extra {outcome!r}: pip install 'turncheck[{outcome}]'\n")
        assert ran.stderr.count("\n") == 1
