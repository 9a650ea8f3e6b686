"""``--report``: where reports go, and that they change nothing else."""

import json

import pytest

from turncheck.conformance.report.registry import KINDS, OF_LOGS

WRONG = ("verify", "python:projectors.wrong:LastInFirstOut", "--examples", "0", "--laws", "follow-up-fifo")
LOG = b'{"type": "run-stop", "reason": "completed"}\n'


def test_a_report_is_written_to_its_file_and_the_text_stays(invoke, tmp_path):
    ran = invoke(tmp_path, *WRONG, "--report", "badge=new/badge.json")
    assert json.loads((tmp_path / "new" / "badge.json").read_text())["message"] == "0/1 laws"
    assert "✗ follow-up-fifo" in ran.out


def test_a_report_without_a_file_is_printed_and_the_text_goes_to_stderr(invoke, tmp_path):
    ran = invoke(tmp_path, *WRONG, "--report", "badge")
    assert json.loads(ran.out)["label"] == "turncheck"
    assert "✗ follow-up-fifo" in ran.err


def test_several_reports_are_made_of_one_run(invoke, tmp_path):
    options = [option for kind in KINDS for option in ("--report", f"{kind}=out/{kind}")]
    ran = invoke(tmp_path, *WRONG, *options)
    assert ran.code == 1
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(KINDS)


def test_json_and_a_file_go_together(invoke, tmp_path):
    ran = invoke(tmp_path, *WRONG, "--json", "--report", "badge=b.json")
    assert json.loads(ran.out)["summary"]["fail"] == 1
    assert (tmp_path / "b.json").is_file()


@pytest.mark.parametrize("options", [["--json", "--report", "badge"], ["--report", "github", "--report", "markdown"]])
def test_two_things_that_want_standard_output_are_refused_before_anything_starts(invoke, tmp_path, options):
    ran = invoke(tmp_path, "verify", "cmd:touch started", *options)
    assert (ran.code, list(tmp_path.iterdir())) == (2, [])
    assert "cannot all be printed: name a file" in ran.err


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("nonsense", f"no report 'nonsense'; there are {', '.join(KINDS)}"),
        ("nonsense=x", "no report 'nonsense'"),
        ("junit=", "write junit=FILE, or junit for standard output"),
    ],
)
def test_a_report_that_does_not_exist_is_refused_before_anything_starts(invoke, tmp_path, given, said):
    ran = invoke(tmp_path, "verify", "cmd:touch started", "--report", given)
    assert (ran.code, list(tmp_path.iterdir())) == (2, [])
    assert said in " ".join(ran.err.split())


def test_a_file_that_cannot_be_written_is_said_and_changes_no_exit_code(invoke, tmp_path):
    (tmp_path / "taken").mkdir()
    ran = invoke(tmp_path, "verify", "reference", "--examples", "0", "--laws", "one-root", "--report", "badge=taken")
    assert ran.code == 0
    assert "the report badge cannot be written to taken: it is a folder, and a file is needed" in ran.err


def test_the_report_tells_of_the_counterexample_file(invoke, tmp_path):
    ran = invoke(tmp_path, *WRONG, "--out", "found", "--report", "github")
    assert ran.out.startswith("::error file=found/python-projectors-wrong-LastInFirstOut.follow-up-fifo.json,")


def test_help_lists_the_kinds(invoke, tmp_path):
    text = " ".join(invoke(tmp_path, "verify", "--help").out.split())
    assert [kind for kind, says in KINDS.items() if f"{kind} ({says})" not in text] == []


# ---- check ----


@pytest.mark.parametrize("kind", OF_LOGS)
def test_check_reports_all_logs_in_one_report(invoke, tmp_path, kind):
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_bytes(LOG)
    ran = invoke(tmp_path, "check", "a.jsonl", "b.jsonl", "--report", kind)
    assert ran.code == 1
    assert [name for name in ("a.jsonl", "b.jsonl") if name not in ran.out] == []


def test_check_refuses_a_kind_that_tells_of_no_logs(invoke, tmp_path):
    ran = invoke(tmp_path, "check", "-", "--report", "badge", stdin=LOG)
    assert ran.code == 2
    assert f"no report 'badge'; there are {', '.join(OF_LOGS)}" in " ".join(ran.err.split())
