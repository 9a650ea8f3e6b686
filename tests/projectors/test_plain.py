"""The measure of the doubles is right, and independent."""

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings

from projectors.plain import Plain
from turncheck.conformance.generation.logs import cases
from turncheck.model.core.decode import judge
from turncheck.model.core.projection import project

EXAMPLES = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data" / "examples.jsonl").read_text().splitlines()
]


@given(cases())
@settings(max_examples=100, deadline=None, database=None)
def test_the_plain_projector_equals_the_reference(case):
    expected = msgspec.json.encode(project([judge(event) for event in case.log], case.policies))
    assert Plain().project(case.log, msgspec.to_builtins(case.policies)) == msgspec.json.decode(expected)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example["name"])
def test_the_plain_projector_settles_the_examples(example):
    assert Plain().project(example["log"]) == example["projection"]
