"""llxprt: cancelled while it is calling functions, "no tool output found for function call".

Calls are shown and kept as they stream in. A cancel while tools run answers every call; a cancel before that, while
the model is still calling, ends the stream, and leaves the calls so far unanswered. (The report does not say when
exactly the cancel came.)
"""

from collections import deque

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, Host, asked


class Runtime(Host):
    """Three states: idle, responding, and executing."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.state, self.queued = "idle", deque()
        self.request, self.execution, self.calls = None, None, deque()

    def prompt(self, message):
        self.accept(message)
        if self.state == "idle":
            self.begin(message)
        else:
            self.queued.append(message)

    def begin(self, message):
        self.history.append(asked(message))
        self.send()

    def send(self):
        self.state = "responding"
        self.request = self.ask(self.on_model)

    def on_model(self, what, value):
        match what:
            case "item":
                self.say(value, self.request)
                self.calls += [value] if isinstance(value, ToolCall) else []
            case "fail":
                self.answer_calls("the model failed")
                self.over("error")
            case "stop" if self.calls:
                self.state = "executing"
                self.next_tool()
            case "stop":
                self.over("completed")

    def next_tool(self):
        self.execution = self.run_tool(self.calls[0], self.on_tool)

    def on_tool(self, what, value):
        self.answer(self.calls.popleft().call_id, value, failed=what == "fail")
        if self.calls:
            self.next_tool()
        else:
            self.send()

    def abort(self):
        match self.state:
            case "responding":
                self.close_request(self.request)
                self.over("interrupted")
            case "executing":
                self.cancel_tool(self.execution)
                self.answer_calls("cancelled")
                self.over("interrupted")

    def answer_calls(self, why):
        for call in self.calls:
            self.answer(call.call_id, why, synthetic=True)

    def over(self, reason):
        self.calls.clear()
        self.state = "idle"
        self.stop(reason)
        if self.queued:
            self.begin(self.queued.popleft())
