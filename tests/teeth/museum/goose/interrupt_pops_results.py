"""goose: interrupted while it answers to a tool, the session is invalid.

The last message decides the effect of an interrupt. The assistant's requests get responses that say so; the user's
input is taken back into the editor. But the responses of tools are a message of the user's role as well: they are
taken back too, and the requests before them stay.
"""

from collections import deque

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, Host, asked, result, said


class Runtime(Host):
    """``messages`` are pairs of a role and its contents."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.messages, self.waiting = [], deque()
        self.request, self.execution = None, None
        self.todo, self.responses = deque(), []

    @property
    def replying(self):
        return self.request is not None or self.execution is not None

    def prompt(self, message):
        self.accept(message)
        if self.replying:
            self.waiting.append(message)
        else:
            self.reply("user", [asked(message)])

    def reply(self, role, contents):
        self.messages.append((role, contents))
        self.request = self.ask(self.on_stream, [content for _, parts in self.messages for content in parts])

    def on_stream(self, what, value):
        if what == "item":
            if self.messages[-1][0] != "assistant":
                self.messages.append(("assistant", []))
            self.say(value, self.request)
            self.messages[-1][1].append(said(value))
            self.todo += [value] if isinstance(value, ToolCall) else []
            return
        self.request = None
        if what == "fail":
            self.close("error")
        elif self.todo:
            self.run_next()
        else:
            self.close("completed")

    def run_next(self):
        self.execution = self.run_tool(self.todo[0], self.on_tool)

    def on_tool(self, what, value):
        self.execution = None
        self.respond_to(self.todo.popleft().call_id, value, failed=what == "fail")
        if self.todo:
            self.run_next()
        else:
            responses, self.responses = self.responses, []
            self.reply("user", responses)

    def respond_to(self, name, output, *, failed, synthetic=None):
        self.log("tool-result", callId=name, output=output, isError=failed or None, synthetic=synthetic)
        self.responses.append(result(name, output, failed=failed))

    def abort(self):
        if not self.replying:
            return
        self.close_request(self.request)
        self.cancel_tool(self.execution)
        if self.messages[-1][0] == "user":
            self.messages.pop()
        self.close("interrupted")

    def close(self, reason):
        """Answer every open request with a response that says why there is no result."""
        for call in self.todo:
            self.respond_to(call.call_id, f"interrupted: {reason}", failed=True, synthetic=True)
        if self.responses:
            self.messages.append(("user", self.responses))
        self.request, self.execution = None, None
        self.todo, self.responses = deque(), []
        self.stop(reason)
        if self.waiting:
            self.reply("user", [asked(self.waiting.popleft())])
