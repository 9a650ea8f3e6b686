"""Every recorded log, mapped and projected, against the expectations that were reviewed line by line.

``python tests/adapters/logs/test_recordings.py`` writes them anew; review the difference against the logs.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from turncheck.adapters.logs.reading import read_log
from turncheck.model.core.events import Event, Malformed, Native, UnknownType
from turncheck.model.core.projection import ViewProjector

RECORDINGS = Path(__file__).parents[2] / "recordings"
LOGS = RECORDINGS / "logs"
EXPECTED = RECORDINGS / "expected.json"
NAMES = sorted(path.relative_to(LOGS).as_posix() for path in LOGS.glob("*/*"))

Expectations = dict[str, dict[str, Any]]


def mapped(name: str) -> tuple[str, list[tuple[int, Event]]]:
    with (LOGS / name).open("rb") as stream:
        log = read_log(stream)
        batches = [chunk.batch for chunk in log.chunks]
    return log.format.name, [pair for batch in batches for pair in zip(batch.ats, batch.events, strict=True)]


def summary(name: str) -> dict[str, Any]:
    form, events = mapped(name)
    ledger = ViewProjector()
    ledger.feed([event for _, event in events], [at for at, _ in events])
    projection = ledger.projection()
    cycles = [
        f"{cycle.root}-{cycle.stop} {cycle.kind} {cycle.reason}: {len(cycle.rounds)} rounds, {len(cycle.steps)} steps"
        for cycle in projection.cycles
    ]
    return {"format": form, "cycles": cycles, "anomalies": [f"{item.kind} {item.at}" for item in projection.anomalies]}


def expectations() -> Expectations:
    content: Expectations = json.loads(EXPECTED.read_text(encoding="utf-8"))
    return content


def test_every_recording_has_an_expectation_and_the_reverse() -> None:
    assert sorted(expectations()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_projects_as_reviewed(name: str) -> None:
    assert summary(name) == expectations()[name]


@pytest.mark.parametrize("name", NAMES)
def test_positions_never_descend(name: str) -> None:
    positions = [at for at, _ in mapped(name)[1]]
    assert positions == sorted(positions)


@pytest.mark.parametrize("name", NAMES)
def test_every_line_of_a_recording_keeps_its_position(name: str) -> None:
    lines = [line for line in (LOGS / name).read_bytes().splitlines() if line.strip()]
    expected = [at for at, line in enumerate(lines) if line != b"data: [DONE]"]
    assert sorted({at for at, _ in mapped(name)[1]}) == expected


@pytest.mark.parametrize("name", NAMES)
def test_an_observation_never_shares_a_line_with_an_event(name: str) -> None:
    events = mapped(name)[1]
    silent = {at for at, event in events if isinstance(event, Native)}
    assert silent.isdisjoint(at for at, event in events if not isinstance(event, Native))


@pytest.mark.parametrize("name", NAMES)
def test_no_line_of_a_real_runtime_is_malformed_or_unknown(name: str) -> None:
    assert [event for _, event in mapped(name)[1] if isinstance(event, Malformed | UnknownType)] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_finding_on_a_recording_is_explained(name: str) -> None:
    explained = (RECORDINGS / "FINDINGS.md").read_text(encoding="utf-8")
    for anomaly in expectations()[name]["anomalies"]:
        kind, at = anomaly.split()
        assert f"| `{name}` | {kind} | {at} |" in explained


@pytest.mark.parametrize("name", [name for name in NAMES if name.startswith("pi-session")])
def test_a_session_file_shows_the_cycles_of_its_events(name: str) -> None:
    assert outcomes(name) == outcomes(name.replace("session", "json"))


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(".jsonl") and f"{name[:-6]}.sse" in NAMES])
def test_json_lines_and_sse_of_one_run_project_alike(name: str) -> None:
    assert summary(name) == summary(f"{name[:-6]}.sse")


def outcomes(name: str) -> list[str]:
    """The cycles and the kinds of the anomalies, without positions."""
    result = summary(name)
    return [line.split(" ", 1)[1] for line in result["cycles"]] + [line.split()[0] for line in result["anomalies"]]


if __name__ == "__main__":
    lines = [f" {json.dumps(name)}: {json.dumps(summary(name))}" for name in NAMES]
    EXPECTED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
