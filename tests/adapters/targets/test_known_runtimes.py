"""The known runtimes, live: each adapter passes `smoke`, and the matrix's verdicts still hold.

Their environments are made by `make runtimes`, which `make test` does first.
"""

from pathlib import Path

import pytest

from turncheck.adapters.targets.registry import open_runtime, open_target
from turncheck.adapters.targets.runtime_catalog import known
from turncheck.conformance.smoke.walk import walk
from turncheck.conformance.verify.kept.replay import asked_runtime
from turncheck.conformance.verify.outcome.counterexample_files import read
from turncheck.conformance.verify.outcome.results import WordCounterexample

MATRIX = Path(__file__).parents[3] / "docs" / "matrix"
FILES = sorted((MATRIX / "counterexamples").glob("*.json"))
PATIENCE = 30.0  # seconds; never waited for
MISBEHAVES = {"ai-sdk-resumable@6.0.326": ["tells clients that come and go the same"]}
"""Runtime → the steps of `smoke` that find the runtime itself broken, each a row of FINDINGS.md."""


@pytest.fixture(scope="module", params=known().values(), ids=str)
def runtime(request):
    assert request.param.environment.made, f"the environment of {request.param} is missing: make runtimes"
    return str(request.param)


def test_smoke_finds_nothing_wrong_with_the_adapter(runtime):
    with open_target(runtime, timeout=PATIENCE) as target:
        wrong = [outcome for outcome in walk(target) if outcome.verdict in {"fail", "error"}]
    assert [(one.step, one.verdict) for one in wrong] == [(step, "fail") for step in MISBEHAVES.get(runtime, ())], wrong


def test_every_counterexample_of_the_matrix_still_fails(runtime):
    found = [one for one in map(read, FILES) if one.target == runtime]
    with open_runtime(runtime, timeout=PATIENCE) as opened:
        held = [one.law for one in found if isinstance(one, WordCounterexample) and not asked_runtime(one, opened)]
    assert held == []


def test_every_runtime_that_is_known_is_in_the_matrix(runtime):
    assert f'"target": "{runtime}"' in (MATRIX / "matrix.json").read_text()


def test_every_red_cell_was_looked_at():
    findings = (MATRIX / "FINDINGS.md").read_text("utf-8")
    assert [one.law for one in map(read, FILES) if one.law not in findings] == []
