"""A runtime that conforms: in this process, synchronous, each policy a parameter; a double overrides one method.

It is what the laws on runtimes must not alarm at. Quiet is when a method returns: nothing here waits.
"""

import json
from collections import deque
from contextlib import suppress
from itertools import groupby

from msgspec import convert
from msgspec.json import encode
from msgspec.structs import replace

from turncheck.conformance.laws.runtime.contract import needs
from turncheck.model.core.history import HANDOVERS
from turncheck.model.core.provider_limits import Backoff
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    ResetOptions,
    Shown,
    Text,
    TimerAwaited,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from .target import Target

DELAY = 1.0
"""Seconds before a retry where no backoff is declared, under a manual clock; the automatic one jumps over them."""


class Right(Target):
    """One conversation: what the model is shown, what waits, and the run that is open (or none).

    ``machine="conversation"``: the items of a response are logged when it is complete, and an aborted one logs none.
    ``repeated="kept"``: a call id that comes twice in a run is logged as sent, and executed once; else it is made
    unique. What is shown follows the policies on a history: ``settle`` and ``arranged``.
    """

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        self.options = options
        self.policies = self.profile.policies | options.policies
        self.events, self.refused = [], None
        self.history = []
        self.queue, self.steers, self.joined = deque[User](), deque[User](), list[User]()
        self.asked = self.executed = 0
        self.cancelled, self.late = [], []  # deaf tools and requests of runs that were aborted
        self.active, self.request, self.running, self.timer = False, None, [], None
        return self.step()

    def take(self, stimulus):
        need = needs(stimulus)
        if need is not None and not self.profile.can(need):
            self.refuse("unsupported", need)
            return
        match stimulus:
            case User():
                self.user(stimulus)
            case Abort():
                self.abort()
            case ModelOutput() | ModelStop() | ModelFail():
                self.model(stimulus)
            case ToolReturn():
                self.tool(stimulus, stimulus.output)
            case ToolFail():
                self.tool(stimulus, stimulus.message, isError=True)
            case Advance():
                self.advance(stimulus.seconds)
            case Together():
                for one in stimulus.stimuli:
                    self.take(one)

    def awaiting(self):
        yield from (ModelAwaited(request_id=name) for name in self.late)
        yield from self.cancelled
        if self.request is not None:
            yield ModelAwaited(request_id=self.request, input=self.input)
        yield from self.running
        if self.timer is not None:
            yield TimerAwaited(due=self.timer)

    # ---- messages ----

    def user(self, message):
        delivery = message.delivery or self.policies["busy"]
        if self.active and delivery == "reject":
            self.refuse("rejected", "the agent is busy; it can be aborted")
            return
        self.log("user-message", id=message.id, text=message.text, delivery=message.delivery)
        if not self.active:
            self.start(message)
        elif delivery == "steer":
            self.keep_steer(message)
        else:
            self.enqueue(message)

    def keep_steer(self, message):
        self.steers.append(message)

    def enqueue(self, message):
        self.queue.append(message)

    def next_waiting(self):
        return self.queue.popleft()

    def read(self, message):
        self.history.append(Shown(role="user", text=message.text, ids=(message.id,)))

    def read_steers(self):
        while self.steers:
            self.read(self.steers.popleft())

    def handover(self, policy):
        return self.policies.get(policy)

    def hand_over_steers(self):
        if self.steers and self.handover("steerHandover") == "one":
            self.read(self.steers.popleft())
        else:
            self.read_steers()

    def hand_over_queue(self):
        """Begin a run for what waits, or for all of it: the adapter tells the follow-ups apart."""
        while self.handover("followUpHandover") == "all" and len(self.queue) > 1:
            self.read(self.next_waiting())
            self.log("run-stop", reason="completed", source="adapter")
        self.start(self.next_waiting())

    # ---- the run ----

    def start(self, root):
        for message in (*self.joined, root):
            self.read(message)
        self.joined = []
        self.active, self.aborting, self.amid, self.cut = True, False, False, False
        self.rounds = self.attempts = 0
        self.said, self.called = [], []
        self.open, self.pending = (
            {},
            deque[ToolCall](),
        )  # calls without a result, and those of them that are not started
        self.ask()

    def ask(self):
        if self.rounds == self.bound():
            self.stop("error", "the bound of rounds is reached")
            return
        self.hand_over_steers()
        self.rounds += 1
        self.asked += 1
        self.begun = len(self.history)  # where the response will begin
        self.request, self.input = f"r{self.asked}", tuple(self.shown())
        self.log("model-request", requestId=self.request, input=json.loads(encode(self.input)))

    def bound(self):
        return self.options.limits.get("maxRounds", self.policies.get("maxRounds"))

    def shown(self):
        """What the model is shown."""
        own = [Shown(role="system", text=text) for text in self.prompt()]
        return own + arranged(self.history, self.policies)

    def prompt(self):
        """The texts of its own that stand before all others."""
        texts = self.policies.get("system", [])
        return [texts] if isinstance(texts, str) else texts

    def stop(self, reason, detail=None):
        """End the run: each open call gets a result, and the steers that it did not come to are kept."""
        self.answer_open(detail or reason)
        kept = self.policies.get("abortedResponse")
        if self.aborting and self.amid:
            self.settle("drop" if kept == "drop-with-calls" else kept)
        if self.aborting and self.cut and kept == "drop-with-calls":
            del self.history[self.begun :]
        self.leave_steers()
        self.active, self.request = False, None
        self.log("run-stop", reason=reason, detail=detail)
        self.after(self.fate(reason))

    def leave_steers(self):
        """Steers that no request has shown are kept in their place, or for the next run, or not at all."""
        unread = self.policies.get("unread", "keep")
        if unread == "drop":
            self.steers.clear()
        if unread == "keep":
            self.read_steers()

    def settle(self, kept):
        """A response was cut: keep all of it, its texts, or nothing."""
        if kept == "drop":
            del self.history[self.begun :]
        if kept == "texts":
            self.history[self.begun :] = [one for one in self.history[self.begun :] if one.call_id is None]

    def fate(self, reason):
        """What becomes of the queue."""
        name = {"interrupted": "queueAfterInterrupted", "error": "queueAfterError"}.get(reason)
        return self.policies[name] if name else "promote"

    def after(self, fate):
        if fate == "drop":
            self.queue.clear()
        if fate == "join":
            self.joined += self.queue
            self.queue.clear()
        if fate == "promote" and self.queue:
            self.hand_over_queue()

    def abort(self):
        if not self.active or self.aborting:
            return
        self.aborting, self.timer, self.amid = True, None, self.request is not None
        self.cut = self.request is None and bool(self.open)
        if self.options.deaf_model and self.request is not None:
            self.late.append(self.request)
        if self.options.deaf_tools:
            self.cancelled += [replace(tool, cancelled=True) for tool in self.running]
        self.request = None
        self.running.clear()
        self.pending.clear()
        self.interrupt()

    def interrupt(self):
        if self.policies["abortEnds"] == "at-once" or not (self.late or self.cancelled):
            self.stop("interrupted")

    # ---- the model ----

    def model(self, stimulus):
        name = stimulus.request_id or [*self.late, self.request][0]
        if name in self.late:
            if not isinstance(stimulus, ModelOutput):
                self.late.remove(name)
                self.release()
        elif name is None or name != self.request:
            self.refuse("not-awaited", "no request waits")
        elif isinstance(stimulus, ModelOutput):
            self.output(stimulus.item)
        elif isinstance(stimulus, ModelStop):
            self.respond()
        else:
            self.fail(stimulus.failure)

    def output(self, item):
        if self.profile.machine == "conversation":
            self.said.append(item)
        else:
            self.say(item)

    def say(self, item):
        """Log an item of the model, and keep it in the history."""
        match item:
            case Text():
                self.log_output(kind="assistant", text=item.text)
                self.history.append(Shown(role="assistant", text=item.text))
            case Reasoning():
                self.log_output(kind="reasoning", text=item.text)
            case ToolCall():
                self.call(item)

    def call(self, call):
        repeated = call.call_id in self.called
        if repeated and self.policies.get("repeated") != "kept":
            call = replace(call, call_id=f"{call.call_id}~{len(self.called)}")
        self.log_output(kind="tool-call", callId=call.call_id, tool=call.tool, arguments=call.arguments)
        if call.call_id not in self.called:
            self.called.append(call.call_id)
            self.open[call.call_id] = call
            self.history.append(Shown(role="assistant", call_id=call.call_id, tool=call.tool, arguments=call.arguments))

    def respond(self):
        """The response is whole: its calls are executed; without any the run goes on for its steers, or is over."""
        for item in self.said:
            self.say(item)
        self.said, self.request, self.attempts = [], None, 0
        self.pending.extend(self.open.values())
        if self.open:
            self.execute()
        elif self.steers:
            self.ask()
        else:
            self.stop("completed")

    def fail(self, failure):
        self.said, self.request = [], None
        self.answer_open("the model failed")
        self.settle(self.policies.get("failedResponse"))
        again = {"retryable", "stream"} if self.profile.machine == "conversation" else {"retryable"}  # BED-006a
        if failure in again and self.attempts < self.retries():
            self.attempts += 1
            self.retry()
        else:
            self.stop("error", f"the model failed: {failure}")

    def retries(self):
        return self.policies["retries"]

    def retry(self):
        if self.options.clock == "manual":
            self.timer = self.delay(self.attempts)
        else:
            self.ask()

    def delay(self, attempt):
        declared = self.policies.get("backoff")
        return DELAY if declared is None else convert(declared, Backoff).delay(attempt)

    def advance(self, seconds):
        if self.timer is not None:
            self.timer -= seconds
            if self.timer <= 0:
                self.timer = None
                self.ask()

    # ---- the tools ----

    def execute(self):
        """Start the calls that may start now; when all have a result, the model gets them."""
        while self.pending and (self.policies["tools"] == "parallel" or not self.running):
            self.begin(self.pending.popleft())
        if not self.open:
            self.ask()

    def begin(self, call):
        arguments = call.arguments
        if isinstance(arguments, str):
            with suppress(ValueError):
                arguments = json.loads(arguments)
        if isinstance(arguments, dict):
            self.executed += 1
            self.running.append(
                ToolAwaited(call_id=call.call_id, execution=f"e{self.executed}", tool=call.tool, arguments=arguments)
            )
        else:
            self.result(call.call_id, "the arguments are no JSON object", isError=True)

    def tool(self, stimulus, output, **flags):
        runs = [one for one in (*self.cancelled, *self.running) if one.call_id == stimulus.call_id]
        tool = next((one for one in runs if stimulus.execution in {None, one.execution}), None)
        if tool is None:
            self.refuse("not-awaited", "no such tool runs")
        elif tool.cancelled:
            self.cancelled.remove(tool)
            self.release()
        else:
            self.running.remove(tool)
            self.result(tool.call_id, output, **flags)
            self.land_steers()
            self.execute()

    def land_steers(self):
        """Where steers land after a call, the calls that are not started give way to them."""
        if self.steers and self.policies["steerLands"] == "after-call":
            while self.pending:
                self.skip(self.pending.popleft().call_id, "a steer came first")

    def release(self):
        """A deaf model or tool ended; an aborted run that waited for the last of them is over."""
        if self.active and self.aborting and not (self.late or self.cancelled):
            self.stop("interrupted")

    def answer_open(self, why):
        for name in list(self.open):
            self.skip(name, why)
        self.pending.clear()

    def skip(self, name, why):
        self.result(name, f"not executed: {why}", isError=True, synthetic=True)

    def result(self, name, output, **flags):
        del self.open[name]
        self.log("tool-result", callId=name, output=output, **flags)
        text = output if isinstance(output, str) else json.dumps(output)
        self.history.append(Shown(role="tool", call_id=name, text=text, is_error=flags.get("isError")))

    # ---- the log ----

    def log_output(self, **fields):
        self.log("agent-output", responseId=self.request, **fields)

    def log(self, kind, /, **fields):
        self.events.append({"type": kind} | {name: value for name, value in fields.items() if value is not None})
        with suppress(RuntimeError):  # what a listener raises is its own
            self.listen()

    def listen(self):
        if self.options.observer == "throws":
            raise RuntimeError("the listener raises")


