"""`turncheck matrix` from the outside: one table of several runtimes."""

import json
import shlex
import sys
from pathlib import Path

import jsonschema
import msgspec
import pytest

from turncheck.conformance.report.matrix import Matrix, reasons, to_markdown
from turncheck.conformance.schemas.json_schemas import FOLDER
from turncheck.conformance.verify.outcome.results import UNDECIDED, Crash

TESTS = Path(__file__).parents[2]
NULL = "cmd:" + shlex.join([sys.executable, str(TESTS / "adapters" / "kit" / "null_runtime.py")])


@pytest.fixture(scope="module")
def made(invoke, tmp_path_factory):
    """The matrix of a conforming runtime, and of a target that does not exist."""
    folder = tmp_path_factory.mktemp("matrix")
    ran = invoke(folder, "matrix", NULL, "cmd:no-such-program", "--examples", "0", "--out", "out")
    return folder / "out", ran


def test_a_target_that_cannot_be_verified_is_said_and_the_others_go_on(made):
    folder, ran = made
    matrix = json.loads((folder / "matrix.json").read_text())
    assert ran.code == 2
    assert [one["target"] for one in matrix["unstarted"]] == ["cmd:no-such-program"]
    assert [one["target"] for one in matrix["results"]] == [NULL]


def test_the_table_has_a_row_for_each_law(made):
    folder, ran = made
    (result,) = json.loads((folder / "matrix.json").read_text())["results"]
    rows = [line.split(" | ")[0].removeprefix("| ") for line in ran.out.splitlines() if line.startswith("| ")]
    assert [law["law"] for law in result["laws"]] == [row for row in rows if row not in {"law", "---", "*applied*"}]


def test_what_was_printed_is_what_was_written(made):
    folder, ran = made
    assert (folder / "matrix.md").read_text().startswith(ran.out.rstrip())


def test_what_was_written_is_valid(made):
    folder, _ = made
    schema = json.loads((FOLDER / "matrix.json").read_text())
    jsonschema.validate(json.loads((folder / "matrix.json").read_text()), schema)


def test_an_evidence_floor_that_is_missed_stands_below_the_table_and_exits_2(made):
    matrix = msgspec.json.decode((made[0] / "matrix.json").read_bytes(), type=Matrix)
    (result,) = matrix.results
    floor = tuple(msgspec.structs.replace(item, count=0) for item in result.floor if item.what == "the model is asked")
    missed = msgspec.structs.replace(matrix, results=(msgspec.structs.replace(result, floor=floor),), unstarted=())
    said = "the evidence floor is missed: it never happened that the model is asked"
    assert (to_markdown(missed).splitlines()[-1].endswith(f"**: {said}"), missed.exit_code) == (True, 2)


def test_json_is_printed_where_it_is_asked_for(invoke, tmp_path):
    ran = invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", "out", "--json")
    assert json.loads(ran.out) == json.loads((tmp_path / "out" / "matrix.json").read_text())


def test_a_hostile_name_means_nothing_in_the_table(invoke, tmp_path):
    name = "cmd:no | [x](http://x.y) <img> @all `c`"
    out = invoke(tmp_path, "matrix", name, "--examples", "0").out
    said = "cmd:no &#124; [x&#93;(http&#58;//x.y) &#60;img&#62; &#64;all &#96;c&#96;"
    assert f"- **{said}** could not be verified: " in out


# ---- variants ----


@pytest.fixture(scope="module")
def varied(invoke, tmp_path_factory):
    """The matrix of an adapter with variants, and of one whose variants have different roles."""
    folder = tmp_path_factory.mktemp("varied")
    kit = TESTS / "adapters" / "kit"
    targets = (
        "cmd:" + shlex.join([sys.executable, str(kit / name)]) for name in ("variant_runtime.py", "two_roles.py")
    )
    ran = invoke(folder, "matrix", *targets, "--examples", "0", "--out", "out")
    return folder / "out", ran, json.loads((folder / "out" / "matrix.json").read_text())


def test_each_variant_has_a_column(varied):
    _, ran, _ = varied
    rows = {
        cells[0]: cells[1:] for cells in (row.strip("| ").split(" | ") for row in ran.out.splitlines() if "|" in row)
    }
    assert [name.split()[-1] for name in rows["law"]] == ["abort=api", "abort=task"]
    assert rows["calls-answered"] == ["✓", "✗"]
    assert ["stimuli, rows " in cell for cell in rows["*applied*"]] == [True, True]


def test_variants_are_one_result_as_in_verify(varied):
    folder, ran, matrix = varied
    (result,) = matrix["results"]
    law = next(law for law in result["laws"] if law["law"] == "calls-answered")
    assert (law["verdict"], law["variants"]) == ("fail", ["abort=task"])
    assert json.loads((folder / law["counterexample"]).read_text())["variant"] == "abort=task"
    assert ran.code == 2


def test_variants_of_different_roles_are_no_column_and_said(varied):
    _, ran, matrix = varied
    (one,) = matrix["unstarted"]
    assert "has variants of different roles" in one["why"]
    assert "api is a runtime, ui is a projector" in one["why"]
    assert "could not be verified: " in ran.out


def test_a_matrix_with_variants_is_valid(varied):
    jsonschema.validate(varied[2], json.loads((FOLDER / "matrix.json").read_text()))


# ---- a target that breaks ----


def test_a_crash_stands_below_the_table_and_first_among_the_reasons(made):
    matrix = msgspec.json.decode((made[0] / "matrix.json").read_bytes(), type=Matrix)
    (result,) = matrix.results
    first = msgspec.structs.replace(result.laws[0], verdict="error", why=UNDECIDED)
    crash = Crash("it died", counterexample="counterexamples/x.json")
    broken = msgspec.structs.replace(result, laws=(first, *result.laws[1:]), crash=crash)
    matrix = msgspec.structs.replace(matrix, results=(broken,), unstarted=())
    assert to_markdown(matrix).splitlines()[-1].endswith("target-breaks: it died")
    assert reasons(matrix).splitlines()[2:4] == [
        "- ✗ **target-breaks**: it died ([counterexample](counterexamples/x.json))",
        f"- ! not decided: {first.law}",
    ]
