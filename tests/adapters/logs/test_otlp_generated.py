"""Generated runs as traces: whatever the order of their spans, the run is the same; broken ones are found."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from otlp_spans import Span, agent, line, model, tool

from turncheck.conformance.check.judge import check

_QUICK = settings(max_examples=60, deadline=None, database=None, derandomize=True)


@dataclass(frozen=True)
class Run:
    """A run: its spans in the order of time, and of each call its id and the tool's span, where it has one."""

    spans: list[Span]
    calls: dict[str, Span | None]


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """A run of some rounds, each with calls that run one after the other or at once, and of an answer."""
    spans: list[Span] = []
    calls: dict[str, Span | None] = {}
    clock, number, before = 0, 1, ""
    for _ in range(draw(st.integers(0, 3))):
        made = "".join(chr(ord("a") + len(calls) + index) for index in range(draw(st.integers(1, 3))))
        spans.append(model(number := number + 1, clock + 1, clock + 2, calls=made, answers=before))
        clock, at_once = clock + 2, draw(st.booleans())
        for index, call in enumerate(made):
            begin = clock + 1 if at_once else clock + 1 + 2 * index
            has_span = draw(st.integers(0, 4)) > 0
            spans.append(tool(number := number + 1, call, begin, begin + 1 + index)) if has_span else None
            calls[call] = spans[-1] if has_span else None
        clock, before = clock + 1 + 2 * len(made), made
    spans.append(model(number + 1, clock + 1, clock + 2, text="blue", answers=before))
    return Run([*spans, agent(0, clock + 3)], calls)


def findings(lines: Sequence[Any]) -> tuple[int, list[str]]:
    ran = check("log", BytesIO(b"".join(json.dumps(value).encode() + b"\n" for value in lines)))
    return ran.cycles, [finding.law for finding in ran.findings]


def batched(spans: Sequence[Span], data: st.DataObject) -> list[Any]:
    """The spans on lines of some each, in any order."""
    shuffled = data.draw(st.permutations(spans))
    cuts = sorted(data.draw(st.sets(st.integers(1, len(shuffled)))) | {0, len(shuffled)})
    return [line(*shuffled[begin:end]) for begin, end in pairwise(cuts)]


@_QUICK
@given(runs(), st.data())
def test_a_run_is_without_findings_in_any_order_of_its_spans(run: Run, data: st.DataObject) -> None:
    ended = sorted(run.spans, key=lambda span: int(span["endTimeUnixNano"]))
    assert findings([*map(line, ended)]) == (1, [])
    whole = line(*data.draw(st.permutations(run.spans)))
    assert findings([whole]) == (1, [])


@_QUICK
@given(runs(), st.data())
def test_traces_at_once_are_runs_of_their_own(run: Run, data: st.DataObject) -> None:
    spans = sorted(run.spans, key=lambda span: int(span["endTimeUnixNano"]))
    other = [{**span, "traceId": "t2"} for span in spans]
    first = data.draw(st.lists(st.booleans(), min_size=2 * len(spans), max_size=2 * len(spans)))
    queues, merged = [spans, other], list[Any]()
    for choice in first:
        queue = queues[choice] or queues[not choice]
        merged.append(line(queue[0]))
        queues[queues.index(queue)] = queue[1:]
    assert findings(merged) == (2, [])


@_QUICK
@given(runs().filter(lambda run: bool(run.calls)), st.data())
def test_a_call_that_loses_its_result_is_found(run: Run, data: st.DataObject) -> None:
    call = data.draw(st.sampled_from(sorted(run.calls)))
    spans = [span for span in run.spans if span is not run.calls[call]]
    lines = json.loads(json.dumps([line(span) for span in spans]))
    assert findings([_without_answer(value, call) for value in lines]) == (1, ["unanswered-call"])


def _without_answer(value: Any, call: str) -> Any:
    brought = json.dumps(json.dumps({"type": "tool_call_response", "id": call, "response": "alpha"}))[1:-1]
    text = json.dumps(value)
    for cut in (f", {brought}", f"{brought}, ", brought):
        text = text.replace(cut, "")
    return json.loads(text)


@_QUICK
@given(runs().filter(lambda run: bool(run.calls)), st.data())
def test_a_call_that_is_made_twice_is_found(run: Run, data: st.DataObject) -> None:
    call = data.draw(st.sampled_from(sorted(run.calls)))
    once = json.dumps(json.dumps({"type": "tool_call", "id": call, "name": "read"}))[1:-1]
    lines = [json.loads(json.dumps(line(span)).replace(once, f"{once}, {once}")) for span in run.spans]
    assert findings(lines)[1] == ["duplicate-call"]


@_QUICK
@given(runs(), st.data())
def test_a_trace_that_lost_its_agent_is_open_and_nothing_more(run: Run, data: st.DataObject) -> None:
    assert findings(batched(run.spans[:-1], data)) == (0, ["truncated"])


@_QUICK
@given(runs(), st.data())
def test_a_span_that_comes_too_late_never_makes_a_run_wrong(run: Run, data: st.DataObject) -> None:
    assert set(findings(batched(run.spans, data))[1]) <= {"truncated"}
