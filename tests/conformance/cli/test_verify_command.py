"""`turncheck verify` from the outside: the result object, exit codes, files, and how it is interrupted."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from processes import living

from turncheck.adapters.targets.reference_projector import ReferenceTarget
from turncheck.adapters.targets.registry import KINDS
from turncheck.adapters.targets.runtime_catalog import known
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.schemas.json_schemas import FOLDER
from turncheck.model.rendering.words import event_line

ALL = [law.name for law in selected(["projector"])]
ROOT = Path(__file__).parents[3]
JS = ROOT / "tests" / "projectors" / "js"
LAST_IN_FIRST_OUT = "python:projectors.wrong:LastInFirstOut"
LIMIT = 60.0  # seconds; never waited for

pytestmark = pytest.mark.usefixtures("projectors_importable")


def validator(name):
    return Draft202012Validator(json.loads((FOLDER / name).read_text()))


def failed(result):
    """The one law that failed."""
    return next(law for law in result["laws"] if law["verdict"] == "fail")


def failing(result):
    return {law["law"] for law in result["laws"] if law["verdict"] == "fail"}


@pytest.fixture(scope="module")
def right(invoke, tmp_path_factory):
    """The reference, as JSON."""
    ran = invoke(tmp_path_factory.mktemp("right"), "verify", "reference", "--examples", "20", "--json")
    return ran, json.loads(ran.out)


@pytest.fixture(scope="module")
def wrong(invoke, tmp_path_factory):
    """A projector with a fault, as JSON, and the folder that it was run in."""
    folder = tmp_path_factory.mktemp("wrong")
    laws = ("--laws", "follow-up-fifo", "--laws", "o*")
    ran = invoke(folder, "verify", LAST_IN_FIRST_OUT, "--examples", "0", *laws, "--out", "found", "--json")
    return ran, json.loads(ran.out), folder


@pytest.fixture(scope="module")
def shown(invoke, tmp_path_factory):
    """The same as text."""
    folder = tmp_path_factory.mktemp("shown")
    return invoke(folder, "verify", LAST_IN_FIRST_OUT, "--examples", "0", "--laws", "follow-up-fifo")


# ---- the result object ----


def test_json_has_exactly_these_keys(right):
    assert list(right[1]) == [
        "turncheck",
        "target",
        "implementation",
        "profile",
        "seed",
        "laws",
        "coverage",
        "summary",
        "floor",
    ]


def test_json_of_a_law_that_passed_has_exactly_these_keys(right):
    assert {tuple(law) for law in right[1]["laws"]} == {("law", "kind", "clauses", "verdict", "evidence")}


def test_json_of_a_law_that_failed_says_why_and_names_the_file(wrong):
    assert list(failed(wrong[1])) == ["law", "kind", "clauses", "verdict", "evidence", "why", "counterexample"]


def test_json_tells_observed_evidence_from_inferred(right):
    assert {tuple(law["evidence"]) for law in right[1]["laws"]} == {("observed", "adapter")}


def test_json_has_every_law_in_the_order_of_the_list(right):
    assert [law["law"] for law in right[1]["laws"]] == ALL


def test_json_is_one_line(right):
    assert right[0].out.count("\n") == 1


@pytest.mark.parametrize("outcome", ["right", "wrong"])
def test_json_is_valid_by_the_published_schema(request, outcome):
    validator("verify.json").validate(request.getfixturevalue(outcome)[1])


# ---- exit codes ----


def test_a_projector_with_nothing_wrong_exits_0(right):
    assert (right[0].code, failing(right[1])) == (0, set())


def test_a_broken_law_exits_1(wrong):
    assert (wrong[0].code, failing(wrong[1])) == (1, {"follow-up-fifo"})


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("nonsense", "no target 'nonsense'"),
        ("reference:motor", "no 'motor'"),
        ("python:no_such_module:project", "No module named 'no_such_module'"),
        ("cmd:/no/such/program", "cannot start '/no/such/program'"),
    ],
)
def test_a_target_that_does_not_exist_exits_2(invoke, tmp_path, target, said):
    ran = invoke(tmp_path, "verify", target)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err


def test_a_target_that_breaks_exits_2(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "python:projectors.wrong:dies", "--laws", "one-root", "--json")
    assert (ran.code, json.loads(ran.out)["laws"][0]["verdict"]) == (2, "error")


# ---- options ----


def test_laws_are_chosen_by_glob(wrong):
    assert [law["law"] for law in wrong[1]["laws"]] == [
        name for name in ALL if name == "follow-up-fifo" or name.startswith("o")
    ]


def test_a_glob_that_fits_no_law_exits_2_and_says_what_lists_them(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference", "--laws", "no-such-*")
    assert ran.code == 2
    assert "no law on a projector is called 'no-such-*'; `turncheck laws` lists them" in ran.err


def test_a_quick_run_has_a_tenth_of_the_generated_logs(invoke, tmp_path):
    quick = invoke(tmp_path, "verify", "reference", "--laws", "order", "--examples", 50, "--quick", "--json").out
    assert quick == invoke(tmp_path, "verify", "reference", "--laws", "order", "--examples", 5, "--json").out


@pytest.mark.parametrize("target", ["reference:event_flow", "reference"])
def test_a_quick_run_misses_no_floor(invoke, tmp_path, target):
    ran = invoke(tmp_path, "verify", target, "--examples", 10, "--quick", "--json")
    assert (ran.code, [item for item in json.loads(ran.out)["floor"] if not item["count"]]) == (0, [])


def test_a_suite_is_never_quick(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference:interaction", "--suite", "n-complete", "--quick")
    assert (ran.code, "a suite promises something as a whole" in ran.err) == (2, True)


def test_timings_are_there_only_where_they_are_asked_for(invoke, tmp_path):
    command = ("verify", "reference", "--laws", "order", "--examples", 5, "--json")
    plain, timed = (json.loads(invoke(tmp_path, *command, *more).out) for more in ((), ("--timings",)))
    assert [*timed.pop("timings")] == ["opening", "exploring", "shrinking"]
    assert timed == plain


def test_a_dry_run_lists_the_laws(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference", "--dry-run", "--laws", "order")
    assert ran.code == 0
    assert "\norder " in ran.out


def test_a_dry_run_starts_nothing(invoke, tmp_path):
    assert invoke(tmp_path, "verify", "cmd:touch started", "--dry-run").code == 0
    assert list(tmp_path.iterdir()) == []


def test_a_profile_file_counts_instead_of_what_the_target_declares(invoke, tmp_path):
    (tmp_path / "profile.json").write_text('{"roles": ["projector"], "capabilities": ["policies", "steps"]}')
    ran = invoke(
        tmp_path, "verify", "reference", "--profile", "profile.json", "--laws", "rounds", "--examples", "0", "--json"
    )
    assert json.loads(ran.out)["laws"][0]["why"] == "not declared: rounds"


def test_a_profile_file_that_is_not_there_exits_2(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference", "--profile", "profile.json")
    assert (ran.code, ran.err) == (2, "Error: the profile profile.json cannot be read: No such file or directory\n")


@pytest.mark.parametrize("kinds", [*([kind] for kind in KINDS), known()])
def test_the_help_names_every_kind_of_target(invoke, tmp_path, kinds):
    said = invoke(tmp_path, "verify", "--help").out
    assert any(kind in said for kind in kinds)


def test_an_event_without_fields_is_shown_without_trailing_blanks():
    assert event_line({"type": "abort"}) == "abort"


@pytest.mark.parametrize(
    "profile",
    [
        b"{",
        b"\xff",
        b"{}",
        b'{"roles": ["judge"], "capabilities": []}',
        b'{"roles": ["projector"], "capabilities": [], "policies": {"whileActive": "drop"}}',
    ],
)
def test_a_profile_file_that_cannot_be_used_exits_2(invoke, tmp_path, profile):
    (tmp_path / "profile.json").write_bytes(profile)
    ran = invoke(tmp_path, "verify", "reference", "--profile", "profile.json")
    assert ran.code == 2
    assert "the profile profile.json cannot be used" in ran.err


# ---- text ----


def test_text_shows_each_law_with_its_verdict(shown):
    assert "✗ follow-up-fifo             fail" in shown.out


def test_text_marks_the_event_that_the_finding_points_at(shown):
    assert re.search(r"▶ +\d+  user-message", shown.out)


def test_text_shows_the_clause(shown):
    assert "RC-7.5    A queued follow-up becomes the next root" in shown.out


def test_text_ends_with_how_to_replay(shown):
    assert "turncheck replay --run .turncheck/python-projectors-wrong-LastInFirstOut.follow-up-fifo.json" in shown.out


# ---- the counterexample file ----


@pytest.fixture
def found(wrong):
    _, result, folder = wrong
    return json.loads((folder / failed(result)["counterexample"]).read_text())


def test_counterexamples_are_written_to_the_folder_that_is_named(wrong):
    _, result, folder = wrong
    assert [path.relative_to(folder).as_posix() for path in folder.rglob("*.json")] == [
        failed(result)["counterexample"]
    ]


def test_a_counterexample_is_valid_by_the_published_schema(found):
    validator("counterexample.json").validate(found)


def test_a_counterexample_holds_no_time_and_no_path(found):
    words = json.dumps(found)
    assert [word for word in (str(ROOT), "/tmp", os.sep, "2026", "time", "date") if word in words] == []


def test_the_same_command_writes_the_same_bytes(invoke, tmp_path, wrong):
    _, result, folder = wrong
    name = failed(result)["counterexample"]
    invoke(tmp_path, "verify", LAST_IN_FIRST_OUT, "--examples", "0", "--laws", "follow-up-fifo", "--out", "found")
    assert (tmp_path / name).read_bytes() == (folder / name).read_bytes()


def test_a_whole_run_removes_the_files_of_laws_that_pass_again_and_no_others(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr("turncheck.conformance.cli.commands.verify.EXAMPLES", 20)  # a run of as many is whole
    right = "python:projectors.plain:Plain"
    invoke(tmp_path, "verify", LAST_IN_FIRST_OUT, "--examples", "0", "--laws", "follow-up-fifo", "--out", ".")
    (old,) = tmp_path.glob("*.json")
    mended = json.loads(old.read_text()) | {"target": right}
    ours = tmp_path / "python-projectors-plain-Plain.follow-up-fifo.json"
    for path in (ours, tmp_path / "python-projectors-plain-Plain.order.json"):
        path.write_text(json.dumps(mended))
    for examples in ("5", "20"):
        ran = invoke(tmp_path, "verify", right, "--examples", examples, "--laws", "follow-up-fifo", "--out", ".")
        assert ours.exists() is (examples == "5")
    assert "it does not fail any more" in ran.err
    assert len([*tmp_path.glob("*.json")]) == 2


# ---- another language ----


def test_the_projector_in_javascript_passes(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", f"cmd:node {JS}/projector.mjs", "--examples", "5")
    assert ran.code == 0, ran.out


def test_the_wrong_one_in_javascript_fails(invoke, tmp_path):
    target = f"cmd:node {JS}/wrong_lifo.mjs"
    ran = invoke(tmp_path, "verify", target, "--examples", "0", "--laws", "follow-up-fifo", "--json")
    assert (ran.code, failing(json.loads(ran.out))) == (1, {"follow-up-fifo"})


# ---- Ctrl-C ----

INTERRUPTS = """
import os, signal, time
from projectors.wrong import LastInFirstOut

