"""Runs of deltas: which lines are taken for the one before them with another text."""

import json
import re

import pytest

from turncheck.adapters.logs.fast.runs import LINE, SENT, pattern, style_of
from turncheck.adapters.logs.formats.wires import Delta

SAY = (Delta("text", ("say", "think")),)
NESTED = (Delta("delta.text", ("delta",), ("text",)),)
NUMBERED = (Delta("text", ("say",), varies=("seq", "pad")),)
LISTED = (Delta("choices.0.delta.content"),)


def run(deltas: tuple[Delta, ...], *lines: str, before: str = LINE, joint: str = "\n") -> int:
    """How many lines repeat the one before."""
    text = "".join(f"{joint}{line}" for line in lines).encode() + b"\n"
    found = pattern(deltas, before, style_of(lines[0].encode())).search(text)
    return 0 if found is None else found[found.lastindex or 0].count(joint.encode())


@pytest.mark.parametrize(
    ("deltas", "lines"),
    [
        (SAY, ['{"type":"say","id":"m","text":"a"}', '{"type":"say","id":"m","text":"\\u00e9 \\"b\\""}']),
        (SAY, ['{"type":"think","text":"a","at":1.5}', '{"type":"think","text":"","at":1.5}']),
        (SAY, ['{"type":"say","usage":{"in":1,"cost":{"a":0}},"text":"a"}'] * 2),
        (NESTED, ['{"type":"delta","index":0,"delta":{"type":"text","text":"a"}}'] * 2),
        (NUMBERED, ['{"type":"say","seq":1,"text":"a"}', '{"type":"say","seq":20,"text":"b"}']),
        (NUMBERED, ['{"type":"say","text":"a","seq":0,"pad":"xy"}', '{"type":"say","text":"b","seq":1,"pad":""}']),
        (LISTED, ['{"choices":[{"index":0,"delta":{"content":"a"},"end":null}],"usage":null}'] * 2),
    ],
)
def test_an_event_that_differs_in_its_text_alone_repeats_the_one_before(
    deltas: tuple[Delta, ...], lines: list[str]
) -> None:
    assert run(deltas, *lines) == 1
    assert run(deltas, *lines, before=re.escape(SENT.decode()), joint="\n\ndata: ") == 1
    assert run(deltas, *(json.dumps(json.loads(line)) for line in lines)) == 1  # Python's style


@pytest.mark.parametrize(
    ("deltas", "lines"),
    [
        (SAY, ['{"type":"say","id":"m","text":"a"}', '{"type":"say","id":"n","text":"b"}']),
        (SAY, ['{"type":"say","text":"a"}', '{"type":"think","text":"b"}']),
        (SAY, ['{"type":"say","text":""}', '{"type":"say","text":"b"}']),
        (SAY, ['{"type":"say","text":"a"}', '{"type":"say","text":"\\ud800"}']),
        (SAY, ['{"type":"say","text":"a"}', '{"type":"say","text":"b","text":"c"}']),
        (SAY, ['{"type":"say","text":"a","type":"end"}', '{"type":"say","text":"b","type":"end"}']),
        (SAY, ['{"type":"say","text":"a"}', '{"type":"say","text":"b"} {']),
        (NUMBERED, ['{"type":"say","seq":1,"text":"a"}', '{"type":"say","seq":01,"text":"b"}']),
        (NUMBERED, ['{"type":"say","seq":1,"text":"a"}', '{"type":"say","text":"b"}']),
        (NUMBERED, ['{"type":"say","seq":1,"text":"a"}', '{"type":"say","pad":1,"text":"b"}']),
        (NUMBERED, ['{"type":"say","text":"a","seq":1}', '{"type":"say","text":"b","seq":1,"pad":"x"}']),
        (NESTED, ['{"type":"delta","delta":{"type":"json","text":"a"}}'] * 2),
    ],
)
def test_an_event_that_differs_in_more_does_not(deltas: tuple[Delta, ...], lines: list[str]) -> None:
    assert run(deltas, *lines) == 0
