"""The pytest plugin's counterexample files: those that `verify` writes, and removed as by it."""

import json
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

WRONG = "python:projectors.wrong:LastInFirstOut"
QUEUE = """
from projectors.plain import Plain
from projectors.wrong import LastInFirstOut

class Queue(LastInFirstOut):
    pass
"""
MENDED = QUEUE.replace("(LastInFirstOut)", "(Plain)")
MINE = "python:mine:Queue"
WHOLE = ("--turncheck-examples", "300")
SMALL = ("--turncheck-examples", "0")


@pytest.fixture
def ran(pytester):
    """Run pytest on a line of this target and these laws: ``ran(target, *laws, options=...)``."""

    def ran(target, *laws, options=SMALL):
        line = f"test_turns = projector_laws({', '.join(map(repr, (target, *laws)))})"
        pytester.makepyfile(test_it=f"from turncheck.conformance.testing import projector_laws\n{line}\n")
        return pytester.runpytest_inprocess("-p", "no:benchmark", "-p", "no:cov", "-rA", *options)

    return ran


def files(folder):
    return {path.name: path.read_bytes() for path in Path(folder).glob("*.json")}


def cache(pytester):
    return files(Path(pytester.path, ".pytest_cache", "d", "turncheck"))


def test_they_are_those_of_verify(ran, invoke, pytester, tmp_path):
    ran(WRONG)
    invoke(tmp_path, "verify", WRONG, "--examples", "0", "--out", "out")
    assert cache(pytester) == files(tmp_path / "out") != {}


def test_each_is_named_by_a_failure(ran, pytester):
    done = ran(WRONG)
    named = {line.split()[-1] for line in done.outlines if line.startswith("  turncheck replay --run ")}
    assert {Path(one).name for one in named} == set(cache(pytester))


def test_they_go_where_the_command_line_says(ran, pytester):
    ran(WRONG, "follow-up-fifo", options=(*SMALL, "--turncheck-out", "found"))
    assert (len(files(Path(pytester.path, "found"))), cache(pytester)) == (1, {})


def test_without_a_cache_there_are_none_and_the_failure_is_told_all_the_same(ran, pytester):
    done = ran(WRONG, "follow-up-fifo", options=(*SMALL, "-p", "no:cacheprovider"))
    done.assert_outcomes(failed=1, passed=1)
    assert not Path(pytester.path, ".pytest_cache").exists()


def test_that_of_a_law_that_passes_again_is_removed_and_named(ran, pytester):
    pytester.makepyfile(mine=QUEUE)
    ran(MINE, "follow-up-fifo", "order", options=WHOLE)
    assert set(cache(pytester)) == {"python-mine-Queue.follow-up-fifo.json"}
    pytester.makepyfile(mine=MENDED)
    done = ran(MINE, "follow-up-fifo", "order", options=(*WHOLE, "-s"))
    assert cache(pytester) == {}
    said = [line for line in done.errlines if line.startswith("removed ")]
    assert [line.endswith("follow-up-fifo.json: it does not fail any more") for line in said] == [True]


def test_a_smaller_run_removes_none(ran, pytester):
    pytester.makepyfile(mine=QUEUE)
    ran(MINE, "follow-up-fifo")
    pytester.makepyfile(mine=MENDED)
    ran(MINE, "follow-up-fifo").assert_outcomes(passed=2)
    assert len(cache(pytester)) == 1


LEFT_OUT = """
import pathlib
from projectors.plain import Plain
from projectors.wrong import LastInFirstOut

mark = pathlib.Path(__file__).with_name("seen")
starts = len(mark.read_text()) if mark.exists() else 0
mark.write_text("x" * (starts + 1))
Queue = LastInFirstOut if starts < 2 else Plain
"""
"""Wrong at its first two starts, those of the first line: its own, and its twin's."""


def test_a_second_line_removes_none_that_the_first_wrote(pytester):
    pytester.makepyfile(mine=LEFT_OUT)
    lines = "".join(
        f"test_{at} = projector_laws({MINE!r}, 'follow-up-fifo', examples={examples})\n"
        for at, examples in enumerate((0, 300))
    )
    pytester.makepyfile(test_it=f"from turncheck.conformance.testing import projector_laws\n{lines}")
    pytester.runpytest_inprocess("-p", "no:benchmark", "-p", "no:cov").assert_outcomes(failed=1, passed=3)
    assert len(cache(pytester)) == 1


def test_the_case_on_which_a_target_breaks_is_saved_and_named(ran, pytester):
    done = ran("python:projectors.wrong:dies", "one-root")
    ((name, text),) = cache(pytester).items()
    assert (name, json.loads(text)["law"]) == ("python-projectors-wrong-dies.target-breaks.json", "target-breaks")
    done.stdout.fnmatch_lines(["*turncheck replay --run *target-breaks.json"])
