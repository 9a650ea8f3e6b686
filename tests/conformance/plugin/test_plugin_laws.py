"""The pytest plugin from the outside: pytest runs in a folder of its own, in this process mostly."""

import sys
from pathlib import Path

import pytest
from hostile_text import harm

import turncheck.conformance.verify.verification  # noqa: F401 - or each pytest in this process would import it anew
from turncheck.adapters.protocol.errors import StartError
from turncheck.conformance.testing import projector_laws

pytest_plugins = ["pytester"]

WRONG = "python:projectors.wrong:LastInFirstOut"
RIGHT = "python:projectors.plain:Plain"
COUNTING = """
import os, pathlib
from projectors.wrong import LastInFirstOut

with open(pathlib.Path(__file__).with_name("started"), "a") as file:
    file.write("started\\n")

class Projector(LastInFirstOut):
    pass
"""


def laws(target, *globs, **options):
    """The one line."""
    given = [repr(one) for one in (target, *globs)] + [f"{name}={value!r}" for name, value in options.items()]
    return f"test_turns = projector_laws({', '.join(given)})\n"


def starts(pytester):
    """How often the counting projector was imported: twice per run, since a run has a twin."""
    path = Path(pytester.path, "started")
    return len(path.read_text().splitlines()) if path.exists() else 0


# ---- laws as tests ----


def test_every_law_is_a_test_of_its_name(ran):
    done = ran(laws(RIGHT), "--collect-only", "-q")
    done.stdout.fnmatch_lines(["test_it.py::test_turns[[]follow-up-fifo[]]", "test_it.py::test_turns[[]order[]]"])


def test_a_law_that_holds_passes_and_a_broken_one_fails(ran):
    ran(laws(WRONG, "follow-up-fifo", "order", examples=0)).assert_outcomes(passed=2, failed=1)


def test_a_failure_shows_the_shrunk_counterexample_and_the_clause(ran):
    done = ran(laws(WRONG, "follow-up-fifo", examples=0))
    done.stdout.fnmatch_lines(
        [
            "follow-up-fifo: the next root is not the follow-up that waited longest",
            "*1  user-message  text=*",
            "  RC-7.5    A queued follow-up becomes the next root*",
            f"  target {WRONG}, seed 0",
        ]
    )


def test_a_failure_shows_no_line_of_ours(ran):
    ran(laws(WRONG, "follow-up-fifo", examples=0)).stdout.no_fnmatch_line("*testing.py:*")


def test_a_failure_names_a_file_that_replay_takes(ran, invoke, pytester):
    done = ran(laws(WRONG, "follow-up-fifo", examples=0))
    (line,) = {line for line in done.outlines if line.startswith("  turncheck replay --run ")}  # CI tells it twice
    assert invoke(pytester.path, "replay", line.split()[-1]).code == 1


def test_a_law_is_chosen_by_its_name(ran):
    ran(laws(RIGHT, examples=0), "-k", "follow-up-fifo").assert_outcomes(passed=1, deselected=25)


def test_a_glob_that_fits_no_law_is_an_error_at_collection(ran):
    done = ran(laws(RIGHT, "no-such-law"))
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*no law on a projector is called 'no-such-law'; `turncheck laws` lists them*"])


def test_a_runtime_is_held_to_the_laws_on_runtimes(ran):
    text = "test_turns = runtime_laws('reference:turn', 'run-ends-once', 'calls-answered', examples=5)"
    ran(text).assert_outcomes(passed=3)


def test_the_target_runs_once_for_all_its_laws(ran, pytester):
    pytester.makepyfile(counting=COUNTING)
    ran(laws("python:counting:Projector", examples=0), "-k", "order or rounds or total").assert_outcomes(
        passed=3, deselected=23
    )
    assert starts(pytester) == 2


def test_the_target_does_not_run_for_the_collection(ran, pytester):
    pytester.makepyfile(counting=COUNTING)
    ran(laws("python:counting:Projector"), "--collect-only")
    assert starts(pytester) == 0


def test_a_target_is_imported_from_where_tests_import(ran, pytester):
    pytester.mkdir("src").joinpath("mine.py").write_text("from projectors.plain import Plain\n")
    pytester.makeini("[pytest]\npythonpath = src")
    ran(laws("python:mine:Plain", "order", examples=0)).assert_outcomes(passed=2)


# ---- what is neither a pass nor a failure ----


@pytest.mark.parametrize("target", ["python:no_such_module:project", "nonsense", "reference:turn"])
def test_a_target_that_cannot_be_verified_is_an_error_at_setup(ran, target):
    done = ran(laws(target, "order", "total", examples=0))
    done.assert_outcomes(errors=3)
    done.stdout.fnmatch_lines([f"{target} could not be verified: *"])


