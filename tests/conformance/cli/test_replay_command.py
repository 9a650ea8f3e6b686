"""`turncheck replay` from the outside: the laws it judges, the targets it starts, and cases without a verdict."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from turncheck.adapters.protocol.messages import Profile
from turncheck.conformance.schemas.json_schemas import FOLDER
from turncheck.conformance.verify.outcome.counterexample_files import write
from turncheck.conformance.verify.outcome.results import Counterexample, Input
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project

RIGHT = "python:projectors.plain:Plain"
FULL = Profile(("projector",), ("policies", "feed", "steps", "rounds"))
QUEUE = [
    {"type": "user-message", "text": "red"},
    {"type": "user-message", "text": "blue", "delivery": "followUp"},
    {"type": "user-message", "text": "green", "delivery": "followUp"},
    {"type": "run-stop", "reason": "completed"},
]

pytestmark = pytest.mark.usefixtures("projectors_importable")


@pytest.fixture(scope="module")
def file(invoke, tmp_path_factory):
    """The counterexample file of `verify` for a projector that is last in, first out."""
    folder = tmp_path_factory.mktemp("found")
    target = "python:projectors.wrong:LastInFirstOut"
    invoke(folder, "verify", target, "--laws", "follow-up-fifo", "--examples", "0", "--out", ".")
    (path,) = folder.glob("*.json")
    return path


@pytest.fixture
def made(tmp_path):
    """Write a counterexample file with some fields changed."""

    def made(**fields):
        changed = {
            "schema": 1,
            "target": "python:projectors.wrong:LastInFirstOut",
            "profile": FULL,
            "seed": 0,
            "law": "follow-up-fifo",
            "clauses": ("RC-7.5",),
            "message": "",
            "input": Input(QUEUE, Policies()),
            "projection": project(tuple(map(judge, QUEUE))),
            **fields,
        }
        return write(Counterexample(**changed), tmp_path / "made")

    return made


# ---- the stored observation ----


def test_a_stored_observation_that_breaks_the_law_exits_1(invoke, tmp_path, file):
    ran = invoke(tmp_path, "replay", file)
    assert ran.code == 1
    assert ran.out.splitlines()[-1] == (
        "STILL FAILS: what the file stores breaks the law: the next root is not the follow-up that waited longest"
    )


def test_a_stored_observation_that_keeps_the_law_exits_0(invoke, tmp_path, made):
    ran = invoke(tmp_path, "replay", made())
    assert ran.code == 0
    assert ran.out.endswith("\nFIXED: what the file stores keeps the law\n")


def test_judging_what_is_stored_starts_nothing(invoke, tmp_path, made):
    invoke(tmp_path, "replay", made(target="cmd:touch started"))
    assert not (tmp_path / "started").exists()


def test_the_counterexample_is_shown(invoke, tmp_path, file):
    assert "✗ follow-up-fifo: the next root is not the follow-up" in invoke(tmp_path, "replay", file).out


def test_control_characters_of_a_file_are_not_shown(invoke, tmp_path, made):
    hostile = "\x1b[2J\x9b31m\u202e"
    events = [{"type": "user-message", "text": hostile, hostile: hostile}, hostile]
    ran = invoke(tmp_path, "replay", made(message=hostile, clauses=(hostile,), input=Input(events, Policies())))
    assert [character for character in ran.out if not character.isprintable() and character != "\n"] == []


@pytest.mark.parametrize("law", ["deterministic", "total", "chunking"])
def test_a_law_on_two_observations_cannot_be_judged_from_one(invoke, tmp_path, made, law):
    ran = invoke(tmp_path, "replay", made(law=law))
    assert ran.code == 2
    assert "CANNOT RUN: what the file stores: one stored observation cannot tell: --run starts" in ran.err


def test_a_file_without_an_observation_cannot_be_judged(invoke, tmp_path, made):
    assert invoke(tmp_path, "replay", made(projection=None)).code == 2


# ---- starting a target ----


def test_a_target_that_still_breaks_the_law_exits_1(invoke, tmp_path, file):
    ran = invoke(tmp_path, "replay", "--run", file)
    assert ran.code == 1
    assert "\nSTILL FAILS: python:projectors.wrong:LastInFirstOut breaks the law: the next root is not" in ran.out


def test_a_target_that_keeps_the_law_exits_0(invoke, tmp_path, file):
    ran = invoke(tmp_path, "replay", "--target", RIGHT, file)
    assert ran.code == 0
    assert ran.out.endswith(f"\nFIXED: {RIGHT} keeps the law\n")


def test_the_command_is_shown_before_it_is_started(invoke, tmp_path, made):
    ran = invoke(tmp_path, "replay", "--run", made(target="cmd:/no/such/program"))
    assert "starting cmd:/no/such/program" in ran.out


@pytest.mark.parametrize("target", ["cmd:/no/such/program", "nonsense", "python:no_such_module:project"])
def test_a_target_that_cannot_run_exits_2(invoke, tmp_path, file, target):
    ran = invoke(tmp_path, "replay", "--target", target, file)
    assert ran.code == 2
    assert "CANNOT RUN" in ran.err


@pytest.mark.parametrize(
    ("target", "fields", "said"),
    [
        ("wrong:raises", {}, "it fails on the file's input"),
        ("plain:no_views", {"law": "rounds"}, "does not declare rounds"),
        ("plain:own_policies", {}, "the file's policies are not the target's own"),
        ("plain:Plain", {"input": Input([], Policies())}, "no evidence"),
    ],
)
def test_a_target_that_cannot_be_judged_is_not_called_fixed(invoke, tmp_path, made, target, fields, said):
    ran = invoke(tmp_path, "replay", "--target", f"python:projectors.{target}", made(**fields))
    assert ran.code == 2
    assert said in ran.err


def test_a_target_that_tells_all_cycles_keeps_a_law_that_finds_nothing_to_look_at_any_more(invoke, tmp_path, made):
    ran = invoke(tmp_path, "replay", "--target", RIGHT, made(input=Input(QUEUE[:1], Policies())))
    assert (ran.code, ran.out.splitlines()[-1]) == (0, f"FIXED: {RIGHT} keeps the law")


def test_of_a_folder_all_counterexamples_are_judged_and_nothing_else(invoke, tmp_path, made):
    folder = made().parent
    made(law="one-root")
    (folder / "other.json").write_text("{}")
    ran = invoke(tmp_path, "replay", folder)
    assert (ran.code, ran.out.count("FIXED: ")) == (0, 2)
    assert ran.out.endswith("2 files: 2 FIXED\n")


def test_of_several_files_the_worst_counts(invoke, tmp_path, file, made):
    kept = made()
    assert invoke(tmp_path, "replay", file, kept).code == 1
    assert invoke(tmp_path, "replay", kept, made(law="total")).code == 2


def test_a_folder_without_a_counterexample_is_an_error(invoke, tmp_path):
    (tmp_path / "empty").mkdir()
    ran = invoke(tmp_path, "replay", "empty")
    assert (ran.code, "empty holds no counterexample file" in ran.err) == (2, True)


@pytest.mark.parametrize(("target", "code"), [("wrong:dies", 1), ("plain:Plain", 0)])
def test_a_case_on_which_a_target_broke_is_run_again(invoke, tmp_path, made, target, code):
    ran = invoke(tmp_path, "replay", "--target", f"python:projectors.{target}", made(law="target-breaks"))
    assert ran.code == code


def test_a_case_on_which_a_target_broke_is_judged_by_running_alone(invoke, tmp_path, made):
    ran = invoke(tmp_path, "replay", made(law="target-breaks"))
    assert (ran.code, "--run starts it again" in ran.err) == (2, True)


def test_a_relation_is_judged_by_running_the_target(invoke, tmp_path, made):
    file = made(law="total", target="python:projectors.wrong:raises", projection=None)
    assert invoke(tmp_path, "replay", "--run", file).code == 1


def test_a_target_that_hangs_cannot_run(invoke, tmp_path, made):
    ran = invoke(tmp_path, "replay", "--target", "python:projectors.wrong:hangs", "--timeout", "0.2", made())
    assert ran.code == 2
    assert "CANNOT RUN: python:projectors.wrong:hangs: " in ran.err


# ---- for machines ----


@pytest.fixture
def said(invoke, tmp_path):
    """Return the output of `replay --json`."""

    def said(*arguments):
        ran = invoke(tmp_path, "replay", "--json", *arguments)
        return ran, json.loads(ran.out)

    return said


@pytest.mark.parametrize(
    ("arguments", "judged", "outcome", "code"),
    [
        ((), "stored", "STILL FAILS", 1),
        (("--run",), "target", "STILL FAILS", 1),
        (("--target", RIGHT), "target", "FIXED", 0),
        (("--target", "cmd:/no/such/program"), "target", "CANNOT RUN", 2),
    ],
)
def test_json_says_what_was_judged_and_the_outcome(said, file, arguments, judged, outcome, code):
    ran, found = said(*arguments, file)
    assert (ran.code, found["judged"], found["outcome"]) == (code, judged, outcome)


def test_json_is_valid_by_the_published_schema(said, file):
    schema = Draft202012Validator(json.loads((FOLDER / "replay.json").read_text()))
    assert [*schema.iter_errors(said(file)[1])] == []


def test_json_is_the_only_thing_on_standard_output(said, file):
    assert said("--run", file)[0].out.count("\n") == 1


def test_the_command_is_shown_before_it_is_started_on_stderr(said, made):
    assert "starting cmd:/no/such/program" in said("--run", made(target="cmd:/no/such/program"))[0].err


# ---- what is no counterexample file ----


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"[]", b"\xff", b'{"schema": 2}', b"[" * 100_000, b'{"observed": %s%s}' % (b"[" * 250, b"]" * 250)],
)
def test_what_is_no_counterexample_file_exits_2(invoke, tmp_path, data):
    (tmp_path / "file.json").write_bytes(data)
    ran = invoke(tmp_path, "replay", "file.json")
    assert (ran.code, ran.out) == (2, "")
    assert "file.json is no counterexample file" in ran.err


def test_a_missing_file_exits_2(invoke, tmp_path):
    ran = invoke(tmp_path, "replay", "nowhere.json")
    assert (ran.code, ran.err) == (2, "Error: nowhere.json cannot be read: No such file or directory\n")


@pytest.mark.parametrize("change", [{"schema": 2}, {"projection": {"cycles": 5}}, {"input": {}}, {"profile": {}}])
def test_a_file_whose_parts_do_not_fit_exits_2(invoke, tmp_path, file, change):
    (tmp_path / "file.json").write_text(json.dumps({**json.loads(Path(file).read_text()), **change}))
    assert invoke(tmp_path, "replay", "file.json").code == 2


@pytest.mark.parametrize("law", ["no-such-law", "malformed"])
def test_a_law_on_projectors_that_there_is_not_exits_2(invoke, tmp_path, made, law):
    ran = invoke(tmp_path, "replay", "--run", made(law=law))
    assert ran.code == 2
    assert f"'{law}', a law that this version does not have" in ran.err


def test_a_projection_of_any_positions_can_be_judged(invoke, tmp_path, made):
    assert invoke(tmp_path, "replay", made(projection=Projection((), (99,), (-1,), ()))).code in (0, 1)
