"""From bytes and JSON values to events: a fast typed decoder, and an exact judge for whatever it refuses (RC-D5).

The fast path never accepts what the judge would not: it either yields the same event, or refuses and leaves the line to
the judge. tests/model/test_decode.py holds the two against each other.
"""

import json
import secrets
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, NoReturn, Self, TypeAlias, cast, get_args

import msgspec
from msgspec import Raw

from .events import (
    SYMBOLS,
    AgentOutput,
    Delivery,
    Event,
    Fault,
    Malformed,
    ModelRequest,
    Native,
    OutputKind,
    RunStop,
    Source,
    StopReason,
    ToolResult,
    UnknownType,
    UserMessage,
    WireEvent,
)

_Values: TypeAlias = type | tuple[str, ...]

_decode: Final[Callable[[bytes], Event]] = msgspec.json.Decoder(WireEvent).decode
_MARK: Final = 10**6 + secrets.randbelow(9 * 10**6)
"""A number that stands between the lines of a block, made anew in each process: a log that means to imitate it has one
chance in nine millions."""
_BETWEEN: Final = b",%d,\n" % _MARK
_decode_array: Final[Callable[[bytes], tuple[Event | int, ...]]] = msgspec.json.Decoder(
    tuple[WireEvent | Literal[_MARK], ...]  # type: ignore[valid-type]
).decode

_KINDS: Final = get_args(OutputKind)
_RULES: Final[Mapping[str, tuple[type[Any], Mapping[str, _Values]]]] = {
    "user-message": (UserMessage, {"text": str, "content": list, "id": str, "delivery": get_args(Delivery)}),
    "agent-output": (AgentOutput, {"kind": _KINDS, "responseId": str}),
    "tool-result": (ToolResult, {"callId": str, "isError": bool, "synthetic": bool}),
    "run-stop": (RunStop, {"reason": get_args(StopReason), "detail": str}),
    "model-request": (ModelRequest, {}),
    "fault": (Fault, {}),
    "native": (Native, {}),
}
"""RC-D5: wire type → its structure, and its fields that are judged, with what they may be."""
_OF_KIND: Final[Mapping[str, Mapping[str, _Values]]] = {
    "assistant": {"text": str},
    "reasoning": {"text": str},
    "tool-call": {"callId": str, "tool": str},
}
"""The fields of an ``agent-output`` that are judged for its kind."""
_REQUIRED: Final = {"agent-output": "kind", "tool-result": "callId", "run-stop": "reason"}
_INT_DIGITS: Final = sys.int_info.str_digits_check_threshold  # longer ones may be refused, by a limit that users set
_PART: Final = Raw(b"null")
"""Stands for a part of ``content``: the parts are not judged, and nobody reads them here."""


class Batch(NamedTuple):
    """Consecutive events of one log, with their positions."""

    events: tuple[Event, ...]
    ats: Sequence[int]


