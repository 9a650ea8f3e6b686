"""Inputs that have the messages of earlier ones: each says what it says by itself, whatever became of the history."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, Final
from unittest.mock import MagicMock, patch

import pytest
from fuzz.edited_logs import assert_same
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Raw
from otlp_spans import Span, agent, line, span, tool

from turncheck.adapters.logs.fast.lines.histories import Histories
from turncheck.adapters.logs.fast.lines.otlp import SPANS
from turncheck.adapters.logs.formats.otlp.messages import Asked, asked_of, decode_messages, genai_messages
from turncheck.adapters.logs.formats.otlp.reader import _steps
from turncheck.adapters.logs.formats.otlp.spread import PLACES
from turncheck.adapters.logs.formats.otlp.steps import Step
from turncheck.model.core.events import Event

Message = Any
SETTINGS: Final = settings(max_examples=150, deadline=None, database=None, derandomize=True)
TEXTS: Final = ("", "blue", "pink", 'say "b"\n', "é 😀", "\\", "}]", '},{"role":"user"')
ROLES: Final = ("user", "assistant", "tool", "user", "assistant", "model", "system")
DECODE: Final = f"{Histories.__module__}.decode_messages"
ODD: Final[tuple[Message, ...]] = (
    *(3, {}, {"role": 3}, {"role": "user", "parts": 3}, {"role": "tool", "parts": [3]}),
    {"role": "user", "parts": [{"type": "text", "content": 1}]},
)
PARTS: Final = st.one_of(
    st.builds(lambda text: {"type": "text", "content": text}, st.sampled_from(TEXTS)),
    st.builds(lambda own: {"type": "tool_call_response", "id": own, "response": "}]"}, st.sampled_from("abc")),
    st.builds(lambda own: {"type": "tool_call", "id": own, "name": "read"}, st.sampled_from("abc")),
)
MESSAGES: Final = st.builds(
    lambda role, parts: {"role": role, "parts": parts}, st.sampled_from(ROLES), st.lists(PARTS, min_size=1, max_size=2)
)


@st.composite
def inputs(draw: st.DrawFn) -> list[list[Message]]:
    """The inputs of a model, request by request: mostly the one before, and more."""
    found = [draw(st.lists(MESSAGES, max_size=2))]
    for _ in range(draw(st.integers(1, 5))):
        found.append(_next(draw, found[-1]))
    return found


def _next(draw: st.DrawFn, before: list[Message]) -> list[Message]:
    at = draw(st.integers(0, max(len(before) - 1, 0)))
    match draw(st.sampled_from(["grown"] * 6 + ["same", "edited", "compacted", "reordered", "new", "odd"])):
        case "same":
            return before
        case "edited":  # by one of the same length, mostly
            return [*before[:at], draw(MESSAGES), *before[at + 1 :]]
        case "compacted":
            return [draw(MESSAGES), *before[at:]]
        case "reordered":
            return [*before[at:], *before[:at]]
        case "new":
            return draw(st.lists(MESSAGES, max_size=2))
        case "odd":
            return [*before, draw(st.sampled_from(ODD))]
        case _:
            return [*before, *draw(st.lists(MESSAGES, min_size=1, max_size=3))]


@st.composite
def written(draw: st.DrawFn, messages: list[Message]) -> str:
    """The messages as JSON, mostly in one way, and now and then broken."""
    text = json.dumps(messages, separators=draw(st.sampled_from([(", ", ": ")] * 5 + [(",", ":")])))
    match draw(st.sampled_from(["whole"] * 12 + ["cut", "longer", "comma", "closed"])):
        case "cut":
            return text[: draw(st.integers(0, len(text)))]
        case "longer":
            return f" {text} \n"
        case "comma":
            return f"{text[:-1]},]"
        case "closed":
            return f"{text}]"
        case _:
            return text


def raw(text: str, comma: str = ",") -> Raw:
    """A text as JSON has it, whose commas may be escaped."""
    return Raw(json.dumps(text, ensure_ascii=len(text) % 2 == 0).replace(",", comma).encode())


def alone(text: str) -> Asked | None:
    """The news of an input that is read by itself."""
    messages = genai_messages(text)
    return None if messages is None else asked_of(messages)


@SETTINGS
@given(inputs(), st.data())
def test_an_input_says_the_same_behind_any_other(requests: list[list[Message]], data: st.DataObject) -> None:
    kept = Histories()
    for messages in requests:
        text = data.draw(written(messages))
        comma = data.draw(st.sampled_from([",", ",", "\\u002c"]))
        assert kept.asked("c", raw(text, comma)) == Histories().asked("c", raw(text, comma))
        found = kept.asked("c", raw(text))  # which is the same again
        assert found is None or found == alone(text)


GOOD: Final = '[{"role":"user","parts":[{"type":"text","content":"blue"}]}]'
MORE: Final = '{"role":"tool","parts":[{"type":"tool_call_response","id":"a"}]}'


@pytest.mark.parametrize("before", ["[]", "[{}]", GOOD, f"{GOOD} ", f"{GOOD[:-1]} ]", f" {GOOD}"])
@pytest.mark.parametrize(
    "end", [f",{MORE}]", f" , {MORE} ]", ",]", ", ]", ",3]", "]]", "", ",", "]", " ]", f"{MORE}]", f"],{MORE}]"]
)
def test_the_end_of_a_list_decides_if_it_goes_on_from_another(before: str, end: str) -> None:
    for text in (before[:-1] + end, before + end):
        kept = Histories()
        kept.asked("c", raw(before))
        assert kept.asked("c", raw(text)) == Histories().asked("c", raw(text))


def conversation(turns: int) -> list[Message]:
    """Questions, and answers of the model, of which each text is different."""
    return [
        {"role": role, "parts": [{"type": "text", "content": f"{turn} {'x' * 100}"}]}
        for turn in range(turns)
        for role in ("user", "assistant")
    ]


def test_of_a_history_that_has_grown_the_new_messages_alone_are_decoded() -> None:
    kept, long = Histories(), conversation(20)
    assert kept.asked("c", raw(json.dumps(long))) == Asked()
    more = [*long, {"role": "user", "parts": [{"type": "text", "content": "red"}]}]
    with patch(DECODE, wraps=decode_messages) as decode:
        assert kept.asked("c", raw(json.dumps(more))) == Asked(("red",))
    ((text,), _) = decode.call_args
    assert len(text) < 100


def test_histories_of_many_conversations_are_kept_up_to_a_number_of_bytes() -> None:
    kept, text = Histories(10_000), raw(json.dumps(conversation(10)))
    for number in range(50):
        kept.asked(f"c{number}", text)
    with patch(DECODE, wraps=decode_messages) as decode:
        kept.asked("c0", text)
        assert decode.call_count == 1
        kept.asked("c49", text)
        assert decode.call_count == 1
    assert sum(len(before) for before, _ in kept._kept.values()) < kept._size <= 10_000


def test_of_conversations_that_say_hardly_anything_no_more_are_kept() -> None:
    kept = Histories(10_000)
    for number in range(100):
        kept.asked(f"c{number}", raw("[{}]"))
    assert 0 < len(kept._kept) < 40


# Whole logs


def genai(side: str, text: str) -> Iterator[tuple[str, Any]]:
    yield f"gen_ai.{side}.messages", text


def openinference(side: str, messages: Sequence[Message], numbers: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The messages that are such, spread over attributes; the numbers are those of the messages."""
    for number, message in zip(numbers, messages, strict=False):
        own = f"llm.{side}_messages.{number}.message"
        parts = message.get("parts") if isinstance(message, dict) else None
        yield f"{own}.name", "other"
        if isinstance(parts, list) and isinstance(message.get("role"), str):
            yield f"{own}.role", message["role"]
            for at, part in enumerate(parts):
                yield from _spread(own, at, part) if isinstance(part, dict) else ()


