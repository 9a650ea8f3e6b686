"""The base of every runtime in the museum: stimuli become calls of its methods, and its actions are logged.

A runtime defines ``boot``, ``prompt`` and ``abort``, and asks for a model or a tool with a callback for the answer;
``tasks`` makes coroutines of that. Whether it conforms depends on its own code: nothing here decides that.
"""

import json
from collections import Counter, deque

from msgspec.json import encode
from msgspec.structs import replace
from runtimes.target import CAPABILITIES, POLICIES, Target

from turncheck.conformance.laws.runtime.contract import needs
from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ApprovalAwaited,
    Approve,
    ClientResult,
    ClientToolAwaited,
    Deny,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Refusal,
    ResetOptions,
    Shown,
    Step,
    StoreFail,
    Text,
    TimerAwaited,
    Together,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from .store import Store

PLAIN = ("abort", "tools", "tool-failure", "model-failure", "model-input")
LIMITS = ("usage", "context-limit")
EVERY = (*CAPABILITIES, "approval", "client-tools", "persistence", "store-faults", "sub-agents", *LIMITS)


class Host:
    """One session of a runtime. ``can`` are its capabilities; its policies are the usual ones, unless its class gives
    others: a policy that is None is not declared. ``store`` outlives the process.
    """

    can: tuple[str, ...] = PLAIN
    declares: dict[str, object] = POLICIES

    def __init_subclass__(cls, **policies):
        declared = cls.declares | policies
        cls.declares = {name: value for name, value in declared.items() if value is not None}

    def __init__(self, options, store=None):
        self.options, self.store = options, store or Store()
        self.events, self.refused = [], None
        self.requests, self.executions, self.questions = {}, {}, {}
        self.executed = Counter()
        self.ready = deque()
        self.timers, self.usage = [], None
        self.history = []
        self.boot()

    def boot(self):
        """Begin anew."""
        raise NotImplementedError

    def prompt(self, message):
        """The user sends a message."""
        raise NotImplementedError

    def abort(self):
        """The user aborts."""
        raise NotImplementedError

    def quiet(self):
        """All is quiet, and the step has not been told yet."""

    # ---- stimuli ----

    def settle(self, stimulus=None):
        """Apply a stimulus, and return the step once all is quiet."""
        if stimulus is not None:
            self.events, self.refused = [], None
            self.deliver(stimulus)
        while self.ready:
            self.ready.popleft()()
        self.quiet()
        return Step(tuple(self.events), tuple(self.awaiting()), self.refused)

    def refuse(self, why, message):
        self.refused = Refusal(why, message)

    def deliver(self, stimulus):
        need = needs(stimulus)
        if need is not None and need not in self.can:
            self.refuse("unsupported", need)
            return
        match stimulus:
            case User():
                self.prompt(stimulus)
            case Abort():
                self.abort()
            case ModelOutput():
                self.model_says("item", stimulus.item, stimulus.request_id)
            case ModelStop():
                self.usage = stimulus.usage
                self.model_says("stop", stimulus.reason, stimulus.request_id)
            case ModelFail():
                self.model_says("fail", stimulus.failure, stimulus.request_id)
            case ToolReturn():
                self.tool_ends("return", stimulus.output, stimulus)
            case ToolFail():
                self.tool_ends("fail", stimulus.message, stimulus)
            case Approve() | Deny() | ClientResult():
                self.decide(stimulus)
            case StoreFail():
                self.store.failing += stimulus.times
            case Advance():
                self.advance(stimulus.seconds)
            case Together():
                for one in stimulus.stimuli:
                    self.deliver(one)

    def awaiting(self):
        yield from (ModelAwaited(request_id=name, input=shown) for name, (shown, _) in self.requests.items())
        yield from (awaited for awaited, _ in self.executions.values())
        yield from (awaited for awaited, _, _ in self.questions.values())
        yield from (TimerAwaited(due=due) for due, _ in self.timers)

    # ---- the model and the tools ----

    def ask(self, hear, shown=None):
        """Show the model the history, or *shown*; ``hear(what, value)``: item, then stop or fail. Return the id."""
        self.store.asked += 1
        name, shown = f"r{self.store.asked}", tuple(self.history if shown is None else shown)
        self.requests[name] = shown, hear
        self.log("model-request", requestId=name, input=json.loads(encode(shown)))
        return name

    def close_request(self, name):
        """Forget the request: nobody waits for the answer any more."""
        self.requests.pop(name, None)

    def model_says(self, what, value, name):
        name = name or next(iter(self.requests), None)
        if name not in self.requests:
            self.refuse("not-awaited", "no request waits")
            return
        _, hear = self.requests[name]
        if what != "item":
            del self.requests[name]
        hear(what, value)

    def run_tool(self, call, hear, arguments=None):
        """Start a tool; ``hear(what, value)``: return or fail, once. Return the execution's name."""
        self.executed[call.call_id] += 1
        name = f"{call.call_id}.{self.executed[call.call_id]}"  # what a shrunk word says is still the same
        arguments = call.arguments if arguments is None else arguments
        awaited = ToolAwaited(call_id=call.call_id, execution=name, tool=call.tool, arguments=arguments)
        self.executions[name] = awaited, hear
        return name

    def cancel_tool(self, name):
        """Signal the tool; one that ignores the signal goes on, and its result is dropped."""
        awaited, _ = self.executions.pop(name, (None, None))
        if awaited is not None and self.options.deaf_tools:
            deaf = ToolAwaited(
                call_id=awaited.call_id, execution=name, tool=awaited.tool, arguments=awaited.arguments, cancelled=True
            )
            self.executions[name] = deaf, lambda _what, _value: None

    def tool_ends(self, what, value, stimulus):
        runs = [name for name, (awaited, _) in self.executions.items() if awaited.call_id == stimulus.call_id]
        name = next((one for one in runs if stimulus.execution in {None, one}), None)
        if name is None:
            self.refuse("not-awaited", "no such tool runs")
            return
        _, hear = self.executions.pop(name)
        hear(what, value)

    # ---- the clock ----

    def after(self, seconds, wake):
        """Call *wake* in so many seconds, with an automatic clock at once; return the timer."""
        timer = [seconds if self.options.clock == "manual" else 0, wake]
        self.timers.append(timer)
        self.advance(0)
        return timer

    def advance(self, seconds):
        for timer in [*self.timers]:
            timer[0] -= seconds
            if timer[0] <= 0:
                self.drop_timer(timer)
                self.ready.append(timer[1])

    def drop_timer(self, timer):
        """Forget the timer, if it is still there."""
        self.timers = [one for one in self.timers if one is not timer]

    # ---- the person and the client ----

    def ask_about(self, calls, hear):
        """Pause the run; ``hear(call, decision)``: for each of *calls* once, with what was said of it."""
        for call in calls:
            kind = ClientToolAwaited if self.options.decider(call.tool) == "client" else ApprovalAwaited
            self.questions[call.call_id] = kind(call_id=call.call_id), call, hear
        self.log("run-pause", calls=[*self.questions])

    def withdraw(self):
        """Forget the questions: the run does not wait for decisions any more."""
        self.questions.clear()

    def decide(self, decision):
        awaited, call, hear = self.questions.get(decision.call_id, (None, None, None))
        if not isinstance(awaited, ClientToolAwaited if isinstance(decision, ClientResult) else ApprovalAwaited):
            self.refuse("not-awaited", f"nobody asked about {decision.call_id}")
            return
        del self.questions[decision.call_id]
        if not self.questions:
            self.log("run-resume")
        hear(call, decision)

    # ---- the log and the history ----

    def log(self, kind, /, **fields):
        self.events.append({"type": kind} | {name: value for name, value in fields.items() if value is not None})

    def accept(self, message):
        """Log the user's message."""
        self.log("user-message", id=message.id, text=message.text, delivery=message.delivery)

    def say(self, item, request):
        """Log an item of the model, and keep it."""
        if isinstance(item, ToolCall):
            fields = {"kind": "tool-call", "callId": item.call_id, "tool": item.tool, "arguments": item.arguments}
        else:
            fields = {"kind": "assistant" if isinstance(item, Text) else "reasoning", "text": item.text}
        self.log("agent-output", responseId=request, **fields)
        self.history.append(said(item))

    def answer(self, call_id, output, *, failed=False, synthetic=False):
        """Log a tool's result, and keep it. A result that no tool gave is a failure, and synthetic."""
        flags = {"isError": failed or synthetic or None, "synthetic": synthetic or None}
        self.log("tool-result", callId=call_id, output=output, **flags)
        self.history.append(result(call_id, output, failed=failed or synthetic))

    def answer_open(self, why):
        """Give each call of the history that has no result a synthetic one."""
        for call_id in unanswered(self.history):
            self.answer(call_id, f"not executed: {why}", synthetic=True)

    def stop(self, reason, detail=None):
        """Log the run's end."""
        self.log("run-stop", reason=reason, detail=detail)


