"""rig: ``max_turns(n)`` permits n + 1 turns.

A run is a machine without I/O: it takes events, and returns the next action. Its bound is compared with one added, so
that a limit on cost permits one more turn than asked for.
"""

from collections import deque

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, Host, asked


class AgentRun:
    """The machine: after each event, ``next`` is ask, call, done or failed."""

    def __init__(self, max_turns):
        self.max_turns, self.current_turn = max_turns, 0
        self.calls = deque()

    def begin(self):
        return self.turn()

    def turn(self):
        self.current_turn += 1
        if self.max_turns is not None and self.current_turn > self.max_turns + 1:
            return "failed"
        return "ask"

    def responded(self, calls):
        self.calls.extend(calls)
        return "call" if self.calls else "done"

    def tool_ended(self):
        self.calls.popleft()
        return "call" if self.calls else self.turn()


class Runtime(Host):
    """Carries out the machine's actions."""

    can = (*PLAIN, "follow-up", "limits")

    def boot(self):
        self.waiting, self.machine = deque(), None
        self.request = self.execution = None

    def prompt(self, message):
        self.accept(message)
        if self.machine is None:
            self.begin(message)
        else:
            self.waiting.append(message)

    def begin(self, message):
        self.history.append(asked(message))
        self.machine, self.calls = AgentRun(self.options.limits.get("maxRounds")), []
        self.act(self.machine.begin())

    def act(self, what):
        match what:
            case "ask":
                self.calls = []
                self.request = self.ask(self.on_model)
            case "call":
                self.execution = self.run_tool(self.machine.calls[0], self.on_tool)
            case "done":
                self.close("completed")
            case "failed":
                self.close("error", "MaxTurnsError")

    def on_model(self, what, value):
        if what == "fail":
            self.close("error", value)
        elif what == "stop":
            self.act(self.machine.responded(self.calls))
        else:
            self.say(value, self.request)
            self.calls += [value] if isinstance(value, ToolCall) else []

    def on_tool(self, what, value):
        self.answer(self.machine.calls[0].call_id, value, failed=what == "fail")
        self.act(self.machine.tool_ended())

    def abort(self):
        if self.machine is not None:
            self.close_request(self.request)
            self.cancel_tool(self.execution)
            self.close("interrupted")

    def close(self, reason, detail=None):
        self.answer_open(reason)
        self.machine = None
        self.stop(reason, detail)
        if self.waiting:
            self.begin(self.waiting.popleft())