def _spread(own: str, at: int, part: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    match part["type"]:
        case "text":
            yield f"{own}.contents.{at}.message_content.type", "text"
            yield f"{own}.contents.{at}.message_content.text", str(part["content"])
        case "tool_call":
            yield f"{own}.tool_calls.{at}.tool_call.id", part["id"]
            yield f"{own}.tool_calls.{at}.tool_call.function.name", part["name"]
        case _:
            yield f"{own}.tool_call_id", part["id"]


NUMBERS: Final = (*map(str, range(5, 15)), "007", "٣", "x", "")
SAYS: Final[tuple[dict[str, Any], ...]] = (
    {"gen_ai.operation.name": "chat"},
    {"openinference.span.kind": "LLM"},
    {"gen_ai.operation.name": "chat", "openinference.span.kind": "TOOL"},
    {"gen_ai.operation.name": "invoke_agent", "input.value": "red"},
    {"gen_ai.operation.name": ["chat"]},
)
EVENTS: Final[tuple[list[Any], ...]] = (
    [],
    [{"name": "sent", "attributes": [{"key": "exception.type", "value": {"stringValue": "Timeout"}}]}],
    [{"name": "exception", "attributes": [{"key": "exception.type", "value": {"stringValue": "CancelledError"}}]}],
)


@st.composite
def traces(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The lines of traces at once, of one conversation or two: requests in any order, within spans of other kinds."""
    spans: list[Span] = []
    for number in range(draw(st.integers(1, 2))):
        trace, session = f"t{number}", draw(st.sampled_from(["c", f"c{number}", None]))
        spans += [agent(0, 90, trace=trace, conversation=session), span(9, 1, 1, 2, {"http.route": "/"}, trace)]
        for at, messages in enumerate(draw(inputs()), 2):
            spans.append(_request(draw, at, messages, trace, session))
            if draw(st.booleans()):
                start = 10 * at + draw(st.integers(1, 9))
                spans.append(tool(10 + at, draw(st.sampled_from(["a", "b", None])), start, start + 3, trace=trace))
    ordered = draw(st.sampled_from([spans, draw(st.permutations(spans))]))
    ended = sorted(ordered, key=lambda one: int(one["endTimeUnixNano"])) if draw(st.booleans()) else ordered
    cuts = sorted({0, len(ended), *draw(st.sets(st.integers(1, len(ended)), min_size=len(ended) // 2))})
    return [line(*ended[begin:end]) for begin, end in pairwise(cuts)]


def _request(draw: st.DrawFn, at: int, messages: list[Message], trace: str, session: str | None) -> Span:
    made = [{"role": "assistant", "parts": [draw(PARTS), draw(PARTS)], "finish_reason": "stop"}]
    pairs: list[tuple[str, Any]] = [*draw(st.sampled_from(SAYS[:1] * 3 + SAYS[1:2] * 3 + SAYS[2:])).items()]
    for side, said in (("input", messages), ("output", made)):
        if draw(st.booleans()):
            pairs += genai(side, draw(written(said)))
        if draw(st.booleans()):
            pairs += openinference(side, said, NUMBERS)
    pairs += [
        ("gen_ai.conversation.id", session),
        ("gen_ai.response.finish_reasons", draw(st.sampled_from([["stop"], None]))),
    ]
    given = dict(draw(st.sampled_from([pairs, pairs[::-1], draw(st.permutations(pairs))])))
    above, end = draw(st.sampled_from([1, 1, 9, 2])), 10 * at + draw(st.integers(1, 12))
    failed = draw(st.sampled_from([{}, {}, {"status": {"code": 2, "message": "late"}}]))
    return {**span(at, above, 10 * at, end, given, trace), "events": draw(st.sampled_from(EVENTS)), **failed}


class Taken:
    """A stand-in for a mapper, which keeps the steps of the latest line."""

    def __init__(self) -> None:
        self.steps: list[Step] | None = None

    def batch(self, steps: list[Step]) -> list[Event]:
        self.steps = steps
        return []


@SETTINGS
@given(traces())
def test_spans_are_the_steps_that_the_mapper_makes_of_them(lines: list[dict[str, Any]]) -> None:
    taken = Taken()
    feed = SPANS.feeds(taken)
    for value in lines:
        taken.steps = None
        feed([SPANS.decode(json.dumps(value, ensure_ascii=False).encode())], 0, MagicMock())
        tells = '"name": "exception"' in json.dumps(value)
        assert taken.steps == (None if tells else [*_steps(value)])


@settings(SETTINGS, max_examples=60)
@given(traces(), st.sampled_from([1 << 20, 997]))
def test_traces_with_histories_are_read_as_by_the_mapper_alone(lines: list[dict[str, Any]], piece: int) -> None:
    data = b"".join(json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in lines)
    assert_same("otlp", data, piece)


# Keys of attributes


@pytest.mark.parametrize(
    "key",
    [
        "llm.input_messages",
        "llm.input_messages.0",
        "llm.input_messages..role",
        "llm.input_messages.x.message.role",
        "x",
    ],
)
def test_a_key_without_a_number_and_a_path_is_of_no_message(key: str) -> None:
    assert PLACES[key] is None


def test_messages_are_in_the_order_of_their_numbers_as_they_count() -> None:
    places = [PLACES[f"llm.input_messages.{number}.message.role"] for number in (2, 10, 9)]
    assert sorted(place.message[1] for place in places if place) == ["10", "2", "9"]
    assert [number for _, number in sorted(place.message for place in places if place)] == ["2", "9", "10"]


def test_a_path_that_is_not_read_shows_that_there_is_a_message() -> None:
    place = PLACES["llm.output_messages.0.message." + "x" * 1000]
    assert place is not None
    assert place.made
    assert place.leaf[0] == "other"
