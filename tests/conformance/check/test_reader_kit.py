"""The kit that judges readers: it passes every reader of turncheck, and finds each kind of wrong one."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from turncheck.adapters.logs.formats.fields import no_event
from turncheck.adapters.logs.formats.items import NATIVE
from turncheck.adapters.logs.formats.mapping import Format, Mapped, Mapper
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import read_values
from turncheck.conformance.check.reader_kit import judge_reader
from turncheck.model.core.events import AgentOutput, ToolResult

TESTS = Path(__file__).parents[2]
LOG = [{"acme": "call", "id": "c"}, {"acme": "tick"}, {"acme": "done", "id": "c"}]


def recordings(name: str) -> list[list[Any]]:
    found = []
    for path in sorted([*(TESTS / "recordings/logs").glob("*/*.*"), *(TESTS / "data/logs").glob("*/*.*")]):
        if path.stem in ("tools", "abort-amid-tool", "steer", "follow-up", "openai-chat", "ui-messages"):
            with path.open("rb") as stream:
                form, values = read_values(stream)
                if form.name == name:
                    found.append([value for value in values if value != "[DONE]"])
    return found[:4]


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "turncheck"])
def test_every_reader_of_turncheck_keeps_its_promises(name: str) -> None:
    logs = recordings(name)
    assert logs
    assert judge_reader(FORMATS[name], logs).faults == ()


class Right:
    """Reads the log of the tests."""

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        match value:
            case {"acme": "call", "id": str(call)}:
                yield at, AgentOutput(kind="tool-call", call_id=call, tool="read")
            case {"acme": "done", "id": str(call)}:
                yield at, ToolResult(call_id=call)
            case {"acme": _}:
                yield at, NATIVE
            case _:
                yield at, no_event(value)

    def end(self) -> Iterator[Mapped]:
        return iter(())


class Raises(Right):
    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        assert value["acme"]
        return super().value(at, value)


class Loses(Right):
    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        return (found for found in super().value(at, value) if found[1] is not NATIVE)


class Descends(Right):
    def end(self) -> Iterator[Mapped]:
        yield 0, NATIVE


class Doubles(Right):
    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        yield from super().value(at, value)
        yield at, NATIVE


class Invents(Right):
    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        yield from super().value(at, value)
        if at == 1:
            yield at, ToolResult(call_id="made-up")


class Shares(Right):
    seen: list[Any] = []  # noqa: RUF012 - the fault: all mappers have one list

    def value(self, at: int, value: Any) -> Iterator[Mapped]:
        self.seen.append(value)
        yield from super().value(at, value if len(self.seen) % 2 else None)


def form(mapper: type[Mapper], *, recognises: Any = None) -> Format:
    def own(value: Mapping[str, Any]) -> bool:
        return "acme" in value

    return Format(name="acme", title="Acme", recognises=recognises or own, mapper=mapper)


def test_a_right_reader_has_no_fault() -> None:
    report = judge_reader(form(Right), [LOG])
    assert (report.faults, report.events, report.silent) == ((), {"tool-call": 1, "tool-result": 1}, {"others": 1})


@pytest.mark.parametrize(
    ("mapper", "promise"),
    [
        (Raises, "no exception"),
        (Loses, "each line has a position"),
        (Descends, "positions never descend"),
        (Doubles, "an observation shares no line with an event"),
        (Invents, "nothing is invented"),
        (Shares, "the same events however much is there"),
    ],
)
def test_a_wrong_reader_is_found(mapper: type[Mapper], promise: str) -> None:
    assert promise in [fault.promise for fault in judge_reader(form(mapper), [LOG]).faults]


def test_a_format_that_recognises_nothing_is_found() -> None:
    (fault,) = judge_reader(form(Right, recognises=lambda _: False), [LOG]).faults
    assert fault.promise == "recognised by what only it has"


def test_a_format_that_another_one_fits_as_well_is_found() -> None:
    own = [{"acme": "call", "id": "c", "type": "user-message", "text": "red"}]
    (fault,) = judge_reader(form(Right), [own]).faults
    assert "turncheck fit as many of its lines" in fault.message