class Undeclared(Right):
    """It hands over messages as it is told, and declares nothing of it."""

    def __init__(self, **given):
        super().__init__(**given)
        self.does = {name: self.profile.policies[name] for name in HANDOVERS}
        kept = {name: value for name, value in self.profile.policies.items() if name not in HANDOVERS}
        self.profile = replace(self.profile, policies=kept)

    def handover(self, policy):
        return self.does[policy]


def arranged(history, policies):
    """The history in the order, and with the joints, that the policies say."""
    blocks = [list(block) for _, block in groupby(history, lambda one: one.role == "user")]
    found = [one for block in blocks for one in (block if block[0].role == "user" else rearranged(block, policies))]
    most = policies.get("maxResultCharacters")
    if most is not None:
        found = [replace(one, text=ends_of(one.text, most)) if one.role == "tool" else one for one in found]
    if policies.get("failures") == "told":
        found = [replace(one, is_error=None) for one in found]
    if policies.get("failures") == "own-words":
        found = [replace(one, text="That did not work.") if one.is_error else one for one in found]
    return joined(found) if policies.get("adjacent") == "merged" else found


def ends_of(text, most):
    """The first and the last characters of a text that has more than *most*."""
    if len(text) <= most:
        return text
    head = most // 3
    return f"{text[:head]}\n[{len(text) - most} characters left out]\n{text[head - most :]}"


