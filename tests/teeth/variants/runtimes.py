"""Runtimes that conform in different ways; each docstring says how, and names the clause that allows it."""

# mypy: disable-error-code="misc, call-arg"
import json
from itertools import count
from typing import Any, ClassVar

from msgspec.structs import replace
from runtimes.right import DELAY, Right, Undeclared

from turncheck.model.core.stimuli import ModelAwaited, Shown, Text, ToolCall

# ---- what is logged ----


class ExplicitNulls(Right):
    """Optional fields are present, and null (RC-D5: null counts as absent)."""

    OPTIONAL: ClassVar = {
        "user-message": ("delivery", "content"),
        "agent-output": ("responseId", "sessionId"),
        "tool-result": ("isError", "synthetic", "timestamp"),
        "run-stop": ("detail", "seq"),
    }

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        for name in self.OPTIONAL.get(kind, ()):
            self.events[-1].setdefault(name, None)


class UnknownFields(Right):
    """Every event has fields unknown to the log: a time and a number, both unique (RC, RC-D5)."""

    time = count()

    def log(self, kind, /, **fields):
        own = {"model": "m", "usage": {"inputTokens": 5}, "reason_": "error", "callid": 5, "parts": [None]}
        super().log(kind, **{"timestamp": next(self.time), "seq": str(next(self.time)), **own, **fields})


class NativeEvents(Right):
    """It logs native events before and after each event, at the reset, after a refusal (PROTOCOL: native)."""

    def reset(self, *options):
        super().reset(*options)
        self.events.append({"type": "native", "event": "session_start"})
        return self.step()

    def log(self, kind, /, **fields):
        like = {"type": "native", "kind": "tool-call", "callId": 5, "reason": "completed", "text": ["run-stop"]}
        self.events.append(like)
        super().log(kind, **fields)
        self.events.append({"type": "native", "event": {"type": kind}, "sessionId": None, "delivery": "steer"})

    def refuse(self, *args):
        super().refuse(*args)
        self.events.append({"type": "native", "event": "refused"})


class Faults(Right):
    """Each failure is also logged as a fault, even after the run's end (PROTOCOL: an observation)."""

    def stop(self, reason, detail=None):
        super().stop(reason, detail)
        if reason == "error":
            self.log("fault", message=detail)


class ContentParts(Right):
    """A message is logged as a list of parts, with an image among them (RC: exactly one of text and content)."""

    def log(self, kind, /, **fields):
        text = fields.pop("text", None) if kind == "user-message" else None
        if text is not None:
            fields["content"] = [{"type": "text", "text": text}, {"type": "image", "ref": "a.png"}, 5]
        super().log(kind, **fields)


class SaysTheDelivery(Right, busy="steer", whileActive="followUp"):
    """It logs the delivery that it chose for a message, if its policy for others differs (RC-3.2)."""

    def log(self, kind, /, **fields):
        if kind == "user-message" and self.active:
            fields["delivery"] = fields.get("delivery") or "steer"
        super().log(kind, **fields)


class SaysTheSession(Right):
    """Every event names the session (RC: each may)."""

    def log(self, kind, /, **fields):
        super().log(kind, sessionId="main", **fields)


class InfersEnds(Right):
    """The adapter infers the ends of runs, which the runtime does not report (PROTOCOL: source adapter)."""

    def __init__(self, *, without=("terminal-events",), **given):
        super().__init__(without=without, **given)

    def log(self, kind, /, **fields):
        super().log(kind, **fields | ({"source": "adapter"} if kind == "run-stop" else {}))


