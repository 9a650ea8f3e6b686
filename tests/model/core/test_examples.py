"""The examples of the projection, each of which settles one question, under every way to project."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from turncheck.model.checking import oracle as interpreter
from turncheck.model.core.cycles import Projection
from turncheck.model.core.decode import decode_lines, judge
from turncheck.model.core.events import Event
from turncheck.model.core.projection import ViewProjector, project

EXAMPLES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parents[2] / "data" / "examples.jsonl").read_text("utf-8").splitlines()
]

every_example = pytest.mark.parametrize("example", EXAMPLES, ids=[example["name"] for example in EXAMPLES])


def events(example: dict[str, Any]) -> tuple[Event, ...]:
    return tuple(map(judge, example["log"]))


def plain(projection: Projection) -> Any:
    return json.loads(msgspec.json.encode(projection))


def test_there_are_fourteen() -> None:
    assert len(EXAMPLES) == 14


@every_example
def test_at_once(example: dict[str, Any]) -> None:
    assert plain(project(events(example))) == example["projection"]


@every_example
def test_by_the_oracle(example: dict[str, Any]) -> None:
    assert plain(interpreter.project(events(example))) == example["projection"]


@every_example
def test_one_by_one(example: dict[str, Any]) -> None:
    ledger = ViewProjector()
    for at, event in enumerate(events(example)):
        ledger.feed((event,), range(at, at + 1))
    assert plain(ledger.projection()) == example["projection"]


@every_example
def test_from_bytes(example: dict[str, Any]) -> None:
    given = decode_lines(b"\n".join(json.dumps(event).encode() for event in example["log"])).events
    assert plain(project(given)) == example["projection"]
