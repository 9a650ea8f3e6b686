"""An adapter with variants: each is verified, and the one result says what only some show."""

import json
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from turncheck.adapters.targets.registry import Target
from turncheck.conformance.cli.group import main
from turncheck.conformance.verify.outcome.results import INTERRUPTED
from turncheck.conformance.verify.variants import verify_variants

ADAPTER = Path(__file__).parents[2] / "adapters" / "kit" / "variant_runtime.py"
TWO_ROLES = f"cmd:{sys.executable} {ADAPTER.with_name('two_roles.py')}"
TARGET = f"cmd:{sys.executable} {ADAPTER}"
ASKED = ("--examples", "0", "--laws", "calls-answered", "--laws", "run-never-stuck")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("variants")


def ran(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(list(map(str, arguments)))
    return ended.value.code, capsys.readouterr().out


def test_what_only_one_shows_is_said(capsys, folder):
    code, text = ran(capsys, "verify", TARGET, *ASKED, "--json", "--out", folder)
    result = json.loads(text)
    assert (code, [one["name"] for one in result["variants"]]) == (1, ["abort=api", "abort=task"])
    assert [one["summary"]["fail"] for one in result["variants"]] == [0, 1]
    (law,) = [one for one in result["laws"] if one["verdict"] == "fail"]
    assert (law["law"], law["variants"]) == ("calls-answered", ["abort=task"])
    assert law["why"].endswith("(only in abort=task)")
    assert [cause["variants"] for cause in result["causes"]] == [["abort=task"]]


def test_its_counterexample_starts_that_variant_again(capsys, folder):
    ran(capsys, "verify", TARGET, *ASKED, "--json", "--out", folder)
    (file,) = folder.glob("*.calls-answered.json")
    assert json.loads(file.read_text("utf-8"))["variant"] == "abort=task"
    code, text = ran(capsys, "replay", "--run", file)
    assert (code, "STILL FAILS" in text, "variant: abort=task" in text) == (1, True, True)


@pytest.mark.parametrize(("name", "expected"), [("abort=api", 0), ("abort=task", 1)])
def test_one_can_be_chosen(capsys, folder, name, expected):
    code, text = ran(capsys, "verify", TARGET, *ASKED, "--variant", name, "--out", folder / name)
    assert (code, f"variant {name}: " in text) == (expected, True)


def test_the_processes_of_a_shared_run_are_that_variant(capsys, folder):
    alone = ran(capsys, "verify", TARGET, *ASKED, "--json", "--out", folder)
    assert ran(capsys, "verify", TARGET, *ASKED, "--json", "--out", folder, "-j", "2") == alone


def test_one_that_is_not_there_is_an_error(capsys, folder):
    with pytest.raises(SystemExit) as ended:
        main(["verify", "python:projectors.plain:Plain", "--variant", "durable", "--out", str(folder)])
    assert (ended.value.code, "has no variant" in capsys.readouterr().err) == (2, True)


def test_a_profile_of_ones_own_needs_a_choice(capsys, folder):
    file = folder / "profile.json"
    file.write_text('{"roles": ["runtime"], "capabilities": []}', "utf-8")
    with pytest.raises(SystemExit) as ended:
        main(["verify", TARGET, "--profile", str(file), "--out", str(folder)])
    assert (ended.value.code, "choose one with --variant" in capsys.readouterr().err) == (2, True)


def test_what_came_of_each_is_said_law_by_law(capsys, folder):
    _, text = ran(capsys, "verify", TARGET, *ASKED, "--json", "--out", folder)
    api, task = (one["verdicts"] for one in json.loads(text)["variants"])
    assert (api["calls-answered"], task["calls-answered"]) == ("pass", "fail")
    assert api["run-never-stuck"] == task["run-never-stuck"] == "pass"


def test_variants_of_different_roles_are_an_error_before_any_is_verified(capsys, folder):
    with pytest.raises(SystemExit) as ended:
        main(["verify", TWO_ROLES, "--out", str(folder)])
    said = capsys.readouterr().err
    assert (ended.value.code, "api is a runtime, ui is a projector" in said) == (2, True)
    assert "turncheck verify --variant NAME" in said


@pytest.mark.parametrize(("name", "role"), [("api", "runtime"), ("ui", "projector")])
def test_one_of_them_is_verified_by_itself(capsys, folder, name, role):
    law = {"runtime": "run-never-stuck", "projector": "total"}[role]
    _, text = ran(
        capsys, "verify", TWO_ROLES, "--examples", "0", "--laws", law, "--variant", name, "--json", "--out", folder
    )
    assert json.loads(text)["profile"]["roles"] == [role]


def test_one_that_is_interrupted_is_the_last(monkeypatch):
    opened = []

    def verified(one, name):
        opened.append(name)
        return SimpleNamespace(cut=INTERRUPTED), {}

    monkeypatch.setattr("turncheck.conformance.verify.variants.joined", lambda found: [*found])
    found: Any = verify_variants(Target(), lambda _: Target(), verified, names=["abort=api", "abort=task"])
    assert (found, opened) == (["abort=api"], ["abort=api"])


def test_reports_say_it_too(capsys, folder):
    kinds = ["junit", "markdown", "html", "github", "sarif"]
    asked = [word for kind in kinds for word in ("--report", f"{kind}={folder / kind}")]
    ran(capsys, "verify", TARGET, *ASKED, "--out", folder, *asked)
    assert [kind for kind in kinds if "only in abort=task" not in (folder / kind).read_text("utf-8")] == []