class Slow(LastInFirstOut):
    asked = 0

    def project(self, events, policies=None):
        Slow.asked += 1
        if Slow.asked == 70:  # amid the classic logs
            os.kill(int(os.environ["HARNESS"]), signal.SIGINT)
            time.sleep(600)
        return super().project(events, policies)
"""


@pytest.fixture(scope="module")
def interrupted(tmp_path_factory):
    """A run that is interrupted while its target does not answer, and the processes left of it."""
    folder = tmp_path_factory.mktemp("interrupted")
    (folder / "slow.py").write_text(INTERRUPTS)
    mark = f"TURNCHECK_TEST={folder}"
    harness = (
        "import os; os.environ['HARNESS'] = str(os.getpid()); from turncheck.conformance.cli.group import main; main()"
    )
    command = [sys.executable, "-c", harness, "verify", "python:slow:Slow", "--timeout", "300", "--json"]
    env = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "TURNCHECK_TEST": str(folder)}
    ran = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False, timeout=LIMIT)
    return ran, folder, living(mark.encode())


def test_an_interrupt_ends_with_130(interrupted):
    assert interrupted[0].returncode == 130, interrupted[0].stderr


def test_an_interrupted_run_says_so(interrupted):
    assert json.loads(interrupted[0].stdout)["cut"] == "interrupted"


def test_what_was_found_before_the_interrupt_is_told(interrupted):
    ran, folder, _ = interrupted
    laws = {law["law"]: law for law in json.loads(ran.stdout)["laws"]}
    assert (folder / laws["follow-up-fifo"]["counterexample"]).is_file()


def test_an_interrupted_result_is_valid_by_the_published_schema(interrupted):
    validator("verify.json").validate(json.loads(interrupted[0].stdout))


def test_an_interrupt_leaves_no_process_behind(interrupted):
    assert interrupted[2] == []


def test_an_interrupt_is_no_traceback(interrupted):
    assert "Traceback" not in interrupted[0].stderr


def interrupt(*_):
    raise KeyboardInterrupt


def test_text_of_an_interrupted_run_says_so(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr(ReferenceTarget, "project", interrupt)
    ran = invoke(tmp_path, "verify", "reference")
    assert ran.code == 130
    assert "the run is incomplete: interrupted" in ran.out


def test_an_interrupt_amid_the_generated_logs_is_told_too(invoke, tmp_path, monkeypatch):
    monkeypatch.setattr("turncheck.conformance.verify.exploring.logs.CLASSICS", ())
    monkeypatch.setattr(ReferenceTarget, "project", interrupt)
    ran = invoke(tmp_path, "verify", "reference", "--json")
    assert (ran.code, json.loads(ran.out)["cut"]) == (130, "interrupted")