class TellsAnEndByEveryChannel(Right):
    """An end is an event, an exception where it is no completion, and a stream that closes: one end (X-3)."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if kind == "run-stop":
            if fields["reason"] != "completed":
                super().log("fault", message="it will be raised")
                super().log(kind, **fields, via="exception")
            super().log(kind, reason="completed", via="close", source="adapter")


class RaisesBeforeItTells(Right):
    """A run that fails raises first, and its event comes after (X-3)."""

    def log(self, kind, /, **fields):
        if kind == "run-stop" and fields["reason"] == "error":
            super().log(kind, **fields, via="exception")
        super().log(kind, **fields)


class StopsHaveDetails(Right):
    """Every stop has a detail, whatever its reason, which contains control words (RC: detail)."""

    def stop(self, reason, detail=None):
        super().stop(reason, detail or "end_turn, not an error: completed")


# ---- ids ----


class Renamed(Right):
    """It renames its own ids, those of requests and executions."""

    def other(self, name):
        raise NotImplementedError

    def awaiting(self):
        for one in super().awaiting():
            if isinstance(one, ModelAwaited):
                yield replace(one, request_id=self.other(one.request_id))
            elif hasattr(one, "execution"):
                yield replace(one, execution=self.other(one.execution))
            else:
                yield one

    def take(self, stimulus):
        names = {self.other(name): name for name in (*self.late, self.request, *self.executions()) if name}
        for field in ("request_id", "execution"):
            if getattr(stimulus, field, None) is not None:
                stimulus = replace(stimulus, **{field: names.get(getattr(stimulus, field), "gone")})
        super().take(stimulus)

    def executions(self):
        return [one.execution for one in (*self.cancelled, *self.running)]

    def log(self, kind, /, **fields):
        for field in ("requestId", "responseId"):
            if fields.get(field) is not None:
                fields[field] = self.other(fields[field])
        super().log(kind, **fields)


class LongIds(Renamed):
    """Its ids have four thousand characters (X-8)."""

    def other(self, name):
        return f"{name}-" + 1000 * "long"


class ForeignIds(Renamed):
    """Its ids are in other scripts, with blanks, quotes and line ends (X-8)."""

    def other(self, name):
        return f"№ {name}\n\"'\\\u2028\u200d😀"


class ControlIds(Renamed):
    """Its ids are words of the log (X-8)."""

    WORDS = ("run-stop", "null", "0", "tool-call", "constructor", "__proto__", "completed", "{}", "-1", "None")

    def other(self, name):
        number = int(name[1:])
        return self.WORDS[number] if number < len(self.WORDS) else f"run-stop {number}"


class Uuids(Renamed):
    """Its ids are hashes: neither their order nor their length has a meaning (X-8)."""

    def other(self, name):
        return f"{hash_of(name):032x}"


def hash_of(name):
    """Return a hash that is the same in every process."""
    return int.from_bytes(name.encode(), "big") * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128


class FirstIdIsEmpty(Renamed):
    """The first request's and execution's id is the empty string (RC-D5: ids are strings)."""

    def other(self, name):
        return "" if name[1:] == "1" else name


class IdsBeginAnewInEachRun(Right):
    """Requests and executions are numbered from one in each run (RC-D3: a round is within one cycle)."""

    def start(self, root):
        self.asked = self.executed = 0
        super().start(root)


# ---- what the model is shown ----


class ShowsTextsAlone(Right):
    """Messages that the model is shown have texts and no ids: texts are unique (PROTOCOL: ids or text)."""

    def shown(self):
        return [replace(one, ids=()) for one in super().shown()]


class ShowsIdsAlone(Right):
    """Messages that the model is shown have ids and no texts (PROTOCOL: ids or text)."""

    def shown(self):
        return [replace(one, text=None) if one.role == "user" else one for one in super().shown()]


class JoinsMessages(Right):
    """Adjacent messages are shown as one, with the ids of all (PROTOCOL: ids of the messages shown)."""

    def shown(self):
        found: list[Shown] = []
        for one in super().shown():
            if found and one.role == found[-1].role == "user":
                last = found.pop()
                one = replace(last, text=f"{last.text}\n\n{one.text}", ids=(*last.ids, *one.ids))  # noqa: PLW2901
            found.append(one)
        return found


class JoinsTexts(Right):
    """Adjacent texts of the model are shown as one (PROTOCOL: whatever the framework's providers make)."""

    def shown(self):
        found: list[Shown] = []
        for one in super().shown():
            if found and one.role == found[-1].role == "assistant" and one.call_id is found[-1].call_id is None:
                one = replace(one, text=f"{found.pop().text}{one.text}")  # noqa: PLW2901
            found.append(one)
        return found


class SystemEntries(Right, system="You are an agent."):
    """A system prompt comes first, and a reminder after each result (PROTOCOL: system is text of no other party)."""

    def prompt(self):
        return ["You are an agent. [cancelled]"]

    def shown(self):
        found: list[Shown] = []
        for one in super().shown():
            found.append(one)
            if one.role == "tool":
                found.append(Shown(role="system", text="Remember: run-stop"))
        return found


class PromptThatChanges(Right, system=["This is", "request"]):
    """The system prompt counts the requests: it is nobody's message, and may change (PROTOCOL: system)."""

    def prompt(self):
        return [f"This is request {self.asked}."]


class ShowsResultsInCallOrder(Right, tools="parallel"):
    """Results are logged as they come, and shown to the model in the order of the calls (X-6, BED-004d)."""

    def shown(self):
        calls = [one.call_id for one in self.history if one.role == "assistant" and one.call_id is not None]
        found: list[Shown] = []
        for one in super().shown():
            place = len(found)
            while one.role == "tool" and place and found[place - 1].role == "tool":
                if calls.index(found[place - 1].call_id) < calls.index(one.call_id):
                    break
                place -= 1
            found.insert(place, one)
        return found


class ForgetsAbortedResponses(Right):
    """The items of an aborted response are logged, and not shown again (BED-005c allows dropping them)."""

    def interrupt(self):
        if self.amid:
            kept = [one for one in self.history[self.begun :] if one.role == "user"]
            self.history[self.begun :] = kept
            self.forgotten = frozenset(self.open)
        super().interrupt()

    def abort(self):
        self.amid = self.request is not None
        super().abort()

    forgotten: frozenset[str] = frozenset()

    def result(self, name, output, **flags):
        super().result(name, output, **flags)
        if name in self.forgotten:
            self.history.pop()
            self.forgotten = self.forgotten - {name}


class Compacts(Right, machine="engine", maxHistoryMessages=6):
    """A history of more than six messages is compacted when a run begins, cut before a user's message (RS-3.1)."""

    bound_of_history = 6
    instead: ClassVar[tuple[Shown, ...]] = (Shown(role="assistant", text="[summary] They spoke of colours."),)

    def read(self, message):
        super().read(message)
        cuts = [place for place, one in enumerate(self.history) if place and one.role == "user"]
        if not self.active and len(self.history) > self.bound_of_history and cuts:
            self.history[: self.shortened(cuts)] = self.instead

    def shortened(self, places):
        return places[-1]


class CompactsLittle(Compacts, machine="engine", maxHistoryMessages=6):
    """It compacts as little as permitted (RS-3.1)."""

    def shortened(self, places):
        return places[0]


class DropsOldHistory(Compacts, machine="engine", maxHistoryMessages=6):
    """Without a compactor, old messages are dropped, results with their calls (RS-3.2)."""

    instead = ()


# ---- messages ----


class OneSteerARequest(Right, steerHandover="one"):
    """Each of several steers waits for its own request (RUNTIMES: pi; RC-4.2)."""


class DeclaresNoHandover(Undeclared):
    """It does not declare how many messages it hands over: neither value is its default (RC-4.2, RC-D7)."""


class NowOneSteerNowAll(Undeclared):
    """It declares nothing, and hands over one steer after tools, and all where its run would end (RC-4.2)."""

    def handover(self, policy):
        return super().handover(policy) if policy != "steerHandover" else "one" if self.called else "all"


class TakesAllFollowUpsAtOnce(Right, followUpHandover="all"):
    """All waiting messages are taken in one input; the adapter makes the boundaries explicit (RC-D7)."""

    def log(self, kind, /, **fields):
        if kind == "run-stop" and fields["reason"] == "completed" and self.queue:
            fields["source"] = "adapter"
        super().log(kind, **fields)


class RefusesIdleAborts(Right):
    """An abort while idle is refused, and has no effect (BED-D3)."""

    def abort(self):
        if not self.active:
            self.refuse("rejected", "nothing to abort")
        super().abort()


class LogsIdleAborts(Right):
    """An abort while idle is told in a native event, and awaits nothing (BED-D3)."""

    def abort(self):
        if not self.active:
            self.log("native", event="nothing to abort")
        super().abort()


class CancelsCooperatively(Right, abortEnds="when-released"):
    """An abort sets a flag that is read between steps: a running call goes on, and its result counts (BED-005b)."""

    def __init__(self, *, without=("deaf",), **given):
        super().__init__(without=without, **given)

    def abort(self):
        if self.active and not self.aborting:  # type: ignore[has-type]
            self.aborting = True
            if self.request is None and not self.running:  # type: ignore[has-type]
                self.timer = None
                self.stop("interrupted")

    def respond(self):
        if not self.aborting:
            super().respond()
            return
        for item in self.said:  # type: ignore[has-type]
            self.say(item)
        self.said, self.request = [], None
        self.stop("interrupted")

    def execute(self):
        if not self.aborting:
            super().execute()
        elif not self.running:
            self.stop("interrupted")

    def fail(self, failure):
        if self.aborting:
            self.said = []
            self.stop(self.failed_after_the_flag, f"the model failed: {failure}")
        else:
            super().fail(failure)

    failed_after_the_flag = "interrupted"


class FailsBeforeTheFlagIsSeen(CancelsCooperatively, abortEnds="when-released"):
    """After an abort the model fails before the flag is read: the run ends as error (BED-006a, BED-005b)."""

    failed_after_the_flag = "error"


class NativeEndsDiffer(Right):
    """Its native events of a run depend on how the previous one ended (PROTOCOL: native)."""

    def reset(self, *options):
        self.ended = None
        return super().reset(*options)

    def stop(self, reason, detail=None):
        self.ended = reason
        super().stop(reason, detail)

    def start(self, root):
        self.events.append({"type": "native", "after": self.ended, "reason": self.ended})
        super().start(root)


class RequestsStandElsewhereForSlowConsumers(Right):
    """The adapter logs a request when it learns of it; a slow consumer's events come after it (X-7)."""

    def log(self, kind, /, **fields):
        super().log(kind, **fields)
        if self.options.observer == "slow":
            self.events.sort(key=lambda event: event["type"] != "model-request")


# ---- the model ----


class RetriesStreams(Right, retries=2):
    """A broken stream is retried, like a failure before the stream (BED-006a)."""

    def fail(self, failure):
        super().fail("retryable" if failure == "stream" else failure)


class BacksOff(Right, retries=3):
    """Each retry waits twice as long as the previous one (BED-D1)."""

    def retry(self):
        super().retry()
        if self.timer is not None:  # type: ignore[has-type]
            self.timer = DELAY * 2 ** (self.attempts - 1)


class RetriesAtOnce(Right, retries=3):
    """A retry does not wait (BED-D1: the cap of the delay is declared)."""

    def retry(self):
        self.ask()


class RetriesPerRun(Right, retries=2):
    """Its retries are counted over the whole run (BED-006a: a bounded number of times)."""

    def start(self, root):
        self.used = 0
        super().start(root)

    def retry(self):
        self.used += 1
        super().retry()

    def retries(self):
        return self.attempts + super().retries() - self.used


class AsksAgainAfterNothing(Right):
    """A response without a reply is asked for again, once (TM-D3), and the model is shown nothing new."""

    def ask(self):
        self.spoke = False
        super().ask()

    def start(self, root):
        self.asked_again = False
        super().start(root)

    def output(self, item):
        self.spoke = self.spoke or isinstance(item, Text | ToolCall)
        super().output(item)

    def respond(self):
        if self.spoke or self.steers or self.asked_again:
            super().respond()
        else:
            self.asked_again, self.request = True, None
            self.ask()


class Nudges(Right):
    """Where a run has called tools, its last text is asked to be checked, by a text of the runtime's own."""

    def start(self, root):
        self.nudged = False
        super().start(root)

    def respond(self):
        if self.open or self.steers or self.nudged or not self.called or self.profile.machine == "conversation":
            super().respond()
        else:
            self.nudged, self.request, self.attempts = True, None, 0
            self.history.append(Shown(role="system", text="Check your answer."))
            self.ask()


class NamesResponsesItself(Right):
    """Its responses have names of their own, and not those of their requests (RC-D3 groups by any name)."""

    def log_output(self, **fields):
        self.log("agent-output", responseId=f"msg-{self.asked}", **fields)


class EmptyResponseFails(Right):
    """A response without a reply fails the run (TM-D3: report_missing)."""

    def reset(self, *options):
        self.spoke = False
        return super().reset(*options)

    def ask(self):
        self.spoke = False
        super().ask()

    def output(self, item):
        self.spoke = self.spoke or isinstance(item, Text | ToolCall)
        super().output(item)

    def respond(self):
        if self.spoke or self.steers:
            super().respond()
        else:
            self.stop("error", "report_missing")


class LastRequestOffersNoTools(Right):
    """The last request within the bound is for a summary: it offers no tools (PROTOCOL: limits)."""

    def awaiting(self):
        for one in super().awaiting():
            last = isinstance(one, ModelAwaited) and one.request_id == self.request and self.rounds == self.bound()
            yield replace(one, tools=False) if last else one


# ---- tools ----


class ResultsInCallOrder(Right, tools="parallel"):
    """With parallel tools, an early result is logged after those of the calls before it (X-7: order kept)."""

    held: ClassVar[dict[str, Any]] = {}

    def start(self, root):
        self.held = {}
        super().start(root)

    def result(self, name, output, **flags):
        self.held[name] = (output, flags)
        while self.open and (first := next(iter(self.open))) in self.held:
            known, its_flags = self.held.pop(first)
            super().result(first, known, **its_flags)

    def skip(self, name, why):
        if name in self.held:
            known, its_flags = self.held.pop(name)
            super().result(name, known, **its_flags)
        else:
            super().skip(name, why)


class WrapsResults(Right):
    """A result is the runtime's own structure, which contains the tool's output (RC-D5: output is any JSON)."""

    def result(self, name, output, **flags):
        super().result(name, {"content": [{"type": "text", "text": output}], "details": None}, **flags)


class StructuredFailures(Right):
    """A failed tool's result has a class and a message (TM-4.2)."""

    def result(self, name, output, **flags):
        if flags.get("isError"):
            output = {"error": "tool_runtime_error", "message": output}
        super().result(name, output, **flags)


class FailuresInWords(Right):
    """A failed tool's result has the failure in its text, and no flag (BED-004e: a result like others)."""

    def tool(self, stimulus, output, **flags):
        super().tool(stimulus, f"Error: {output}" if flags else output)


class MalformedCallsAreNoCalls(Right):
    """A call with unreadable arguments is shown to the model as a format error, and not logged as a call (TM-4.1)."""

    def call(self, call):
        try:
            broken = isinstance(call.arguments, str) and not isinstance(json.loads(call.arguments), dict)
        except ValueError:
            broken = True
        if not broken:
            super().call(call)
            return
        self.log("native", event="format error")
        self.history.append(Shown(role="system", text="Your call could not be read."))
        self.again_ = True

    def ask(self):
        self.again_ = False
        super().ask()

    def respond(self):
        if self.again_ and not self.open and self.profile.machine != "conversation":
            self.request, self.attempts = None, 0
            self.ask()
        else:
            super().respond()


class ExecutesAsItStreams(Right, machine="engine"):
    """A call runs as soon as it arrives and no other runs, before the response is whole (RS-4.3)."""

    def call(self, call):
        before = set(self.open)
        super().call(call)
        self.came = True
        self.pending.extend(one for name, one in self.open.items() if name not in before)
        self.begin_some()

    def ask(self):
        self.came = False
        super().ask()

    def begin_some(self):
        while self.pending and not self.running:
            self.begin(self.pending.popleft())

    def execute(self):
        if self.request is not None:
            self.begin_some()
        else:
            super().execute()

    def respond(self):
        self.request, self.attempts = None, 0
        if self.open:
            self.execute()
        elif self.came or self.steers:
            self.ask()
        else:
            self.stop("completed")

    def fail(self, failure):
        self.running.clear()
        super().fail(failure)


ONE_WAY = {
    *("SaysTheDelivery", "ExecutesAsItStreams", "ResultsInCallOrder", "ShowsResultsInCallOrder"),
    *("CancelsCooperatively", "FailsBeforeTheFlagIsSeen"),
}
"""The variants that exist under their own policies only."""
