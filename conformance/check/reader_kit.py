"""The judge of a reader: what every reader must keep to, tried on logs of its format and on spoiled copies of them."""

import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, cast

import msgspec

from turncheck.adapters.logs.formats.declared import Row
from turncheck.adapters.logs.formats.mapping import Format, Mapped
from turncheck.adapters.logs.formats.recognition import rivals
from turncheck.adapters.logs.formats.writing import written
from turncheck.model.core.events import AgentOutput, Event, Native, RunStop, ToolResult, UserMessage, symbol_of

_SPOILED: Final = 200
"""Spoiled copies of each log: a fault that one line in twenty shows is missed by that many with a chance of 4e-5."""
_LEAVES: Final[tuple[Any, ...]] = (None, True, 0, "", "x", [], {}, [1], {"type": "x"})


class ReaderFault(msgspec.Struct, frozen=True):
    """A promise that a reader breaks: which one, and on what."""

    promise: str
    message: str


class ReaderReport(msgspec.Struct, frozen=True):
    """The result of reading the logs: ``events`` and ``silent`` count by kind; a good reader has no ``faults``."""

    format: str
    logs: int
    lines: int
    events: dict[str, int]
    silent: dict[str, int]
    faults: tuple[ReaderFault, ...]


def judge_reader(form: Format, logs: Sequence[Sequence[Any]], *, seed: int = 0) -> ReaderReport:
    """Hold the reader of *form* to its promises on *logs*, each a list of its lines' JSON values.

    Promised are: no exception, whatever a line holds; positions that never descend, one for each line at least; the
    same events however much of the log is there yet, and beside another log; an observation shares no line with an
    event; no id of a call that the log does not have, but in what is marked ``source="adapter"``; recognition by what
    only this format has. A table of rows is read backwards too: what it writes, it must read.

    >>> from turncheck.adapters.logs.formats.declared import Row, declared
    >>> form = declared("acme", "Acme's log", [Row({"event": "say"}, "assistant", {"text": "body"})])
    >>> judge_reader(form, [[{"event": "say", "body": "hi"}]]).faults
    ()
    """
    draw = random.Random(seed)  # noqa: S311 - no secret
    faults: dict[str, str] = {}
    events: Counter[str] = Counter()
    silent: Counter[str] = Counter()
    for log in logs:
        for promise, message in _faults(form, log):
            faults.setdefault(promise, message)
        for at, event in _tried(form, log):
            if isinstance(event, Native):
                silent[_kind(log[at]) if at < len(log) else "?"] += 1
            else:
                events[symbol_of(event)] += 1
        for _ in range(_SPOILED):
            for promise, message in _faults(form, _spoiled(log, draw)):
                faults.setdefault(promise, f"on a spoiled log: {message}")
    for promise, message in (*_recognition(form, logs), *_way_back(form)):
        faults.setdefault(promise, message)
    return ReaderReport(
        format=form.name,
        logs=len(logs),
        lines=sum(map(len, logs)),
        events=dict(events.most_common()),
        silent=dict(silent.most_common()),
        faults=tuple(ReaderFault(promise, message) for promise, message in faults.items()),
    )


def _run(form: Format, log: Sequence[Any]) -> tuple[list[Mapped], list[Mapped]]:
    mapper = form.mapper()
    return [found for at, value in enumerate(log) for found in mapper.value(at, value)], [*mapper.end()]


def _tried(form: Format, log: Sequence[Any]) -> list[Mapped]:
    try:
        begun, rest = _run(form, log)
    except Exception:  # noqa: BLE001 - told as a fault
        return []
    return [*begun, *rest]


def _faults(form: Format, log: Sequence[Any]) -> Iterator[tuple[str, str]]:
    try:
        begun, rest = _run(form, log)
    except Exception as error:  # noqa: BLE001 - whatever a reader raises
        yield "no exception", f"{type(error).__name__}: {error}, on {_shown(log)}"
        return
    found = [*begun, *rest]
    ats = [at for at, _ in found]
    if ats != sorted(ats):
        yield "positions never descend", f"{ats}, on {_shown(log)}"
    if set(ats) != set(range(len(log))):
        missing = sorted(set(range(len(log))) ^ set(ats))
        yield "each line has a position", f"not so {missing}, on {_shown(log)}"
    quiet = {at for at, event in found if isinstance(event, Native)}
    if shared := quiet & {at for at, event in found if not isinstance(event, Native)}:
        yield "an observation shares no line with an event", f"lines {sorted(shared)}, on {_shown(log)}"
    yield from _prefixes(form, log, found)
    yield from _invented(form, log)


