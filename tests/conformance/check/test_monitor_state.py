"""A monitor that is saved and restored finds what one finds that was never stopped, whatever was open."""

import json
import pickle
from pathlib import Path
from typing import Any, Final

import pytest

from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.formats.saving import StateError
from turncheck.adapters.logs.reading import read_values
from turncheck.conformance.check.monitor import Monitor, SessionFinding
from turncheck.model.core.policies import Policies

TESTS: Final = Path(__file__).parents[2]
LOGS: Final = sorted([*(TESTS / "recordings" / "logs").glob("*/*.*"), *(TESTS / "data" / "logs").glob("*/*.*")])
USER: Final = {"type": "user-message", "text": "red"}
MOST: Final = 40
"""Values of a log that are fed: it is stopped before each of them."""


def by_format() -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {name: [] for name in FORMATS}
    for path in LOGS:
        if path.suffix in (".jsonl", ".sse"):
            with path.open("rb") as stream:
                found[read_values(stream)[0].name].append(path)
    return found


KNOWN: Final = by_format()


def values(path: Path) -> list[Any]:
    with path.open("rb") as stream:
        return list(read_values(stream)[1])[:MOST]


def fed(given: list[Any], name: str, stops: range) -> tuple[list[SessionFinding], Any]:
    """The findings and counts of a monitor that is replaced by a restored one before each value in *stops*."""
    monitor = Monitor(format_name=name)
    found: list[SessionFinding] = []
    for number, value in enumerate(given):
        if number in stops:
            state = monitor.save()
            monitor = Monitor(format_name=name)
            monitor.restore(state)
        found += monitor.feed(value, session="a")
    found += monitor.end("a", strict=True)
    return found, (monitor.events, monitor.cycles, monitor.findings)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "turncheck"])
def test_a_monitor_that_is_restored_before_each_line_finds_the_same(name: str) -> None:
    assert KNOWN[name]
    for path in KNOWN[name][:8]:
        given = values(path)
        assert fed(given, name, range(len(given))) == fed(given, name, range(0)), path.name


@pytest.mark.parametrize("stop", range(5))
def test_the_state_of_the_core_is_kept(stop: int) -> None:
    call = {"type": "agent-output", "kind": "tool-call", "callId": "c", "tool": "read"}
    later = {"type": "user-message", "text": "blue", "delivery": "followUp"}
    given = [USER, call, later, {"type": "run-stop", "reason": "completed"}, {"type": "tool-result", "callId": "c"}]
    assert fed(given, "turncheck", range(stop, stop + 1)) == fed(given, "turncheck", range(0))


def test_sessions_are_forgotten_as_if_the_monitor_had_not_been_stopped() -> None:
    class Clock:
        now = 100.0

        def __call__(self) -> float:
            return self.now

    clock = Clock()
    before = Monitor(idle=10, clock=clock)
    before.feed(USER, session="a")
    clock.now += 6
    before.feed(USER, session="b")
    later = Clock()
    later.now = 5.0  # another machine's clock
    after = Monitor(idle=10, clock=later)
    after.restore(before.save())
    later.now += 5
    after.feed(USER, session="c")
    assert (len(after), after.expired) == (2, 1)


def test_a_monitor_that_was_restored_is_none_of_the_other() -> None:
    before, after = Monitor(), Monitor()
    before.feed(USER, session="a")
    after.restore(before.save())
    after.feed({"type": "run-stop", "reason": "completed"}, session="a")
    assert before.end("a", strict=True) != []


class Command:
    """What a hostile pickle does when it is loaded."""

    def __reduce__(self) -> Any:
        return print, ("run",)


def state(monitor: Monitor) -> tuple[bytes, bytes]:
    line, _, rest = monitor.save().partition(b"\n")
    return line, rest


def refused(bad: bytes, **options: Any) -> str:
    monitor = Monitor(**options)
    monitor.feed(USER, session="kept")
    with pytest.raises(StateError) as error:
        monitor.restore(bad)
    assert len(monitor) == 1
    return str(error.value)


def test_a_state_that_would_run_code_is_refused() -> None:
    line, _ = state(Monitor())
    assert "builtins.print, which no state of a monitor has" in refused(line + b"\n" + pickle.dumps(([], Command())))


@pytest.mark.parametrize("data", [b"", b"rubbish", b"{}\n"])
def test_what_is_no_state_is_refused(data: bytes) -> None:
    assert "this is no saved state of a monitor" in refused(data)


def test_a_state_that_was_cut_is_refused() -> None:
    monitor = Monitor()
    monitor.feed(USER, session="a")
    whole = monitor.save()
    for length in range(whole.index(b"\n"), len(whole), 7):
        assert refused(whole[:length])


def test_a_state_of_another_monitor_is_refused() -> None:
    line, rest = state(Monitor())
    other = json.dumps({**json.loads(line), "turncheck": "0.0.0"}).encode() + b"\n" + rest
    assert "saved with turncheck 0.0.0" in refused(other)
    assert "saved with format ag-ui" in refused(Monitor(format_name="ag-ui").save())
    assert "saved with policies" in refused(Monitor(policies=Policies(while_active="steer")).save())


def test_the_state_of_a_sub_agent_is_kept() -> None:
    before, after = Monitor(), Monitor()
    before.feed({**USER, "agentId": "a"}, session="s")
    after.restore(before.save())
    assert after.feed({"type": "run-stop", "reason": "completed", "agentId": "a"}, session="s") == []
