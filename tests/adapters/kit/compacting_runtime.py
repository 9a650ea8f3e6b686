"""A small agent on the Python kit that compacts its history when the user asks for it; one message at a time.

A message that comes amid a compaction comes first. ``forgets``, its variant, empties the history when it begins.
"""

import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parents[3] / "adapters" / "kit"))

from turncheck_kit import Adapter, ModelFailure, serve


class CompactingRuntime(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "compacting-runtime", "version": "1.0", "language": "python"}
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": ["abort", "compaction", "model-failure", "model-input", "terminal-events"],
        "policies": {"busy": "reject", "retries": 0, "compactionFails": "keep"},
    }
    variants: ClassVar[dict[str, dict[str, object]]] = {"keeps": {}, "forgets": {}}

    def reset(self, env):
        self.env, self.history, self.run, self.compaction = env, [], None, None

    def user(self, message):
        if self.run is not None:
            self.env.refuse("rejected", "a run is open")
            return
        self.give_up()
        self.env.log({"type": "user-message", "id": message["id"], "text": message["text"]})
        self.history.append({"role": "user", "text": message["text"], "ids": [message["id"]]})
        self.run = self.env.start(self.answer())

    def abort(self, stimulus):
        if self.run is not None:
            self.run.cancel()
            self.end("interrupted")
        self.give_up()

    def compact(self, stimulus):
        if self.run is not None or self.compaction is not None:
            self.env.refuse("rejected", "the agent is busy")
        else:
            self.compaction = self.env.start(self.summarise())

    def give_up(self):
        if self.compaction is not None:
            self.compaction.cancel()
            self.compaction = None

    async def answer(self):
        try:
            async with self.env.model(self.history) as request:
                async for item in request:
                    self.env.log({"type": "agent-output", "responseId": request.id, **item})
                    if item["kind"] == "assistant":
                        self.history.append({"role": "assistant", "text": item["text"]})
            self.end("completed")
        except ModelFailure:
            self.end("error")

    def end(self, reason):
        self.run = None
        self.env.log({"type": "run-stop", "reason": reason})

    async def summarise(self):
        before = list(self.history)
        if self.env.variant == "forgets":
            self.history.clear()
        try:
            async with self.env.model(before, tools=False, purpose="compaction") as request:
                gist = "".join([item["text"] async for item in request if item["kind"] == "assistant"])
            self.history[:] = [{"role": "assistant", "text": f"[summary] {gist}"}]
        except ModelFailure:
            self.history[:] = before
        self.compaction = None


if __name__ == "__main__":
    serve(CompactingRuntime())