def test_a_target_that_breaks_is_an_error_at_setup(ran):
    done = ran(laws("python:projectors.wrong:dies", "one-root", examples=0))
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["one-root could not be judged: the process ended with exit code 3*"])
    done.stdout.fnmatch_lines(["evidence-floor could not be judged: the target broke: *"])


def test_a_bug_of_ours_is_called_one(ran, monkeypatch):
    monkeypatch.setattr("turncheck.conformance.testing.run", lambda *_: {"one": 1}["a key"])
    done = ran(laws("reference", "total"))
    assert done.parseoutcomes() == {"errors": 2}
    done.stdout.fnmatch_lines(["*KeyError: 'a key'", "*This is a bug in turncheck, and no fault of the target.*"])


def test_a_failure_shows_what_an_implementation_writes_as_text(ran, pytester):
    text = "\x1b[2J\n::error::owned ##[group]"
    pytester.makepyfile(hostile=f"def project(events):\n    raise ValueError({text!r})\n")
    out = str(ran(laws("python:hostile:project", "total")).stdout)
    assert "ValueError: ⟨U+001B⟩[2J" in out
    assert harm(out) == []


def test_a_law_on_what_is_not_declared_is_skipped(ran):
    done = ran(laws("python:projectors.plain:no_views", "rounds", "order", examples=0))
    done.assert_outcomes(skipped=1, passed=2)
    done.stdout.fnmatch_lines(["*: rounds: not declared: rounds"])


QUIET_ONE = "python:quiet:Quiet"
QUIET = """
from projectors.plain import Plain

class Quiet(Plain):
    def project(self, events, policies=None):
        return {**super().project(events, policies), "cycles": []}
"""


def test_a_law_without_evidence_is_skipped_as_inconclusive(ran, pytester):
    pytester.makepyfile(quiet=QUIET)
    done = ran(laws(QUIET_ONE, "one-root", "total", examples=0))
    done.assert_outcomes(skipped=1, passed=1, failed=1)
    done.stdout.fnmatch_lines(["*: one-root: inconclusive: no evidence: it needs a cycle"])


def test_a_law_without_evidence_fails_where_that_is_strict(ran, pytester):
    pytester.makepyfile(quiet=QUIET)
    ran(laws(QUIET_ONE, "one-root", "total", examples=0), "--turncheck-strict").assert_outcomes(failed=2, passed=1)


def test_a_law_without_evidence_fails_where_no_law_passes(ran, pytester):
    pytester.makepyfile(quiet=QUIET)
    done = ran(laws(QUIET_ONE, "one-root", examples=0))
    done.assert_outcomes(failed=2)
    done.stdout.fnmatch_lines(["one-root is inconclusive: *, and no law passed: nothing is shown"])


# ---- the evidence floor ----


def test_the_evidence_floor_is_a_test_beside_the_laws(ran):
    done = ran(laws(RIGHT, "order", examples=0))
    done.stdout.fnmatch_lines(["PASSED test_it.py::test_turns[[]order[]]", "PASSED *::test_turns[[]evidence-floor[]]"])


def test_an_evidence_floor_that_is_missed_fails_with_what_is_missing(ran, pytester):
    pytester.makepyfile(quiet=QUIET)
    done = ran(laws(QUIET_ONE, "total", examples=0))
    done.assert_outcomes(passed=1, failed=1)
    done.stdout.fnmatch_lines(
        [
            "the evidence floor is missed:",
            "  it never happened that a direct cycle is projected, that a follow-up cycle is projected",
            "  declared, and not exercised: steps, rounds",
        ]
    )


# ---- the baseline ----

KNOWN = '[known]\nfollow-up-fifo = {reason = "the queue is a stack", issue = "#12"}\n'


def test_a_failure_in_the_baseline_is_an_expected_one(ran, pytester):
    Path(pytester.path, "known.toml").write_text(KNOWN)
    done = ran(laws(WRONG, "follow-up-fifo", examples=0, baseline="known.toml"))
    done.assert_outcomes(xfailed=1, passed=1)
    done.stdout.fnmatch_lines(["*(baseline: the queue is a stack, #12)"])


def test_a_stale_entry_of_the_baseline_fails_the_law(ran, pytester):
    Path(pytester.path, "known.toml").write_text(KNOWN)
    done = ran(laws(RIGHT, "follow-up-fifo", examples=0), "--turncheck-baseline", "known.toml")
    done.assert_outcomes(failed=1, passed=1)
    done.stdout.fnmatch_lines(["follow-up-fifo passes: take 'follow-up-fifo' out of the baseline*"])


def test_an_expired_entry_of_the_baseline_is_named(ran, pytester):
    Path(pytester.path, "known.toml").write_text(KNOWN.replace("}", ", expires = 2020-01-01}"))
    done = ran(laws(WRONG, "follow-up-fifo", examples=0, baseline="known.toml"))
    done.assert_outcomes(failed=1, passed=1)
    done.stdout.fnmatch_lines(["  the baseline's entry 'follow-up-fifo' has expired"])


