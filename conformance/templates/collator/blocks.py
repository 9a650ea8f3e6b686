"""A toy collator, to be replaced by yours: from the frames of a backend to the response blocks that a chat shows."""


class Blocks:
    """Takes the frames of one request as they come (docs/protocol.md#collate); `blocks` is what the chat shows."""

    # What it claims: a claim that it does not keep is a failure, what is missing here is skipped.
    profile = {"capabilities": ["streaming", "tool-status"]}

    def __init__(self):
        self._shown = {}  # iteration → block
        self._settled = set()  # iterations whose response is there: a delta that still comes is late
        self._deltas = set()  # numbers of deltas that are known
        self._tools_ran = False  # since the newest block began: the next delta begins another

    @property
    def blocks(self):
        return [self._shown[iteration] for iteration in sorted(self._shown)]

    def feed(self, frame):
        match frame["type"]:
            case "delta":
                self._delta(frame)
            case "llm_request":
                self._describe(frame["iteration"], frame)
            case "llm_response":
                self._describe(frame["iteration"], frame.get("llmApiCall") or {})
                self._describe(frame["iteration"], frame)
                self._settle(frame["iteration"], frame["response"])
            case "message_complete":
                records = frame["llmApiCalls"]  # of all iterations so far: the last one is its own
                self._describe(len(records), records[-1])
                self._settle(len(records), frame)
            case "tool_call_start":
                self._tools_ran |= "tool" not in self._use(frame["id"])
                self._use(frame["id"]).setdefault("status", "running")
                self._use(frame["id"])["tool"] = frame["name"]
            case "tool_call_result":
                self._tools_ran |= "result" not in self._use(frame["id"])
                self._use(frame["id"])["status"] = "failed" if frame.get("is_error") else "done"
                self._use(frame["id"])["result"] = frame["content"]

    def _delta(self, frame):
        if frame.get("seq") in self._deltas:  # only its number tells that it is known: “ha”, “ha” is text
            return
        if "seq" in frame:
            self._deltas.add(frame["seq"])
        newest = max(self._shown, default=0)
        if newest in self._settled and not self._tools_ran:
            return
        block = self._block(newest + 1 if newest == 0 or self._tools_ran else newest)
        block["text"] += frame["content"]
        block["streaming"] = True

    def _block(self, iteration):
        if iteration not in self._shown:
            self._shown[iteration] = {"iteration": iteration, "text": "", "calls": []}
            self._tools_ran = False
        return self._shown[iteration]

    def _describe(self, iteration, record):
        """Read who answered, at the top of a call record or under its request; what is absent takes nothing away."""
        request, response = record.get("request") or {}, record.get("response") or {}
        told = {
            "provider": record.get("provider") or request.get("provider"),
            "model": record.get("model") or request.get("model"),
            "usage": response.get("usage"),
            "finishReason": response.get("finish_reason"),
        }
        self._block(iteration).update({name: value for name, value in told.items() if value is not None})

    def _settle(self, iteration, message):
        self._settled.add(iteration)
        block = self._block(iteration)
        block["text"] = message["content"] or block["text"]
        block["streaming"] = False
        for call in message["tool_calls"]:
            if all(use["callId"] != call["id"] for use in block["calls"]):
                block["calls"].append({"callId": call["id"], "arguments": call["function"]["arguments"]})

    def _use(self, call_id):
        """Return the use of a tool, on the block whose response made it; a stranger hangs on the newest block."""
        uses = (use for block in self._shown.values() for use in block["calls"] if use["callId"] == call_id)
        found = next(uses, None)
        if found is None:
            found = {"callId": call_id}
            self._block(max(self._shown, default=1))["calls"].append(found)
        return found
