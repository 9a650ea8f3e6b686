"""What the environment did to a runtime, as rows of a sequence picture: what the log alone does not tell."""

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    Client,
    ModelFail,
    ModelOutput,
    ModelStop,
    Step,
    Stimulus,
    Together,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)
from turncheck.model.rendering.sequence import Arrow, as_object, shown

from ...observe.runtime_trace import flat
from ...verify.results import WordCounterexample

_USER, _AGENT, _MODEL, _TOOLS = range(4)
_ECHOES: Final[Mapping[type, str]] = {
    User: "user-message",
    ModelOutput: "agent-output",
    ToolReturn: "tool-result",
    ToolFail: "tool-result",
}
"""A stimulus → the event that tells of it."""


def rows_of_word(found: WordCounterexample) -> Mapping[int, Sequence[Arrow]]:
    """The rows that stand before each position of the log: every stimulus that no event of its own step tells of."""
    rows: defaultdict[int, list[Arrow]] = defaultdict(list)
    ends = itertools.accumulate((len(step.events) for step in found.steps), initial=0)
    for place, (at, stimulus, step) in enumerate(zip(ends, found.applied, found.steps, strict=False)):
        if place == len(found.word.stimuli):
            rows[at].append(_across("from here on the environment answers what is awaited"))
        rows[at] += _rows(stimulus, step)
    return rows


def _rows(stimulus: Stimulus, step: Step) -> Iterator[Arrow]:
    events = [as_object(event) for event in step.events]
    ids = [event.get("id") for event in events]
    echoes = Counter(str(event.get("type")) for event in events)
    refused = "" if step.refused is None else f", refused: {step.refused.why}"
    if isinstance(stimulus, Together):
        yield _across(f"{len(stimulus.stimuli)} stimuli at once")
    one: Stimulus
    for one in flat(stimulus):
        echo = _ECHOES.get(type(one), "")
        told = not refused and echoes[echo] > 0 and (not isinstance(one, User) or one.id in ids or None in ids)
        echoes[echo] -= told
        if not told:
            yield _row(one, refused)


def _row(stimulus: Stimulus, refused: str) -> Arrow:
    match stimulus:
        case User(text=text, delivery=delivery):
            return _arrow(_USER, _AGENT, f"sends, {delivery}" if delivery else "sends", text, refused)
        case Abort():
            return _arrow(_USER, _AGENT, "abort", "", refused)
        case ModelOutput(item=item):
            said = f"{item.tool} {item.call_id}" if isinstance(item, ToolCall) else item.text
            return _arrow(_MODEL, _AGENT, "wants a call" if isinstance(item, ToolCall) else "says", said, refused)
        case ModelStop(reason=reason):
            return _arrow(_MODEL, _AGENT, f"ends: {reason}", "", refused)
        case ModelFail(failure=failure):
            return _arrow(_MODEL, _AGENT, f"fails: {failure}", "", refused)
        case ToolReturn(call_id=call):
            return _arrow(_TOOLS, _AGENT, "returns", call, refused)
        case ToolFail(call_id=call):
            return _arrow(_TOOLS, _AGENT, "fails", call, refused)
        case Advance(seconds=seconds):
            return _across(f"{seconds:g} s pass{refused}")
        case Client(action=action):
            return _across(f"a client {'joins' if action == 'join' else 'leaves'}{refused}")
        case Together():
            return _across(f"{len(stimulus.stimuli)} stimuli at once{refused}")


def _arrow(source: int, dest: int, caption: str, text: str, refused: str) -> Arrow:
    return Arrow(None, source, dest, caption + refused, shown(text))


def _across(caption: str) -> Arrow:
    return Arrow(None, _AGENT, _AGENT, caption, "", ours=False)
