"""Agent Framework's GitHub Copilot agent: every answer comes twice.

Its SDK emits the text as deltas, and then the whole message. The agent subscribes to both, and passes both on as
content.
"""

from collections import deque

from turncheck.model.core.stimuli import Text, ToolCall

from ..plumbing import PLAIN, Host, asked


class Session:
    """The SDK: the model's text is emitted as deltas, and as a message."""

    def __init__(self):
        self.handlers = {}

    def on(self, kind, handler):
        self.handlers[kind] = handler

    def item(self, item):
        if isinstance(item, Text):
            self.handlers["assistant.message_delta"](item)
            self.handlers["assistant.message"](item)
        else:
            self.handlers["tool.requested"](item)


class Runtime(Host):
    """Subscribes to the session, and turns its events into updates."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.waiting, self.active = deque(), False
        self.request, self.execution, self.calls = None, None, deque()
        self.session = Session()
        self.session.on("assistant.message_delta", self.update)
        self.session.on("assistant.message", self.completed)
        self.session.on("tool.requested", self.update)

    def update(self, item):
        """Pass an item on, and keep it."""
        self.say(item, self.request)
        self.calls += [item] if isinstance(item, ToolCall) else []

    def completed(self, item):
        """The message is whole."""
        self.update(item)

    def prompt(self, message):
        self.accept(message)
        if self.active:
            self.waiting.append(message)
        else:
            self.begin(message)

    def begin(self, message):
        self.active = True
        self.history.append(asked(message))
        self.send()

    def send(self):
        self.request = self.ask(self.on_model)

    def on_model(self, what, value):
        if what == "item":
            self.session.item(value)
        elif what == "fail":
            self.close("error")
        elif self.calls:
            self.next_tool()
        else:
            self.close("completed")

    def next_tool(self):
        self.execution = self.run_tool(self.calls[0], self.on_tool)

    def on_tool(self, what, value):
        self.answer(self.calls.popleft().call_id, value, failed=what == "fail")
        if self.calls:
            self.next_tool()
        else:
            self.send()

    def abort(self):
        if self.active:
            self.close_request(self.request)
            self.cancel_tool(self.execution)
            self.close("interrupted")

    def close(self, reason):
        self.answer_open(reason)
        self.calls.clear()
        self.active = False
        self.stop(reason)
        if self.waiting:
            self.begin(self.waiting.popleft())
