"""A mapper takes any log: it never raises, keeps every position, and keeps their order."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turncheck.adapters.logs.formats.recognition import doubt
from turncheck.adapters.logs.formats.registry import FORMATS

LOGS = Path(__file__).parents[2] / "recordings" / "logs"
WRITTEN = Path(__file__).parents[2] / "data" / "logs"  # by hand, where there is no runtime to record
FOLDERS = {
    "acp": "codex-acp",
    "claude-code": "claude-code-session",
    "codex": "codex-rollout",
    "ag-ui": "pydantic-ai",
    "pi": "pi-json",
    "turncheck": "pi",
}
"""Format → the prefix of its folders, where it is not the format's name."""
LEAVES: st.SearchStrategy[Any] = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just([]) | st.just({}) | st.just([1])
)


def samples(prefix: str) -> list[Any]:
    """Return every distinct line that the runtime wrote, without the parts that make lines long."""
    lines = {
        line.removeprefix("data: ")
        for path in [*LOGS.glob(f"{prefix}-*/*"), *WRITTEN.glob(f"{prefix}/*")]
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.strip() and "DONE" not in line and not line.startswith("event:")
    }
    return [json.loads(line) for line in sorted(lines)]


def spoiled(value: Any, draw: Any) -> Any:
    """The value with one field, at any depth, replaced or removed."""
    if not isinstance(value, dict) or not value:
        return draw(LEAVES)
    field = draw(st.sampled_from(sorted(value)))
    kept = {name: inner for name, inner in value.items() if name != field}
    match draw(st.sampled_from(["remove", "replace", "descend"])):
        case "remove":
            return kept
        case "replace":
            return {**value, field: draw(LEAVES)}
        case _:
            inner = value[field]
            return {
                **value,
                field: [spoiled(each, draw) for each in inner] if isinstance(inner, list) else spoiled(inner, draw),
            }


@pytest.mark.parametrize("name", list(FORMATS))
def test_any_log_is_mapped_whole_and_in_order(name: str) -> None:
    lines = samples(FOLDERS.get(name, name))

    @settings(max_examples=30, deadline=None, database=None, derandomize=True)
    @given(st.data())
    def check(data: st.DataObject) -> None:
        log = data.draw(st.lists(st.sampled_from(lines), max_size=25))
        log = [spoiled(value, data.draw) if data.draw(st.integers(0, 3)) == 0 else value for value in log]
        mapper = FORMATS[name].mapper()
        events = [event for at, value in enumerate(log) for event in mapper.value(at, value)]
        positions = [at for at, _ in [*events, *mapper.end()]]
        assert positions == sorted(positions)
        assert set(positions) == set(range(len(log)))

    check()


@given(LEAVES)
@settings(max_examples=25, deadline=None, database=None, derandomize=True)
def test_a_type_of_any_kind_is_looked_at(name: Any) -> None:
    assert [doubt(form, [{"type": name}]) is None for form in FORMATS.values()] == [False] * len(FORMATS)
