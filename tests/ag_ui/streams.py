"""Generated AG-UI streams: valid ones, and ones that an edit or two broke."""

import copy
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

Event: TypeAlias = dict[str, Any]
Stream: TypeAlias = list[Event]

_PATCH: Final = [{"op": "add", "path": "/n", "value": 1}]


class _Ids:
    def __init__(self) -> None:
        self._count = 0

    def __call__(self, kind: str) -> str:
        self._count += 1
        return f"{kind}{self._count}"


def valid(draw: random.Random) -> Stream:
    """A stream of one to three runs that keeps to every rule of the protocol."""
    ids = _Ids()
    return [event for number in range(draw.choice((1, 1, 2, 3))) for event in _run(draw, ids, number)]


def _run(draw: random.Random, ids: _Ids, number: int) -> Iterator[Event]:
    run = {"threadId": "t", "runId": f"r{number}"}
    yield {"type": "RUN_STARTED", **run}
    yield {"type": "STATE_SNAPSHOT", "snapshot": {}}
    for _ in range(draw.randrange(5)):
        yield from _part(draw, ids)
    if draw.random() < 0.2:
        yield {"type": "RUN_ERROR", "message": "red"}
    else:
        outcome = draw.choice(({}, {}, {"outcome": {"type": "success"}}))
        yield {"type": "RUN_FINISHED", **run, **outcome}


def _part(draw: random.Random, ids: _Ids) -> Iterator[Event]:
    parts: list[Callable[[], Iterator[Event]]] = [
        lambda: _text(draw, ids, {}),
        lambda: _call(draw, ids, {}),
        lambda: _reasoning(draw, ids),
        lambda: _step(draw, ids),
        lambda: _subagent(draw, ids),
        lambda: _chunks(draw, ids),
        lambda: _others(draw, ids),
    ]
    yield from draw.choice(parts)()


def _text(draw: random.Random, ids: _Ids, tag: Event) -> Iterator[Event]:
    message = {"messageId": ids("m"), **tag}
    yield {"type": "TEXT_MESSAGE_START", **message, "role": "assistant"}
    for _ in range(draw.randrange(3)):
        yield {"type": "TEXT_MESSAGE_CONTENT", **message, "delta": "a"}
    yield {"type": "TEXT_MESSAGE_END", **message}


def _call(draw: random.Random, ids: _Ids, tag: Event) -> Iterator[Event]:
    call = {"toolCallId": ids("c"), **tag}
    yield {"type": "TOOL_CALL_START", **call, "toolCallName": "read"}
    if draw.random() < 0.5:
        yield {"type": "TOOL_CALL_ARGS", **call, "delta": "{}"}
    yield {"type": "TOOL_CALL_END", **call}
    if draw.random() < 0.2:
        yield {"type": "CUSTOM", "name": "a.b", "value": 1}
    yield {"type": "TOOL_CALL_RESULT", "messageId": ids("m"), **call, "content": "red"}


def _reasoning(draw: random.Random, ids: _Ids) -> Iterator[Event]:
    span, message = {"messageId": ids("s")}, {"messageId": ids("m")}
    yield {"type": "REASONING_START", **span}
    yield {"type": "REASONING_MESSAGE_START", **message, "role": "reasoning"}
    yield {"type": "REASONING_MESSAGE_CONTENT", **message, "delta": "a"}
    yield {"type": "REASONING_MESSAGE_END", **message}
    yield {"type": "REASONING_END", **span}
    if draw.random() < 0.5:
        value = {"subtype": "message", "entityId": message["messageId"], "encryptedValue": "red"}
        yield {"type": "REASONING_ENCRYPTED_VALUE", **value}


def _step(draw: random.Random, ids: _Ids) -> Iterator[Event]:
    step = {"stepName": ids("s")}
    yield {"type": "STEP_STARTED", **step}
    yield from _text(draw, ids, {})
    yield {"type": "STEP_FINISHED", **step}