def _prefixes(form: Format, log: Sequence[Any], found: list[Mapped]) -> Iterator[tuple[str, str]]:
    first, second = form.mapper(), form.mapper()
    told: list[Mapped] = []
    for at, value in enumerate(log):
        told += first.value(at, value)
        with suppress(Exception):  # told where a spoiled log has such a line
            list(second.value(at, None))
        if told != found[: len(told)]:
            yield "the same events however much is there", f"after line {at}, on {_shown(log)}"
            return


def _invented(form: Format, log: Sequence[Any]) -> Iterator[tuple[str, str]]:
    mapper = form.mapper()
    known: set[str] = set()
    for line, value in enumerate(log):
        known.update(_strings(value))
        yield from _unknown(mapper.value(line, value), known, log)
    yield from _unknown(mapper.end(), known, log)


def _unknown(found: Iterable[Mapped], known: set[str], log: Sequence[Any]) -> Iterator[tuple[str, str]]:
    for at, event in found:
        match event:
            case AgentOutput(call_id=str(call), source=source) | ToolResult(call_id=call, source=source):
                if source != "adapter" and call not in known:
                    message = f"the call {call!r} of line {at} is in no line that was read by then, on {_shown(log)}"
                    yield "nothing is invented", message
            case _:
                pass


def _strings(value: Any) -> Iterator[str]:
    match value:
        case dict():
            for name, inner in cast("dict[str, Any]", value).items():
                yield str(name)
                yield from _strings(inner)
        case list():
            for inner in cast("Sequence[Any]", value):
                yield from _strings(inner)
        case str() if value.startswith(("{", "[")):  # JSON within a string, as traces hold messages
            yield value
            with suppress(ValueError, RecursionError):
                yield from _strings(json.loads(value))
        case _:
            yield str(value)


def _recognition(form: Format, logs: Sequence[Sequence[Any]]) -> Iterator[tuple[str, str]]:
    for log in logs:
        objects = [cast("dict[str, Any]", value) for value in log[:64] if isinstance(value, dict)]
        own = sum(map(form.recognises, objects))
        others = {name: count for name, count in rivals(form, objects).items() if count >= own}
        if not own:
            yield "recognised by what only it has", f"no line is, of {_shown(log)}"
        elif others:
            yield "recognised by what only it has", f"{', '.join(others)} fit as many of its lines, {_shown(log)}"


def _way_back(form: Format) -> Iterator[tuple[str, str]]:
    rows: tuple[Row, ...] = form.rows
    word: list[Event] = [
        UserMessage(text="red"),
        AgentOutput(kind="reasoning", text="hm"),
        AgentOutput(kind="assistant", text="blue"),
        AgentOutput(kind="tool-call", call_id="c1", tool="read"),
        ToolResult(call_id="c1"),
        AgentOutput(kind="tool-call", call_id="c2", tool="read"),
        ToolResult(call_id="c2", is_error=True),
        RunStop(reason="completed"),
    ]
    pairs = [(event, value) for event in word if (value := written(rows, event)) is not None] if rows else []
    read = [event for _, event in _tried(form, [value for _, value in pairs]) if _observed(event)]
    if [event for event, _ in pairs] != read:
        yield "what the table writes, it reads", f"written {[event for event, _ in pairs]}, read {read}"


def _observed(event: Event) -> bool:
    return getattr(event, "source", None) != "adapter" and not isinstance(event, Native)


def _spoiled(log: Sequence[Any], draw: random.Random) -> list[Any]:
    """A copy with one change: a line that is gone, twice there, elsewhere, unreadable, or with another field."""
    copy = list(log)
    if not copy:
        return copy
    at, other = draw.randrange(len(copy)), draw.randrange(len(copy))
    match draw.randrange(6):
        case 0:
            del copy[at]
        case 1:
            copy.insert(other, copy[at])
        case 2:
            copy[at], copy[other] = copy[other], copy[at]
        case 3:
            copy[at] = draw.choice(_LEAVES)
        case _:
            copy[at] = _changed(copy[at], draw)
    return copy


def _changed(value: Any, draw: random.Random) -> Any:
    if not isinstance(value, dict) or not value:
        return draw.choice(_LEAVES)
    given = cast("dict[str, Any]", value)
    name = draw.choice(sorted(given))
    match draw.randrange(3):
        case 0:
            return {key: inner for key, inner in given.items() if key != name}
        case 1:
            return {**given, name: draw.choice(_LEAVES)}
        case _:
            return {**given, name: _changed(given[name], draw)}


def _kind(value: Any) -> str:
    if not isinstance(value, Mapping):
        return "no object"
    given = cast("Mapping[str, Any]", value)
    names = ("type", "event", "kind", "role")
    return next((f"{name}={given[name]}" for name in names if isinstance(given.get(name), str)), "others")


def _shown(log: Sequence[Any]) -> str:
    text = json.dumps(log, default=str)
    return text if len(text) <= 300 else f"{text[:300]}…"
