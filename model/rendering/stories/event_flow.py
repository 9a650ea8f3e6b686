"""Collation frame by frame: the frames that the UI gets, and the effect of each on its block."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ...declaration.vocabulary import Output
from ...machines.blocks import Collator
from ..printable import shown
from ..scene import Arrow, Band, Row, Scene
from .story import says

_NAMED: Final = {"provider": "openai", "model": "gpt"}


def _record(content: str, *calls: str, usage: int) -> dict[str, Any]:
    """A call record in the nested dialect: today's."""
    read = {"name": "read", "arguments": "{}"}
    called = [{"id": name, "type": "function", "function": read} for name in calls]
    return {"request": _NAMED, "response": {"content": content, "tool_calls": called, "usage": usage}}


_FIRST: Final = _record("I look.", "c1", usage=10)
_SECOND: Final = _record("all well", usage=20)


def _response(iteration: int, record: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "llm_response", "iteration": iteration, **_NAMED, "response": record["response"]}


def _complete(*records: Mapping[str, Any]) -> dict[str, Any]:
    last = records[-1]["response"]
    told = {"content": last["content"], "tool_calls": last["tool_calls"]}
    return {"type": "message_complete", "role": "assistant", **told, "llmApiCalls": list(records)}


STORY: Final[Sequence[tuple[str, Sequence[Mapping[str, Any]]]]] = (
    (
        "iteration 1",
        (
            {"type": "llm_request", "iteration": 1, **_NAMED},
            {"type": "delta", "content": "I "},
            {"type": "delta", "content": "look."},
            _response(1, _FIRST),
            _complete(_FIRST),
            {"type": "tool_call_start", "id": "c1", "name": "read"},
            {"type": "tool_call_result", "id": "c1", "name": "read", "content": "text"},
        ),
    ),
    (
        "iteration 2: no llm_request, and the message is complete before the response",
        (
            {"type": "delta", "content": "all "},
            _complete(_FIRST, _SECOND),
            {"type": "delta", "content": "well"},
            _response(2, _SECOND),
        ),
    ),
    ("frames that come again", (_complete(_FIRST), {"type": "tool_call_start", "id": "c1", "name": "read"})),
)
"""Today's dialect: provider and model are nested in the records of ``message_complete``."""


def scene() -> Scene:
    """Tell the story."""
    return Scene("Collation, frame by frame", ("backend", "UI", "block 1", "block 2"), tuple(_rows()))


def _rows() -> Iterator[Row]:
    collator = Collator()
    for title, frames in STORY:
        yield Band(title)
        for frame in frames:
            yield says("backend", "UI", _words(frame))
            for output in collator.feed(frame):
                yield from _done(output, collator)
    yield Band("what is shown")
    for block in collator.blocks:
        party = f"block {block.iteration}"
        yield says("UI", party, f"{block.provider}, {block.model}, usage {block.usage}", answer=True)
        yield says("UI", party, f"“{block.text}”, tool uses: {len(block.calls)}", answer=True)


def _words(frame: Mapping[str, Any]) -> str:
    match frame:
        case {"type": "delta", "content": content}:
            return f"delta “{content}”"
        case {"llmApiCalls": records}:
            return f"message_complete, records: {len(records)}"
        case {"iteration": iteration}:
            return f"{frame['type']} {iteration}"
        case _:
            return f"{frame['type']} {frame['id']}"


def _done(output: Output, collator: Collator) -> Iterator[Arrow]:
    match output.name, output.arguments:
        case "describe", (index, facts):
            told = [name for name in ("provider", "model", "usage") if facts.get(name) is not None]
            yield says("UI", f"block {index + 1}", ", ".join(told))
        case "append" | "replace" as name, (index, text):
            yield says("UI", f"block {index + 1}", shown(f"{'append' if name == 'append' else 'replace by'} “{text}”"))
        case "hang", (_, use):
            owner = next(block for block in collator.blocks if any(one.call_id == use.call_id for one in block.calls))
            yield says("UI", f"block {owner.iteration}", f"{'result of' if use.answered else 'uses'} {use.call_id}")
        case "ignore", _:
            yield says("UI", "UI", "nothing new")
        case _:
            return
