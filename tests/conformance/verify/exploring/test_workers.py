"""Workers play shards: the result has the same bytes for any number of them, and none outlives its run."""

import json
import os
import shlex
import signal
import sys
from pathlib import Path

import pytest

from turncheck.adapters.targets.registry import open_target
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.engine import Workers
from turncheck.conformance.verify.exploring import workers
from turncheck.conformance.verify.exploring.shards import SIZE
from turncheck.conformance.verify.verification import verify_target

TESTS = Path(__file__).parents[3]
LAWS = {"projector": ("total", "follow-up-fifo"), "runtime": ("run-ends-once", "run-deterministic")}


def program(name):
    return "cmd:" + shlex.join([sys.executable, str(TESTS / name)])


TARGETS = {
    "a projector that passes": ("reference", 0),
    "a projector that fails": ("python:projectors.wrong:LastInFirstOut", 1),
    "a projector that dies": ("python:conformance.doubles.dies_on_many_follow_ups:DiesOnManyFollowUps", 2),
    "a runtime that passes": (program("adapters/kit/null_runtime.py"), 0),
    "a runtime that fails": (program("conformance/doubles/ends_twice.py"), 1),
    "a runtime that dies": (program("conformance/doubles/dies_late.py"), 2),
}


@pytest.mark.parametrize("name", TARGETS)
def test_the_result_and_the_files_are_the_same_for_any_number_of_workers(invoke, tmp_path, name):
    target, code = TARGETS[name]
    laws = [option for law in LAWS[name.split()[1]] for option in ("--laws", law)]
    found = set()
    for jobs in (1, 3):  # a suite is played by two, below
        ran = invoke(tmp_path, "verify", target, "--json", "--examples", 2 * SIZE + 1, *laws, "-j", jobs)
        files = tuple(sorted((path.name, path.read_bytes()) for path in tmp_path.glob(".turncheck/*")))
        found.add((ran.code, ran.out, files))
    ((ended, out, files),) = found
    assert (ended, bool(files), bool(out)) == (code, code != 0, True)


def test_a_suite_has_the_same_result_for_any_number_of_workers(invoke, tmp_path):
    options = ("--suite", "n-complete", "-k", 0, "--letters", "user*", "--letters", "text", "--letters", "model-stop")
    found = {invoke(tmp_path, "verify", "reference:interaction", *options, "--json", "-j", jobs).out for jobs in (1, 2)}
    assert [json.loads(out)["coverage"]["suite"]["complete"] for out in found] == [True]


@pytest.fixture
def started(monkeypatch):
    """The workers that were started."""
    found = []

    class Recorded(workers.Worker):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            found.append(self)

    monkeypatch.setattr(workers, "Worker", Recorded)
    return found


def verified(*, jobs=2, target="reference:interaction", **options):
    with open_target(target, timeout=5) as opened:
        laws = selected(["runtime"], ["run-ends-once"])
        return verify_target(opened, laws, examples=SIZE, workers=Workers(jobs, target, 5), **options)[0]


def test_a_worker_that_dies_is_an_error_that_names_it(started):
    def kill(_):
        if started[1].process.poll() is None:
            os.kill(started[1].process.pid, signal.SIGKILL)

    result = verified(progress=kill)
    assert result.exit_code == 2
    assert result.cut is not None
    assert f"worker 2 of 2 (process {started[1].process.pid}) was killed by SIGKILL" in result.cut


def test_no_worker_is_left_after_a_run(started):
    assert verified().exit_code == 0
    assert [worker.process.poll() is None for worker in started] == [False, False]


def test_no_worker_is_left_after_an_interrupt(started):
    def interrupt(_):
        raise KeyboardInterrupt

    assert verified(progress=interrupt).cut == "interrupted"
    assert [worker.process.poll() is None for worker in started] == [False, False]


def test_a_worker_whose_target_does_not_start_ends_the_run():
    with open_target("reference:interaction", timeout=5) as opened:
        laws, other = selected(["runtime"], ["run-ends-once"]), Workers(2, "cmd:false", 5)
        result = verify_target(opened, laws, examples=0, workers=other)[0]
    assert "cannot start" in str(result.cut)


def test_a_worker_refuses_a_target_that_says_something_else_of_itself():
    with open_target("reference:interaction", timeout=5) as opened:
        laws, other = selected(["runtime"], ["run-ends-once"]), Workers(2, "reference:turn", 5)
        result = verify_target(opened, laws, examples=0, workers=other)[0]
    assert "says something else of itself" in str(result.cut)


def test_a_single_target_is_driven_by_one_process_which_is_said(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "http://127.0.0.1:9/agent", "-j", "2", "--examples", "0")
    assert "which one process drives: -j 2 changes nothing" in ran.err