def test_a_baseline_that_cannot_be_used_is_an_error_at_setup(ran):
    ran(laws(RIGHT, "order", examples=0, baseline="nowhere.toml")).assert_outcomes(errors=2)


# ---- seed and examples ----

PROFILE = "from hypothesis import settings; settings.register_profile('mine', max_examples=7)"


def says(target, laws, *, examples, seed):
    """In place of a verification."""
    raise StartError(f"examples {examples}, seed {seed}")


@pytest.mark.parametrize(
    ("line", "options", "said"),
    [
        (laws("reference", "order"), (), "examples 300, seed 0"),
        (laws("reference", "order", examples=5, seed=6), (), "examples 5, seed 6"),
        (laws("reference", "order", examples=5), ("--turncheck-examples", "9"), "examples 9, seed 0"),
        (laws("reference", "order", seed=5), ("--turncheck-seed", "9"), "examples 300, seed 9"),
        (laws("reference", "order"), ("--hypothesis-profile", "mine"), "examples 7, seed 0"),
        (laws("reference", "order", examples=5), ("--hypothesis-profile", "mine"), "examples 5, seed 0"),
        (laws("reference", "order"), ("--hypothesis-seed", "8"), "examples 300, seed 8"),
        (laws("reference", "order"), ("--hypothesis-seed", "8", "--turncheck-seed", "9"), "examples 300, seed 9"),
    ],
)
def test_seed_and_examples_are_what_is_said_nearest(ran, pytester, monkeypatch, line, options, said):
    monkeypatch.setattr("turncheck.conformance.verify.verification.verify_target", says)
    pytester.makeconftest(PROFILE)
    ran(line, *options).stdout.fnmatch_lines([f"*could not be verified: {said}*"])


def test_the_same_seed_gives_the_same_counterexample(ran):
    text = laws("python:projectors.wrong:LastInFirstOut", "follow-up-fifo", examples=20)
    shown = [
        [line for line in ran(text, *options).outlines if line.startswith("  ")]
        for options in ((), ("--hypothesis-seed", "0"))
    ]
    assert shown[0] == shown[1] != []


# ---- pytest-xdist ----


def test_each_worker_runs_the_target_once_at_most(ran, pytester):
    pytester.makepyfile(counting=COUNTING)
    done = ran(laws("python:counting:Projector", "o*", "r*", examples=0), "-n", "2")
    done.assert_outcomes(passed=10)
    assert starts(pytester) in {2, 4}


def test_a_targets_laws_kept_in_one_worker_run_it_once(ran, pytester):
    pytester.makepyfile(counting=COUNTING)
    ran(laws("python:counting:Projector", "o*", "r*", examples=0), "-n", "2", "--dist", "loadfile")
    assert starts(pytester) == 2


def test_a_targets_laws_are_one_group():
    marks = {mark.name: mark.args for mark in vars(projector_laws(RIGHT))["pytestmark"]}
    assert marks["xdist_group"] == (f"turncheck:{RIGHT}",)


def test_the_verdicts_of_two_workers_are_those_of_one(ran):
    text = laws(WRONG, "follow-up-fifo", "order", "rounds", examples=0)
    ran(text, "-n", "2").assert_outcomes(passed=3, failed=1)


def test_the_marks_are_known_without_xdist(ran):
    ran(laws(RIGHT, "order", examples=0), "-p", "no:xdist", "--strict-markers").assert_outcomes(passed=2)


# ---- what it costs who does not use it ----


def test_loading_the_plugin_imports_nothing_of_ours_but_itself(pytester):
    pytester.makeconftest(
        "import sys\n"
        "def pytest_unconfigure():\n"
        "    print('loaded', *sorted(name for name in sys.modules if name.startswith('turncheck.')))\n"
        "    print('heavy', *sorted({'hypothesis', 'msgspec', 'click', 'transitions', 'tomlkit'} & {*sys.modules}))\n"
    )
    pytester.makepyfile("def test_nothing(): pass")
    lines = pytester.runpytest_subprocess("-p", "no:benchmark", "-p", "no:hypothesispytest", "-s").outlines
    assert [line for line in lines if line.startswith(("loaded", "heavy"))] == [
        "loaded turncheck.conformance turncheck.conformance.pytest_plugin turncheck.model turncheck.model.renamed",
        "heavy",
    ]


def test_the_options_are_in_the_help(pytester):
    lines = pytester.run(sys.executable, "-m", "pytest", "--help").outlines
    assert [line.split()[0] for line in lines if line.lstrip().startswith("--turncheck-")] == [
        "--turncheck-seed=N",
        "--turncheck-examples=N",
        "--turncheck-baseline=FILE",
        "--turncheck-variant=NAME",
        "--turncheck-out=FOLDER",
        "--turncheck-strict",
    ]