def rearranged(entries, policies):
    """What stands between two messages: each response's items, and then its results."""
    begun, ended = list[Shown](), list[Shown]()
    for one in [*entries, None]:
        if ended and (one is None or one.role == "assistant"):
            yield from response(begun, ended, policies)
            begun, ended = list[Shown](), list[Shown]()
        if one is not None:
            (ended if one.role == "tool" else begun).append(one)
    yield from response(begun, [], policies)


def response(items, results, policies):
    """The items of a response and the results of its calls."""
    if policies.get("itemOrder") == "texts-first":
        items = [one for one in items if one.call_id is None] + [one for one in items if one.call_id is not None]
    if policies.get("itemOrder") == "texts-last":
        texts = [one for one in items if one.call_id is None]
        return response([one for one in items if one not in texts], results, policies | {"itemOrder": None}) + texts
    order = policies.get("resultOrder", "as-ended")
    if order == "paired":
        return [one for item in items for one in (item, *(end for end in results if end.call_id == item.call_id))]
    if order == "as-called":
        results = [end for item in items for end in results if end.call_id == item.call_id]
    return items + results


def joined(entries):
    """Adjacent texts of one role as one."""
    found = list[Shown]()
    for one in entries:
        if found and one.role == found[-1].role != "tool" and one.call_id is found[-1].call_id is None:
            last = found.pop()
            found.append(replace(last, text=f"{last.text} {one.text}", ids=(*last.ids, *one.ids)))
        else:
            found.append(one)
    return found
