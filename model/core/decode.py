"""Decode bytes and JSON values to events: a fast typed decoder, and an exact judge for all that it refuses (RC-D5).

The fast path never accepts a line that the judge would not: it yields the same event, or leaves the line to the judge.
tests/model/core/test_decode.py compares the two.
"""

import json
import sys
from codecs import BOM_UTF8
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from itertools import islice
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias, cast, get_args

import msgspec
from msgspec import Raw

from .events import (
    SYMBOLS,
    AgentOutput,
    AgentSession,
    Delivery,
    Event,
    Fault,
    Malformed,
    ModelRequest,
    Native,
    OutputKind,
    RunPause,
    RunResume,
    RunStop,
    Source,
    StopReason,
    ToolResult,
    UnknownType,
    UserMessage,
    WireEvent,
    letter_of,
)

_Values: TypeAlias = type | tuple[str, ...]

_Usual: TypeAlias = UserMessage | AgentOutput | ToolResult | RunStop | ModelRequest | Fault | Native
"""Events that the typed decoder takes: pauses are left to the judge, so that a block without one is known by that. To
look at the type of each event took 0.15 of the yardstick."""
_decode: Final[Callable[[bytes], Event]] = msgspec.json.Decoder(_Usual).decode
_decode_any: Final[Callable[[bytes], Event]] = msgspec.json.Decoder(WireEvent).decode
"""The same, of pauses too: it decodes the blocks that have some, and so at the speed of others."""

_KINDS: Final = get_args(OutputKind)
_RULES: Final[Mapping[str, tuple[type[Any], Mapping[str, _Values]]]] = {
    "user-message": (UserMessage, {"text": str, "content": list, "id": str, "delivery": get_args(Delivery)}),
    "agent-output": (AgentOutput, {"kind": _KINDS, "responseId": str}),
    "tool-result": (ToolResult, {"callId": str, "isError": bool, "synthetic": bool}),
    "run-stop": (RunStop, {"reason": get_args(StopReason), "detail": str}),
    "model-request": (ModelRequest, {}),
    "fault": (Fault, {}),
    "native": (Native, {}),
    "run-pause": (RunPause, {}),
    "run-resume": (RunResume, {}),
}
"""RC-D5: wire type → its structure, and each field that is judged with its permitted values."""
_OF_KIND: Final[Mapping[str, Mapping[str, _Values]]] = {
    "assistant": {"text": str},
    "reasoning": {"text": str},
    "tool-call": {"callId": str, "tool": str},
}
"""The fields of an ``agent-output`` that are judged for its kind."""
_FIELDS_OF_KIND: Final = {kind: {**_RULES["agent-output"][1], **fields} for kind, fields in _OF_KIND.items()}
_ATTRIBUTES: Final[Mapping[type[Any], Mapping[str, str]]] = {
    struct: dict(zip(struct.__struct_encode_fields__, struct.__struct_fields__, strict=True))
    for struct, _ in _RULES.values()
}
"""Structure → wire name of a field → its attribute."""
_SOURCES: Final = get_args(Source)
_REQUIRED: Final = {"agent-output": "kind", "tool-result": "callId", "run-stop": "reason"}
_INT_DIGITS: Final = sys.int_info.str_digits_check_threshold  # longer ones may be refused, by a limit that users set
_PART: Final = Raw(b"null")
"""Stands for a part of ``content``: parts are not judged here, nor read."""

_REFUSALS: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_LEAST: Final = 192
"""Lines per batch of a log in memory, in addition to as many as ``_SIZE`` bytes hold.

A batch costs some 3 µs by itself, more while it is cold: 0.07 of the yardstick in batches of 40 events of 1 to 4 kB.
"""
_SIZE: Final = 65536
"""Bytes: a batch of short lines has not many more, which keeps interleaved sessions in the near cache."""
_FEW: Final = 240
"""Lines: if a batch has no more than these, they are long (above 1.4 kB) and decoded one by one, which is up to 0.05
cheaper than together; at 1 kB and below, together is cheaper."""