class Lines(NamedTuple):
    """Whole lines, as the array that they are decoded from: with the mark between them, and in brackets.

    ``number`` is how many they are, ``size`` how many bytes, line feeds between them included.
    """

    array: bytes
    number: int
    size: int

    @classmethod
    def of(cls, *parts: bytes | memoryview) -> Self:
        """The lines whose joined bytes *parts* are; the last one's line feed is left out.

        What the bytes grow by when the marks go in tells their number: ``bytes.count`` would look at every byte, where
        ``bytes.replace`` goes from hit to hit (57 against 17 ns a line).
        """
        joined = b"".join((b"[", *parts, b"]"))
        array = joined.replace(b"\n", _BETWEEN)
        return cls(array, (len(array) - len(joined)) // (len(_BETWEEN) - 1) + 1, len(joined) - 2)

    def split(self) -> list[bytes]:
        """The lines one by one, blank ones too."""
        return self.array[1:-1].split(_BETWEEN)


def decode_block(block: bytes, first: int) -> Batch:
    """Decode whole lines, joined by line feeds; see ``decode_lines``."""
    return decode_lines(Lines.of(block), first)


def decode_lines(lines: Lines, first: int) -> Batch:
    """Decode whole lines; blank ones hold no position, *first* is that of the first other.

    Never raises: a line that is no event comes back as Malformed. All are decoded at one go, as an array. That is
    exact: the marks are all items of the array only if no value goes over a line's end, and then each line holds one
    value if there are as many values as lines.
    """
    try:
        if not lines.array.isascii():
            lines.array.decode()  # the typed decoder does not look into what it skips
        items = _decode_array(lines.array)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        items = ()
    if len(items) == 2 * lines.number - 1 and items[1::2].count(_MARK) == lines.number - 1:
        events = cast(tuple[Event, ...], items[::2])
    else:
        events = tuple(decode_line(line) for line in lines.split() if not is_blank(line))
    return Batch(events, range(first, first + len(events)))


def is_blank(line: bytes) -> bool:
    """Whether *line* holds no position: nothing, or only spaces, tabs and carriage returns."""
    return not line.strip(b" \t\r")


def decode_line(line: bytes) -> Event:
    """Decode one line; never raises."""
    try:
        if line.isascii():
            return _decode(line)
        line.decode()  # the typed decoder does not look into what it skips
        return _decode(line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return judge_line(line)


def judge_line(line: bytes) -> Event:
    """Decode one line by the letter of RC-D5; slow, exact, never raises."""
    try:
        value = parse(line)
    except (ValueError, RecursionError) as error:
        return Malformed(f"unreadable line: {error}")
    return judge(value)


def parse(line: bytes) -> Any:
    """Parse JSON as the log format reads it: lone surrogates become U+FFFD, NaN and Infinity are refused.

    Raises ValueError (or RecursionError, on deep nesting) for what is no JSON.
    """
    value = json.loads(line.decode(), parse_constant=_refuse, parse_int=_integer)
    if b"\\u" not in line:
        return value
    text = json.dumps(value, ensure_ascii=False)
    return json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), parse_int=_integer)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) < _INT_DIGITS else float("1e308") * (-1 if digits.startswith("-") else 1)


def judge(value: Any) -> Event:
    """The event that a decoded JSON value is (null stands for an unreadable line); never raises."""
    if not isinstance(value, dict):
        return Malformed("unreadable line" if value is None else f"not an object: {type(value).__name__}")
    given = cast(dict[str, Any], value)
    name = given.get("type")
    session = given.get("sessionId")
    session_id = session if isinstance(session, str) else None
    if not isinstance(name, str):
        return Malformed("type is no string", session_id)
    if name not in _RULES:
        return UnknownType(name, session_id)
    struct, fields = _RULES[name]
    kind = given.get("kind")
    if name == "agent-output" and isinstance(kind, str):
        fields = {**fields, **_OF_KIND.get(kind, {})}
    fitting: dict[str, Any] = {"session_id": session_id}
    if (source := given.get("source")) in get_args(Source):
        fitting["source"] = source
    for field, allowed in fields.items():
        content = given.get(field)
        if content is None:
            continue
        if (why := _misfit(content, allowed)) is not None:
            return Malformed(f"{name}: {field} {why}", session_id)
        fitting[_attribute(struct, field)] = [_PART] * len(content) if allowed is list else content
    required = _REQUIRED.get(name)
    if required is not None and given.get(required) is None:
        return Malformed(f"{name}: {required} is required", session_id)
    return completed(struct(**fitting))


def _misfit(value: Any, allowed: _Values) -> str | None:
    if isinstance(allowed, tuple):
        return None if isinstance(value, str) and value in allowed else f"is none of {', '.join(allowed)}"
    fits = isinstance(value, allowed)
    return None if fits else f"is no {allowed.__name__}, but {type(value).__name__}"


def completed(event: Any) -> Event:
    """An event that lacks what its kind requires is malformed."""
    symbol = next(letter for letter in SYMBOLS if letter.fits(event))
    if symbol.complete(event):
        complete: Event = event
        return complete
    wanted = " and ".join(symbol.needs) or f"exactly one of {' and '.join(symbol.one_of)}"
    return Malformed(f"{symbol.name}: {wanted} required", event.session_id)


def _attribute(struct: type[Any], field: str) -> str:
    names: Sequence[str] = struct.__struct_encode_fields__
    return struct.__struct_fields__[names.index(field)]  # type: ignore[no-any-return]


def field_rules() -> list[tuple[str, str | None, dict[str, _Values], tuple[str, ...], tuple[str, ...]]]:
    """RC-D5 as data: (type, kind, field → what it may be, required fields, fields of which exactly one is required)."""
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
