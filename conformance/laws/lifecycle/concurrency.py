"""Laws on runs of one session side by side: they judge a word whole, and tell its runs apart by ``runId``."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from turncheck.model.core.events import RunStop, ToolResult, UserMessage
from turncheck.model.core.stimuli import ModelFail, ModelStop, Text, ToolCall, User

from ...observe.parts.overlapping import Owners, names_a_run, overlaps, run_of
from ...observe.runtime_trace import RuntimeTrace
from ..law import WITNESS, Finding, Judgement
from ..runtime.subject import run_law

_NEEDS: Final = ("policy busy=concurrent",)
_concurrent_law: Final = partial(run_law, overlapping="whole", since="0.2")


@_concurrent_law("L-P1", evidence="a message while a run is open", needs=_NEEDS)
def runs_begin_at_once(trace: RuntimeTrace) -> Judgement:
    """A message that comes while a run is open is accepted, and begins a run beside it at once."""
    for step in trace.steps:
        if not isinstance(step.stimulus, User) or step.stimulus.delivery is not None or not step.was_active:
            continue
        yield WITNESS
        if not step.took_place:
            yield Finding(step.first, "a message while a run is open is refused", "accepted", step.answer.refused)
        elif not any(step.first <= one.at < step.end for one in trace.requests):
            yield Finding(step.first, "a message while a run is open begins no run beside it", "a request", "nothing")


@_concurrent_law("L-P2", evidence="an event where runs overlap", needs=_NEEDS)
def events_name_their_run(trace: RuntimeTrace) -> Judgement:
    """Where runs overlap, each event names its run, and an item or a result the run that asked for it."""
    if not overlaps(trace):
        return
    owners, said, begun = Owners(trace), _said(trace), set[str]()
    for at, (line, event) in enumerate(zip(trace.log, trace.events, strict=True)):
        if not names_a_run(line):
            continue
        yield WITNESS
        run = run_of(line)
        if run is None:
            yield Finding(at, "an event does not name its run", "runId", None)
            continue
        if isinstance(event, UserMessage) and event.delivery is None:
            if run in begun:
                yield Finding(at, "a message begins no run of its own", "a runId that is new", run)
            begun.add(run)
        asked = said.get(str(line.get("callId") or line.get("text"))) if line.get("type") == "agent-output" else None
        if isinstance(event, ToolResult):
            asked = owners.of_call(event.call_id, at)
        if asked is not None and asked != run:
            what = "a result" if isinstance(event, ToolResult) else "an item of the model"
            yield Finding(at, f"{what} names another run than the one that asked for it", asked, run)


@_concurrent_law("L-P3", evidence="a request while another run is open", needs=(*_NEEDS, "model-input"))
def runs_kept_apart(trace: RuntimeTrace) -> Judgement:
    """A request shows its own run's message once and the results of its calls, and nothing of another open run."""
    if not overlaps(trace):
        return
    runs = _runs(trace)
    for request in trace.requests:
        own = runs.get(run_of(trace.log[request.at]) or "")
        if own is None or request.input is None:
            continue
        others = [one for one in runs.values() if one is not own and one.open_at(request.at)]
        if not others:
            continue
        yield WITNESS
        shown = request.input
        if (times := _times(shown, "user", own.message)) != 1:
            yield Finding(request.at, "a request does not show its own run's message once", 1, times)
        left = [name for name, at in own.results.items() if at < request.at and not own.failed]
        left = [name for name in left if _calls(shown, "tool").count(name) != 1]
        if left:
            yield Finding(request.at, "a request does not show the results of its own run once", left, [])
        mixed = [text for one in others for text in one.shown_in(shown)]
        if mixed:
            yield Finding(request.at, "a request shows what belongs to another run that is still open", [], mixed)


@_concurrent_law("L-P4", evidence="a run after others that overlapped", needs=(*_NEEDS, "model-input"))
def no_update_lost(trace: RuntimeTrace) -> Judgement:
    """After runs that overlapped, the next run's first request shows the messages and answers of each, once.

    In which order the runs stand is the runtime's choice; a message stands before its own answer. Only runs that
    completed are judged: what stays of the others is what the policies on a history say. A history that
    ``maxHistoryMessages`` bounds may lose what is old.
    """
    if not overlaps(trace) or "maxHistoryMessages" in trace.policies:
        return
    runs = _runs(trace)
    beside = [one for one in runs.values() if any(one is not other and one.beside(other) for other in runs.values())]
    seen = set[str]()
    for request in trace.requests:
        name = run_of(trace.log[request.at]) or ""
        if name in seen or name not in runs or request.input is None:
            continue
        seen.add(name)
        for one in beside:
            if not one.completed or one.end is None or one.end > runs[name].root:
                continue
            yield WITNESS
            wrong = [*one.not_once(request.input)]
            if wrong:
                said = "after runs that overlapped, the next request does not show each message and answer once"
                yield Finding(request.at, said, "each once", wrong)
            elif not one.in_order(request.input):
                yield Finding(request.at, "an answer stands before the message that it answers", one.message, one.texts)