class Batch(NamedTuple):
    """Consecutive events of one log, with their positions."""

    events: tuple[Event, ...]
    ats: Sequence[int]


class Decoded(NamedTuple):
    """The events of whole lines, and the number of lines, of which blank ones hold no position.

    *usual*: the typed decoder took all of them. Then none is malformed, of an unknown type, or a sub-agent's; none is a
    ``RunPause`` or ``RunResume``; and no end says how it was told (``via``).
    """

    events: tuple[Event, ...]
    lines: int
    usual: bool


def batches(log: bytes) -> Iterator[Batch]:
    """Yield the events of a whole log in memory, decoded as by ``decode_lines``, some hundred lines per batch.

    Never raises; a leading byte order mark is dropped. Each line is cut out of *log* itself, which saves a copy.
    """
    log = log.removeprefix(BOM_UTF8)
    lines = BytesIO(log)
    begin = at = 0
    count = _LEAST
    while begin < len(log):
        some = islice(lines, count)
        try:
            events = tuple(map(_decode, some if count > _FEW else filter(_sound, some)))
            end = lines.tell()
            if count > _FEW:
                _sound(log[begin:end])
        except _REFUSALS:
            deque(some, maxlen=0)  # the lines behind the refused one
            end = lines.tell()
            events = decode_lines(log[begin:end]).events
        yield Batch(events, range(at, at + len(events)))
        at += len(events)
        count = _LEAST + _SIZE * len(events) // (end - begin)
        begin = end


def decode_lines(block: bytes) -> Decoded:
    r"""Return the events of whole lines.

    Never raises: a line that is no event becomes Malformed. Each line is decoded by itself, which is exact, and is
    freed before the next is cut, so that both take the same place in the nearest cache (docs/performance.md).

    >>> events, lines, usual = decode_lines(b'{"type": "run-stop", "reason": "error"}\n\n')
    >>> len(events), lines, usual  # a blank line holds no position, and is unusual
    (1, 2, False)
    """
    for decode, usual in ((_decode, True), (_decode_any, False)):
        try:
            events = tuple(map(decode, BytesIO(block)))
            _sound(block)
        except _REFUSALS:
            continue
        return Decoded(events, len(events), usual)
    lines = lines_of(block)
    return Decoded(tuple(decode_line(line) for line in lines if not is_blank(line)), len(lines), usual=False)


def _sound(text: bytes) -> bool:
    """Return True for UTF-8, else raise UnicodeDecodeError: the typed decoder does not validate what it skips."""
    if not text.isascii():
        text.decode()
    return True


def lines_of(block: bytes) -> list[bytes]:
    """Return the lines of *block*, blank ones too, without line feeds; the last line may lack its own."""
    lines = block.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines


def is_blank(line: bytes) -> bool:
    """Return True for a line that holds no position: an empty one, or only spaces, tabs and carriage returns."""
    return not line.strip(b" \t\r")


def decode_line(line: bytes) -> Event:
    """Decode one line; never raises."""
    try:
        _sound(line)
        return _decode_any(line)
    except _REFUSALS:
        return judge_line(line)


def judge_line(line: bytes) -> Event:
    """Decode one line exactly as RC-D5 says; slow, never raises."""
    try:
        value = parse(line)
    except (ValueError, RecursionError) as error:
        return Malformed(f"unreadable line: {error}")
    return judge(value)


