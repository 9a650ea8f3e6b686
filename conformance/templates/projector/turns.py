"""A toy projector, to be replaced by yours: from the events of a session to the turns that a chat shows."""

OBSERVATIONS = ("model-request", "fault", "native", "run-pause", "run-resume")  # they change nothing
GROUPS = {"read-group": ("ls", "read", "grep", "find"), "write-group": ("write", "edit"), "bash-group": ("bash",)}


def project(events):
    """Project a log, as positions of its events (docs/log-format.md)."""
    turns = Turns()
    for at, event in enumerate(events):
        if wrong := flaw(event) or turns.take(at, event):
            turns.anomalies.append({"kind": wrong, "at": at})
    if turns.current:
        turns.anomalies.append({"kind": "truncated", "at": turns.current["root"]})
    return {"cycles": turns.cycles, "queued": turns.queue, "dropped": [], "anomalies": turns.anomalies}


# The claims: one that does not hold is a failure; laws on capabilities not listed are skipped (docs/protocol.md).
project.profile = {"capabilities": ["steps"]}


def flaw(event):
    """Return the fault of an event by itself, None where it has none. An optional field that is null is absent."""
    if not isinstance(event, dict) or not isinstance(event.get("type"), str):
        return "malformed"

    def has(field, kind):
        return isinstance(event.get(field), kind)

    def may(field, kind):
        return event.get(field) is None or has(field, kind)

    match event["type"]:
        case "user-message":
            one = (event.get("text") is None) != (event.get("content") is None)
            fits = one and may("text", str) and may("content", list) and may("id", str)
            fits = fits and event.get("delivery") in (None, "steer", "followUp")
        case "agent-output" if event.get("kind") == "tool-call":
            fits = has("callId", str) and has("tool", str) and may("responseId", str)
        case "agent-output":
            fits = event.get("kind") in ("assistant", "reasoning") and has("text", str) and may("responseId", str)
        case "tool-result":
            fits = has("callId", str) and may("isError", bool) and may("synthetic", bool)
        case "run-stop":
            fits = event.get("reason") in ("completed", "interrupted", "error") and may("detail", str)
        case kind:
            return None if kind in OBSERVATIONS else "unknown-type"
    return None if fits else "malformed"


class Turns:
    """The turns so far, and the waiting messages. ``take`` returns the anomaly that rejects an event, or None."""

    def __init__(self):
        self.cycles, self.queue, self.anomalies = [], [], []
        self.current = None  # the open turn
        self.calls = {}  # its calls, by their ids

    def take(self, at, event):
        kind = event["type"]
        if kind in OBSERVATIONS:
            return None
        if kind == "user-message":
            return self.message(at, event)
        if not self.current:
            return "outside-run"
        if kind == "agent-output":
            return self.call(at, event) if event["kind"] == "tool-call" else self.block(at)
        return self.result(at, event) if kind == "tool-result" else self.stop(at, event["reason"])

    def message(self, at, event):
        """Take a message: it opens a turn or, during one, steers it or waits for its end."""
        if not self.current:
            self.open("direct", at)
        elif event.get("delivery") == "steer":
            self.current["steps"].append({"type": "steer", "at": at})
        else:
            self.queue.append(at)

    def open(self, kind, root):
        steps = [{"type": "non-steer", "at": root}]
        self.current = {"root": root, "kind": kind, "stop": None, "reason": None, "steps": steps}
        self.calls = {}
        self.cycles.append(self.current)

    def block(self, text):
        self.current["steps"].append({"type": "ai-block", "text": text, "groups": []})

    def call(self, at, event):
        """Take a call: it goes into the last block; adjacent calls of a class form one group."""
        if event["callId"] in self.calls:
            return "duplicate-call"
        if self.current["steps"][-1]["type"] != "ai-block":
            self.block(None)
        groups = self.current["steps"][-1]["groups"]
        kind = next((name for name, tools in GROUPS.items() if event["tool"] in tools), "other-group")
        if not groups or groups[-1]["type"] != kind:
            groups.append({"type": kind, "calls": []})
        self.calls[event["callId"]] = call = {"at": at, "result": None}
        groups[-1]["calls"].append(call)
        return None

    def result(self, at, event):
        call = self.calls.get(event["callId"])
        if call is None:
            return "unknown-call"
        if call["result"] is not None:
            return "duplicate-result"
        call["result"] = at
        return None

    def stop(self, at, reason):
        """Close the turn; the message that waited longest opens the next one."""
        unanswered = [call["at"] for call in self.calls.values() if call["result"] is None]
        self.anomalies += [{"kind": "unanswered-call", "at": call} for call in unanswered]
        self.current |= {"stop": at, "reason": reason}
        self.current = None
        if self.queue:
            self.open("followUp", self.queue.pop(0))
