"""The null runtime with images, usage and a context window; with the argument ``silent`` nothing comes back of them."""

import sys
from typing import ClassVar

from null_runtime import NullRuntime, Run, Session, serve

SHARE = 0.8  # of the context window: from there on the user is told
SILENT = "silent" in sys.argv


class SeeingRuntime(NullRuntime):  # type: ignore[misc]  # null_runtime is found by path
    profile: ClassVar = NullRuntime.profile | {
        "capabilities": [*NullRuntime.profile["capabilities"], "images", "usage", "context-limit"],
        "policies": {**NullRuntime.profile["policies"], "contextShare": SHARE},
    }

    def _session(self, stimulus):
        return self.sessions.setdefault(stimulus.get("sessionId"), SeeingSession(self.env, stimulus.get("sessionId")))


class SeeingSession(Session):  # type: ignore[misc]  # as above
    used = 0

    def read(self, message):
        super().read(message)
        images = [part for part in message.get("content") or [] if part["type"] == "image"]
        if images and not SILENT:
            self.history[-1]["images"] = len(images)

    def start(self, root):
        self.usage = None
        super().start(root)
        self.run.ask = self.asking(self.run)

    def asking(self, run):
        async def ask():
            async with self.env.model(self.history, session=self.name) as request:
                async for item in request:
                    await Run.output(run, dict(item), request.id)
            self.usage = request.usage

        return ask

    def stop(self, reason, detail=None):
        if self.usage and not SILENT:
            self.log("native", usage=self.usage)
            self.watch(sum(self.usage.values()))
        super().stop(reason, detail)

    def watch(self, used):
        """Tell the user when the context's use comes to its share."""
        limit = SHARE * self.env.options.get("limits", {}).get("contextWindow", float("inf"))
        if self.used < limit <= used:
            self.log("native", name="context-limit")
        self.used = used


if __name__ == "__main__":
    serve(SeeingRuntime())