class Driven(Target):
    """A runtime of the museum as a target of ``verify``."""

    def __init__(self, runtime, hash_seed=0):
        self.runtime, self.declares, self.stores = runtime, runtime.declares, {}
        super().__init__(hash_seed=hash_seed)
        self.profile = replace(self.profile, capabilities=tuple(name for name in EVERY if name in runtime.can))

    def again(self, hash_seed):
        return Driven(self.runtime, hash_seed)

    def reset(self, options=ResetOptions()):  # noqa: B008 - it is frozen
        store = self.stores.setdefault(options.state_dir, Store()) if options.state_dir else Store()
        store.failing = 0
        self.session = self.runtime(options, store)
        return self.session.settle()

    def apply(self, stimulus):
        return self.session.settle(stimulus)


def asked(message):
    """Return the model's entry for a user's message."""
    return Shown(role="user", text=message.text, ids=(message.id,))


def said(item):
    """Return the model's entry for one of its own items."""
    if isinstance(item, ToolCall):
        return Shown(role="assistant", call_id=item.call_id, tool=item.tool)
    return Shown(role="assistant", text=item.text)


def result(call_id, output, *, failed=False):
    """Return the model's entry for a tool's result."""
    text = output if isinstance(output, str) else json.dumps(output)
    return Shown(role="tool", call_id=call_id, text=text, is_error=failed or None)


def unanswered(history):
    """Return the ids of the calls in *history* without a result there."""
    answered = {entry.call_id for entry in history if entry.role == "tool"}
    called = [entry.call_id for entry in history if entry.role == "assistant" and entry.call_id is not None]
    return [name for name in called if name not in answered]
