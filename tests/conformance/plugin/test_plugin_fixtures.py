"""The fixtures of the pytest plugin: projectors, runtimes and recorded logs of the user's own tests."""

from pathlib import Path

import pytest

import turncheck.conformance.verify.verification  # noqa: F401 - or each pytest in this process would import it anew

pytest_plugins = ["pytester"]

RIGHT = "python:projectors.plain:Plain"
LOG = '{"type": "user-message", "text": "hello"}\n'
END = '{"type": "run-stop", "reason": "completed"}\n'


def test_a_projector_is_opened_by_its_target(ran):
    ran(f"""
def test_projects(turncheck_projector):
    projector = turncheck_projector({RIGHT!r})
    assert len(projector.project([{{"type": "user-message", "text": "hello"}}]).cycles) == 1
""").assert_outcomes(passed=1)


def test_a_projector_of_this_process_is_given_as_it_is(ran):
    ran("""
import os
asked_in = []

def project(events):
    asked_in.append(os.getpid())
    return {"cycles": [], "queued": [], "dropped": [], "anomalies": []}

def test_projects(turncheck_projector):
    assert turncheck_projector(project).project([]).cycles == ()
    assert asked_in == [os.getpid()]
""").assert_outcomes(passed=1)


def test_a_runtime_is_driven_and_ended(ran):
    ran("""
from turncheck.model.core.stimuli import User

runtimes = []

def test_runs(turncheck_runtime):
    runtime = turncheck_runtime("reference:turn")
    runtimes.append(runtime)
    runtime.reset()
    assert [event["type"] for event in runtime.apply(User(id="u1", text="hello")).events] == [
        *("user-message", "model-request"),
    ]

def test_is_ended():
    assert runtimes[0]._connection._child is None
""").assert_outcomes(passed=2)


def test_a_runtime_is_driven_in_an_async_test(ran):
    ran("""
import asyncio
from turncheck.model.core.stimuli import User

def test_runs(turncheck_runtime):
    async def main():
        runtime = turncheck_runtime("reference:turn")
        await asyncio.to_thread(runtime.reset)
        step = await asyncio.to_thread(runtime.apply, User(id="u1", text="hello"))
        assert step.awaiting

    asyncio.run(main())
""").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("log", "options", "outcome"),
    [
        (LOG + END, "", "passed"),
        (LOG + END + END, "", "failed"),
        (LOG, "", "failed"),
        (LOG, ", strict=False", "passed"),
        ("", "", "failed"),
        ('{"type": "native"}\n', ", strict=False", "failed"),
    ],
)
def test_a_recorded_log_is_judged(ran, pytester, log, options, outcome):
    Path(pytester.path, "run.jsonl").write_text(log)
    ran(f"def test_clean(turncheck_log):\n    turncheck_log('run.jsonl'{options})").assert_outcomes(**{outcome: 1})


def test_a_finding_in_a_log_names_its_line_and_clause(ran, pytester):
    Path(pytester.path, "run.jsonl").write_text(LOG + END + END)
    done = ran("def test_clean(turncheck_log):\n    turncheck_log('run.jsonl')")
    done.stdout.fnmatch_lines(["run.jsonl: fail", "  line 3  *RC-*"])
