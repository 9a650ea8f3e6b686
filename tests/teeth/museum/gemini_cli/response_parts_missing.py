"""Gemini CLI: "the number of function response parts is equal to the number of function call parts".

A scheduler keeps each call with its status, and reports when all are complete; then the responses are sent as the next
turn. Only successful calls have a response part, so that a failed one makes the history unusable for good. (The report
has only the symptom; the reason for the missing part is a guess.)
"""

from collections import deque
from functools import partial

from turncheck.model.core.stimuli import ToolCall

from ..plumbing import PLAIN, Host, asked, result


class Runtime(Host, tools="parallel"):
    """Callbacks only: of a stream, of a scheduler, and for the completion of all calls."""

    can = (*PLAIN, "follow-up")

    def boot(self):
        self.queued = deque()
        self.request, self.calls, self.live = None, {}, False

    def prompt(self, message):
        self.accept(message)
        if self.live:
            self.queued.append(message)
        else:
            self.begin(message)

    def begin(self, message):
        self.live = True
        self.history.append(asked(message))
        self.send()

    def send(self):
        self.calls = {}
        self.request = self.ask(self.on_model)

    def on_model(self, what, value):
        if what == "fail":
            self.close("error")
        elif what == "item":
            self.say(value, self.request)
            if isinstance(value, ToolCall):
                self.calls[value.call_id] = {"call": value, "status": "scheduled"}
        elif self.calls:
            self.request = None
            self.schedule()
        else:
            self.close("completed")

    # ---- the scheduler ----

    def schedule(self):
        for name, tracked in self.calls.items():
            tracked["status"] = "executing"
            tracked["execution"] = self.run_tool(tracked["call"], partial(self.on_tool, name))

    def on_tool(self, name, what, value):
        failed = what == "fail"
        self.calls[name] |= {"status": "error" if failed else "success", "output": value}
        self.log("tool-result", callId=name, output=value, isError=failed or None)
        if all(tracked["status"] in {"success", "error"} for tracked in self.calls.values()):
            self.all_complete()

    def all_complete(self):
        for name, tracked in self.calls.items():
            if tracked["status"] == "success":
                self.history.append(result(name, tracked["output"]))
        self.send()

    def abort(self):
        if self.live:
            self.close("interrupted")

    def close(self, reason):
        """Cancel every open call, with a response that says so; complete calls have one already."""
        self.close_request(self.request)
        for name, tracked in self.calls.items():
            if tracked["status"] not in {"success", "error"}:
                self.cancel_tool(tracked.get("execution"))
                self.log("tool-result", callId=name, output="cancelled", isError=True, synthetic=True)
                tracked["output"] = "cancelled"
            self.history.append(result(name, tracked["output"], failed=tracked["status"] != "success"))
        self.calls, self.request, self.live = {}, None, False
        self.stop(reason)
        if self.queued:
            self.begin(self.queued.popleft())
