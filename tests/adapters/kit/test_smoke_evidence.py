"""Smoke says ok to images, usage and the limit of the context only where something comes back of them."""

import shlex
import sys
from pathlib import Path

import pytest

from turncheck.adapters.targets.registry import open_target
from turncheck.conformance.smoke.walk import walk

SEEING = Path(__file__).with_name("seeing_runtime.py")
EVIDENT = ("takes an image", "takes the model's usage", "tells that the context fills up")


def outcomes(*arguments):
    command = shlex.join([sys.executable, str(SEEING), *arguments])
    with open_target(f"cmd:{command}", timeout=20) as target:
        return {outcome.step: outcome for outcome in walk(target)}


def test_what_comes_back_of_images_and_usage_is_evidence():
    assert {outcome.verdict for outcome in outcomes().values()} == {"pass", "skipped"}


@pytest.mark.parametrize("step", EVIDENT)
def test_where_nothing_comes_back_the_step_is_inconclusive_and_says_what_is_missing(step):
    outcome = outcomes("silent")[step]
    assert (outcome.verdict, "see docs/protocol.md#" in outcome.message) == ("inconclusive", True)
