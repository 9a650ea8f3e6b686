"""The pytest plugin and the variants of an adapter: one, or each with tests of its own."""

import json
import sys
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

KIT = Path(__file__).parents[2] / "adapters" / "kit"
TARGET = f"cmd:{sys.executable} {KIT / 'variant_runtime.py'}"
TWO_ROLES = f"cmd:{sys.executable} {KIT / 'two_roles.py'}"
ONE, EACH = 'variant="abort=task"', 'variant="*"'


@pytest.fixture
def ran(pytester):
    """Run pytest on a line of the adapter with variants: ``ran(argument, *options)``."""

    def ran(argument, *options, target=TARGET):
        line = f"test_turns = runtime_laws({target!r}, 'calls-answered', examples=0, {argument})"
        pytester.makepyfile(test_it=f"from turncheck.conformance.testing import runtime_laws\n{line}\n")
        run = pytester.runpytest_subprocess if "-n" in options else pytester.runpytest_inprocess
        return run("-p", "no:benchmark", "-p", "no:cov", "-rA", *options)

    return ran


def outcomes(done):
    """Map what is in brackets in each test's id to its outcome."""
    told = [line.split()[:2] for line in done.outlines if line.startswith(("PASSED", "FAILED", "ERROR", "SKIPPED"))]
    return {name.partition("[")[2].removesuffix("]"): outcome for outcome, name in told}


def test_without_a_choice_there_is_the_default_one(ran):
    assert outcomes(ran("")) == {"calls-answered": "PASSED", "evidence-floor": "PASSED"}


def test_one_has_its_own_ids(ran):
    assert outcomes(ran(ONE)) == {"abort=task-calls-answered": "FAILED", "abort=task-evidence-floor": "PASSED"}


def test_each_has_its_own_ids(ran):
    assert outcomes(ran(EACH)) == {
        "abort=api-calls-answered": "PASSED",
        "abort=api-evidence-floor": "PASSED",
        "abort=task-calls-answered": "FAILED",
        "abort=task-evidence-floor": "PASSED",
    }


def test_the_command_line_counts_before_the_argument(ran):
    told = outcomes(ran(EACH, "--turncheck-variant", "abort=api"))
    assert set(told) == {"abort=api-calls-answered", "abort=api-evidence-floor"}


def test_one_is_chosen_by_its_name(ran):
    ran(EACH, "-k", "api").assert_outcomes(passed=2, deselected=2)


def test_its_counterexample_starts_that_variant_again(ran, pytester, invoke):
    ran(EACH)
    (file,) = Path(pytester.path, ".pytest_cache", "d", "turncheck").rglob("*.json")
    assert (file.parent.name, json.loads(file.read_text("utf-8"))["variant"]) == ("abort=task", "abort=task")
    assert invoke(pytester.path, "replay", "--run", file).code == 1


def test_one_that_is_not_there_is_an_error_at_setup(ran):
    done = ran('variant="durable"')
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*there is no variant 'durable'; this adapter has abort=api, abort=task"])


def test_a_target_without_variants_has_plain_ids(ran):
    assert set(outcomes(ran(EACH, target="reference:turn"))) == {"calls-answered", "evidence-floor"}


def test_a_target_that_does_not_start_is_an_error_at_setup_and_none_of_the_collection(ran):
    done = ran(EACH, target="cmd:no-such-program")
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["cmd:no-such-program could not be verified: *"])


def test_one_of_another_role_is_an_error_at_setup(ran):
    done = ran('variant="ui"', target=TWO_ROLES)
    done.assert_outcomes(errors=2)
    done.stdout.fnmatch_lines(["*not a runtime: the variant ui of *two_roles.py is a projector*"])


def test_each_worker_of_xdist_has_the_same_ids(ran):
    ran(EACH, "-n", "2", "--dist", "loadfile").assert_outcomes(passed=3, failed=1)