def parse(line: bytes) -> Any:
    """Parse JSON as the log format reads it: lone surrogates become U+FFFD, NaN and Infinity are refused.

    Raises ValueError for text that is not JSON, RecursionError for deep nesting.
    """
    value = _PARSER.decode(line.decode())
    if b"\\u" not in line:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return _PARSER_AGAIN.decode(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _INT_DIGITS else float("1e308") * (-1 if digits.startswith("-") else 1)


_PARSER: Final = json.JSONDecoder(parse_constant=_refuse, parse_int=_integer)
_PARSER_AGAIN: Final = json.JSONDecoder(parse_int=_integer)  # an Infinity was a number too large, and no constant
# Made once: ``json.loads`` with such options makes one for each line, a sixth of a streamed format's time.


def judge(value: Any) -> Event:
    """Return the event of a decoded JSON value (null stands for an unreadable line); never raises."""
    if not isinstance(value, dict):
        return Malformed("unreadable line" if value is None else f"not an object: {type(value).__name__}")
    given = cast(dict[str, Any], value)
    name = given.get("type")
    session_id = _session(given)
    if not isinstance(name, str):
        return Malformed("type is no string", session_id)
    if name not in _RULES:
        return UnknownType(name, session_id)
    struct, fields = _RULES[name]
    kind = given.get("kind")
    if name == "agent-output" and isinstance(kind, str):
        fields = _FIELDS_OF_KIND.get(kind, fields)
    fitting: dict[str, Any] = {"session_id": session_id}
    if (source := given.get("source")) in _SOURCES:
        fitting["source"] = source
    attributes = _ATTRIBUTES[struct]
    for field, allowed in fields.items():
        content = given.get(field)
        if content is None:
            continue
        if (why := _misfit(content, allowed)) is not None:
            return Malformed(f"{name}: {field} {why}", session_id)
        fitting[attributes[field]] = [_PART] * len(content) if allowed is list else content
    required = _REQUIRED.get(name)
    if required is not None and given.get(required) is None:
        return Malformed(f"{name}: {required} is required", session_id)
    return completed(struct(**fitting))


def _session(given: Mapping[str, Any]) -> str | None:
    """Return the session that an object names, its agent's where it names one; a name that is no string is absent."""
    session, agent = given.get("sessionId"), given.get("agentId")
    name = session if isinstance(session, str) else None
    return AgentSession(name, agent) if isinstance(agent, str) else name


def _misfit(value: Any, allowed: _Values) -> str | None:
    if isinstance(allowed, tuple):
        return None if isinstance(value, str) and value in allowed else f"is none of {', '.join(allowed)}"
    fits = isinstance(value, allowed)
    return None if fits else f"is no {allowed.__name__}, but {type(value).__name__}"


def completed(event: Any) -> Event:
    """Return the event, or Malformed if it lacks a field that its kind requires."""
    symbol = letter_of(event)
    if symbol.complete(event):
        complete: Event = event
        return complete
    wanted = " and ".join(symbol.needs) or f"exactly one of {' and '.join(symbol.one_of)}"
    return Malformed(f"{symbol.name}: {wanted} required", event.session_id)


def field_rules() -> list[tuple[str, str | None, dict[str, _Values], tuple[str, ...], tuple[str, ...]]]:
    """Return RC-D5 as data: (type, kind, field → permitted values, required fields, fields of which exactly one is)."""
    found: list[tuple[str, str | None, dict[str, _Values], tuple[str, ...], tuple[str, ...]]] = []
    kind: str | None
    for name, (struct, fields) in _RULES.items():
        for kind in _KINDS if struct is AgentOutput else (None,):
            own: dict[str, _Values] = {**fields, **(_OF_KIND[kind] if kind else {})}
            letter = next(item for item in SYMBOLS if struct in item.structs and (kind is None or kind in item.kinds))
            needs = [_wire_name(struct, attribute) for attribute in letter.needs]
            required = [*([_REQUIRED[name]] if name in _REQUIRED else []), *needs]
            found.append((name, kind, own, tuple(required), letter.one_of))
    return found


def _wire_name(struct: type[Any], attribute: str) -> str:
    names: Sequence[str] = struct.__struct_fields__
    return struct.__struct_encode_fields__[names.index(attribute)]  # type: ignore[no-any-return]
