"""Minga: a message that is sent just as the agent finishes is silently lost.

A message sent while the agent thinks is a steer, and is polled for between its tools. The handler of the agent's end
reads only the queue of follow-ups: a steer after the last poll is shown with the next prompt, if there ever is one.
"""

from collections import deque

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, Host, asked


class Runtime(Host):
    """A server process: each message to it is handled to its end, and changes its state."""

    can = (*PLAIN, "steer", "follow-up")

    def boot(self):
        self.status = "idle"
        self.steering_queue, self.follow_up_queue = deque(), deque()
        self.request, self.execution, self.calls = None, None, deque()

    # ---- calls ----

    def prompt(self, message):
        self.accept(message)
        if self.status == "idle":
            self.handle_prompt(message)
        else:
            (self.steering_queue if message.delivery == "steer" else self.follow_up_queue).append(message)

    def handle_prompt(self, message):
        self.status = "thinking"
        self.history.append(asked(message))
        self.infer()

    def abort(self):
        if self.status != "idle":
            self.close_request(self.request)
            self.cancel_tool(self.execution)
            self.agent_end("interrupted")

    # ---- answers of the provider and the tools ----

    def infer(self):
        self.drain_steering()
        self.request = self.ask(self.handle_info)

    def handle_info(self, what, value):
        match what:
            case "item":
                self.say(value, self.request)
                self.calls += [value] if isinstance(value, ToolCall) else []
            case "fail":
                self.agent_end("error")
            case "stop" if self.calls:
                self.next_tool()
            case "stop":
                self.agent_end("completed")

    def next_tool(self):
        self.execution = self.run_tool(self.calls[0], self.handle_tool)

    def handle_tool(self, what, value):
        self.answer(self.calls.popleft().call_id, value, failed=what == "fail")
        if self.calls:
            self.next_tool()
        else:
            self.infer()

    def drain_steering(self):
        while self.steering_queue:
            self.history.append(asked(self.steering_queue.popleft()))

    def agent_end(self, reason):
        self.answer_open(reason)
        self.drain_steering()
        self.calls.clear()
        self.status = "idle"
        self.stop(reason)
        if self.follow_up_queue:
            self.handle_prompt(self.follow_up_queue.popleft())