def _subagent(draw: random.Random, ids: _Ids) -> Iterator[Event]:
    tag = {"subagentRunId": ids("a")}
    yield {"type": "SUBAGENT_STARTED", **tag, "name": "red"}
    yield from draw.choice((_text, _call))(draw, ids, tag)
    if draw.random() < 0.3:
        child = {"subagentRunId": ids("a")}
        yield {"type": "SUBAGENT_STARTED", **child, "name": "blue", "parentSubagentRunId": tag["subagentRunId"]}
        yield {"type": "SUBAGENT_ERROR", **child, "message": "red"}
    yield {"type": "SUBAGENT_FINISHED", **tag, **draw.choice(({}, {"outcome": {"type": "success"}}))}


def _chunks(draw: random.Random, ids: _Ids) -> Iterator[Event]:
    if draw.random() < 0.5:
        yield {"type": "TEXT_MESSAGE_CHUNK", "messageId": ids("m"), "delta": "a"}
        yield {"type": "TEXT_MESSAGE_CHUNK", "delta": "b"}
    else:
        call = {"toolCallId": ids("c")}
        yield {"type": "TOOL_CALL_CHUNK", **call, "toolCallName": "read", "delta": "{"}
        yield {"type": "TOOL_CALL_CHUNK", "delta": "}"}
        yield {"type": "TOOL_CALL_RESULT", "messageId": ids("m"), **call, "content": "red"}


def _others(draw: random.Random, ids: _Ids) -> Iterator[Event]:
    activity = {"messageId": ids("v"), "activityType": "plan"}
    groups: list[Stream] = [
        [{"type": "STATE_SNAPSHOT", "snapshot": {}}, {"type": "STATE_DELTA", "delta": _PATCH}],
        [
            {"type": "ACTIVITY_SNAPSHOT", **activity, "content": {}},
            {"type": "ACTIVITY_DELTA", **activity, "patch": _PATCH},
        ],
        [{"type": "RAW", "event": {}}, {"type": "MESSAGES_SNAPSHOT", "messages": []}],
    ]
    yield from draw.choice(groups)


def broken(draw: random.Random) -> Stream:
    """A valid stream after one or two edits; some of them leave it valid."""
    stream = copy.deepcopy(valid(draw))
    for _ in range(draw.choice((1, 1, 2))):
        if stream:
            draw.choice(_EDITS)(draw, stream)
    return stream


def _at(draw: random.Random, stream: Stream) -> int:
    return draw.randrange(len(stream))


def _drop(draw: random.Random, stream: Stream) -> None:
    del stream[_at(draw, stream)]


def _repeat(draw: random.Random, stream: Stream) -> None:
    stream.insert(_at(draw, stream), copy.deepcopy(stream[_at(draw, stream)]))


def _swap(draw: random.Random, stream: Stream) -> None:
    first, second = _at(draw, stream), _at(draw, stream)
    stream[first], stream[second] = stream[second], stream[first]


def _field(draw: random.Random, event: Event) -> str:
    return draw.choice([field for field in event if field != "type"] or ["none"])


def _forget(draw: random.Random, stream: Stream) -> None:
    event = stream[_at(draw, stream)]
    event.pop(_field(draw, event), None)


def _mistype(draw: random.Random, stream: Stream) -> None:
    event = stream[_at(draw, stream)]
    values: list[Any] = [None, 1, True, [], {}, "other"]
    event[_field(draw, event)] = draw.choice(values)


def _rename(draw: random.Random, stream: Stream) -> None:
    """Give an event the id of another."""
    fields = ("messageId", "toolCallId", "stepName", "subagentRunId", "entityId", "parentSubagentRunId")
    field = draw.choice(fields)
    having = [event for event in stream if field in event]
    if having:
        draw.choice(having)[field] = draw.choice(having)[field]


def _tag(draw: random.Random, stream: Stream) -> None:
    stream[_at(draw, stream)]["subagentRunId"] = draw.choice(("a1", "a2", "a5", None))


def _cut(draw: random.Random, stream: Stream) -> None:
    del stream[_at(draw, stream) :]


def _patch(draw: random.Random, stream: Stream) -> None:
    for event in stream:
        for field in ("delta", "patch"):
            if isinstance(event.get(field), list):
                event[field] = [{**_PATCH[0], **draw.choice(({"op": "no"}, {"path": "n"}, {"path": "/~2"}))}]


_EDITS: Final = (_drop, _drop, _repeat, _repeat, _swap, _forget, _mistype, _rename, _rename, _tag, _cut, _patch)