@dataclass
class _Run:
    """The parts of a run: its message, at ``root``, what its model said in whole responses, and its results.

    ``begun`` has those of the response under way too, and whether each is a call; ``results`` have positions.
    """

    root: int
    message: str
    end: int | None = None
    completed: bool = False
    failed: bool = False
    texts: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])
    begun: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    results: dict[str, int] = field(default_factory=dict[str, int])

    def open_at(self, at: int) -> bool:
        return self.root < at and (self.end is None or at < self.end)

    def beside(self, other: "_Run") -> bool:
        return self.open_at(other.root) or other.open_at(self.root)

    def shown_in(self, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield what of this run *entries* show: its message, texts and calls."""
        if _times(entries, "user", self.message):
            yield self.message
        calls = {*_calls(entries, "assistant"), *_calls(entries, "tool")}
        for what, is_call in self.begun:
            if what in calls if is_call else _times(entries, "assistant", what):
                yield what

    def not_once(self, entries: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        """Yield what *entries* do not show once: the message, the answers, the calls, the results of calls."""
        if _times(entries, "user", self.message) != 1:
            yield self.message
        yield from (text for text in self.texts if _times(entries, "assistant", text) != 1)
        yield from (name for name in self.calls if _calls(entries, "assistant").count(name) != 1)
        yield from (name for name in self.results if _calls(entries, "tool").count(name) != 1)

    def in_order(self, entries: Sequence[Mapping[str, Any]]) -> bool:
        """Return whether the message comes before the texts."""
        places = [
            place
            for text, role in [(self.message, "user"), *((text, "assistant") for text in self.texts)]
            for place, entry in enumerate(entries)
            if entry.get("role") == role and text in str(entry.get("text"))
        ]
        return not places or places[0] == min(places)


def _runs(trace: RuntimeTrace) -> dict[str, _Run]:
    """The runs that a message began, by the name that its event gives them."""
    found: dict[str, _Run] = {}
    owners = Owners(trace)
    for at, event in enumerate(trace.events):
        run = run_of(trace.log[at])
        if run is None:
            continue
        if isinstance(event, UserMessage) and run not in found and event.text is not None:
            found[run] = _Run(at, event.text)
        elif isinstance(event, RunStop) and run in found and found[run].end is None:
            found[run].end, found[run].completed = at, event.reason == "completed"
        elif isinstance(event, ToolResult) and run in found and not event.synthetic:
            found[run].results.setdefault(event.call_id, at)
    for response in trace.responses:
        own = found.get(owners.of_request(response.request, response.asked + 1) or "")
        if own is None:
            continue
        end = None if response.end is None else response.end.stimulus
        own.failed = own.failed or isinstance(end, ModelFail)
        for _, stimulus in response.items:
            item = stimulus.item
            if isinstance(item, Text | ToolCall):
                what, is_call = (item.call_id, True) if isinstance(item, ToolCall) else (item.text, False)
                own.begun.append((what, is_call))
                if isinstance(end, ModelStop):
                    (own.calls if is_call else own.texts).append(what)
    return found


def _said(trace: RuntimeTrace) -> dict[str, str]:
    """Each text and call that the model was told to say → the run whose request it answers."""
    owners, found = Owners(trace), dict[str, str]()
    for response in trace.responses:
        run = owners.of_request(response.request, response.asked + 1)
        for _, stimulus in response.items if run is not None else ():
            item = stimulus.item
            found[item.call_id if isinstance(item, ToolCall) else item.text] = str(run)
    return found


def _times(entries: Sequence[Mapping[str, Any]], role: str, text: str) -> int:
    """Count how often a text stands in the entries of a role, some of which may be joined."""
    return sum(str(entry.get("text")).count(text) for entry in entries if entry.get("role") == role)


def _calls(entries: Sequence[Mapping[str, Any]], role: str) -> list[str]:
    """The ids of the calls (``assistant``) or results (``tool``) that are shown."""
    return [str(entry["callId"]) for entry in entries if entry.get("role") == role and entry.get("callId") is not None]
