"""Where commands write: an unusable place is an error before the work, and a failing disk destroys nothing."""

import json
import resource
import shlex
import subprocess
import sys
import tomllib
from contextlib import contextmanager
from pathlib import Path

import pytest

from turncheck.conformance.verify.outcome.counterexample_files import read, write
from turncheck.conformance.verify.outcome.results import WordCounterexample

TESTS = Path(__file__).parents[2]
NULL = "cmd:" + shlex.join([sys.executable, str(TESTS / "adapters" / "kit" / "null_runtime.py")])
WRONG = "python:projectors.wrong:LastInFirstOut"
VERIFY = ("verify", WRONG, "--examples", "0", "--laws", "follow-up-fifo")
RECORDED = TESTS.parent / "docs" / "matrix" / "counterexamples" / "pi-0-87-1.calls-answered.json"


@contextmanager
def tiny_files():
    """No file of more than ten bytes can be written."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# ---- a disk that fails ----


def test_a_baseline_that_cannot_be_written_is_left_as_it_is(invoke, tmp_path):
    before = '[known]\norder = {reason = "a", issue = "b"}\n'
    (tmp_path / "known.toml").write_text(before)
    with tiny_files():
        ran = invoke(tmp_path, *VERIFY, "--baseline", "known.toml", "--update-baseline")
    assert (ran.code, (tmp_path / "known.toml").read_text()) == (1, before)
    assert "the baseline known.toml is left as it is: File too large" in ran.err


def test_a_baseline_that_cannot_be_written_is_told_though_quiet(invoke, tmp_path):
    with tiny_files():
        ran = invoke(tmp_path, *VERIFY, "--baseline", "known.toml", "--update-baseline", "--quiet")
    assert "is left as it is" in ran.err
    assert not (tmp_path / "known.toml").exists()


def test_what_another_run_wrote_into_the_baseline_meanwhile_is_kept(invoke, tmp_path):
    other = '[known]\norder = {reason = "another run", issue = "#1"}\n'
    code = f"import pathlib; pathlib.Path('known.toml').write_text({other!r})"
    (tmp_path / "target.py").write_text(f"{code}\nfrom projectors.wrong import LastInFirstOut\n")
    ran = invoke(
        tmp_path, "verify", "python:target:LastInFirstOut", *VERIFY[2:], "--baseline", "known.toml", "--update-baseline"
    )
    assert ran.code == 0
    known = tomllib.loads((tmp_path / "known.toml").read_text())
    assert list(known["known"]) == ["order"]
    assert "follow-up-fifo" in known["cause"]


def test_a_counterexample_or_report_that_cannot_be_written_leaves_no_file(invoke, tmp_path):
    with tiny_files():
        ran = invoke(tmp_path, *VERIFY, "--report", "sarif=report.sarif")
    assert (ran.code, ran.err.count("cannot be written")) == (1, 2)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_matrix_that_cannot_be_written_is_printed_all_the_same(invoke, tmp_path):
    with tiny_files():
        ran = invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", "out")
    assert (ran.code, "matrix.json cannot be written: File too large" in ran.err) == (2, True)
    assert "| law |" in ran.out
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


# ---- a place that cannot be used ----

COMMANDS = {
    "verify": ("verify", "cmd:touch started"),
    "matrix": ("matrix", "cmd:touch started"),
    "diagrams": ("diagrams", "turn"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("out", ["file", "file/below", "link", "n" * 300])
def test_a_place_where_no_folder_can_be_exits_2_before_anything_is_started(invoke, tmp_path, command, out):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere")
    ran = invoke(tmp_path, *command, "--out", out)
    assert (ran.code, ran.out, f"{out}: " in ran.err) == (2, "", True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "link"]


def test_the_folder_that_is_there_by_default_may_be_unusable_where_nothing_is_written(invoke, tmp_path):
    (tmp_path / ".turncheck").write_text("mine")
    ran = invoke(tmp_path, "verify", "python:projectors.plain:Plain", *VERIFY[2:])
    assert ran.code == 0


def test_a_counterexample_that_has_no_folder_is_told_and_exits_1(invoke, tmp_path):
    (tmp_path / ".turncheck").write_text("mine")
    ran = invoke(tmp_path, *VERIFY)
    assert (ran.code, "a folder is needed where .turncheck is a file" in ran.err) == (1, True)


def test_a_matrix_whose_default_folder_is_a_file_exits_2(invoke, tmp_path):
    (tmp_path / ".turncheck").write_text("mine")
    ran = invoke(tmp_path, "matrix", "cmd:touch started")
    assert (ran.code, "a folder is needed where .turncheck is a file" in ran.err) == (2, True)
    assert not (tmp_path / "started").exists()


@pytest.mark.parametrize("name", ["turn.svg", "turn.mmd"])
def test_a_folder_in_the_place_of_a_picture_exits_2(invoke, tmp_path, name):
    (tmp_path / name).mkdir()
    for options in ((), ("--check",)):
        ran = invoke(
            tmp_path, "diagrams", "turn", "--out", ".", "--format", name[5:].replace("mmd", "mermaid"), *options
        )
        assert (ran.code, f"{name} cannot be" in ran.err) == (2, True)


def test_a_log_to_draw_that_leads_nowhere_exits_2(invoke, tmp_path):
    (tmp_path / "sequence.jsonl").symlink_to("nowhere")
    ran = invoke(tmp_path, "diagrams", "--out", ".", "--format", "dot")
    assert (ran.code, "sequence.jsonl cannot be read: the link leads nowhere" in ran.err) == (2, True)


# ---- names that are made of targets ----


def counterexample(target, law="calls-answered"):
    found = read(RECORDED)
    assert isinstance(found, WordCounterexample)
    return type(found)(
        **{name: getattr(found, name) for name in found.__struct_fields__} | {"target": target, "law": law}
    )


def test_a_long_target_in_any_script_has_a_name_that_can_be_written(tmp_path):
    assert write(counterexample("cmd:" + "模型" * 500), tmp_path).is_file()


def test_long_targets_that_end_alike_have_files_of_their_own(tmp_path):
    ending = "x" * 100
    assert len({write(counterexample(f"cmd:{name} {ending}"), tmp_path) for name in "abc"}) == 3


def test_a_short_target_has_the_name_that_it_always_had(tmp_path):
    assert write(counterexample("pi@0.87.1"), tmp_path).name == "pi-0-87-1.calls-answered.json"


# ---- what a new matrix replaces ----


@pytest.fixture
def matrix(invoke, tmp_path):
    """A table of an earlier run, which names a counterexample, and the folder of both."""
    invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", ".")
    folder = tmp_path / "counterexamples"
    table = json.loads((tmp_path / "matrix.json").read_text())

    def named(name):
        table["results"][0]["laws"][0]["counterexample"] = name
        (tmp_path / "matrix.json").write_text(json.dumps(table))
        return folder

    return named


def test_a_counterexample_of_the_earlier_matrix_goes(invoke, tmp_path, matrix):
    old = write(counterexample("old"), matrix("counterexamples/old.calls-answered.json"))
    invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", ".")
    assert not old.exists()


@pytest.mark.parametrize("name", ["notes.json", "old.calls-answered.json"])
def test_a_file_that_is_not_the_matrix_s_own_stays(invoke, tmp_path, matrix, name):
    file = matrix("counterexamples/other.json") / name
    file.write_bytes(RECORDED.read_bytes())
    invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", ".")
    assert file.exists()


@pytest.mark.parametrize("name", ["../mine.json", "counterexamples/../mine.json", "mine.json"])
def test_a_matrix_that_names_a_file_elsewhere_removes_nothing_there(invoke, tmp_path, matrix, name):
    matrix(name)
    for mine in (tmp_path / "mine.json", tmp_path.parent / "mine.json"):
        mine.write_bytes(RECORDED.read_bytes())
    invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", ".")
    assert (tmp_path / "mine.json").exists()
    assert (tmp_path.parent / "mine.json").exists()


def test_a_file_that_has_become_something_else_stays(invoke, tmp_path, matrix):
    file = matrix("counterexamples/old.json") / "old.json"
    file.write_text('{"mine": 1}')
    invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", ".")
    assert file.exists()


def test_an_earlier_matrix_that_cannot_be_read_is_told_and_nothing_goes(invoke, tmp_path, matrix):
    file = write(counterexample("old"), matrix("counterexamples/old.calls-answered.json"))
    (tmp_path / "matrix.json").write_text("{}")
    ran = invoke(tmp_path, "matrix", NULL, "--examples", "0", "--out", ".")
    assert (file.exists(), "is no table of this version" in ran.err) == (True, True)


@pytest.mark.parametrize("file", ["/dev/stdout", "/dev/fd/1"])
def test_a_report_goes_where_standard_output_goes_behind_the_text(tmp_path, file):
    (tmp_path / "log.jsonl").write_text('{"type":"user-message","text":"red"}\nx\n')
    command = [sys.executable, "-m", "turncheck.conformance", "check", "log.jsonl", "--report", f"sarif={file}"]
    ran = subprocess.run(command, cwd=tmp_path, stdout=subprocess.PIPE, check=False)
    text, brace, report = ran.stdout.decode().partition("{")
    assert (ran.returncode, text[:2], json.loads(brace + report)["version"]) == (1, "✗ ", "2.1.0")
