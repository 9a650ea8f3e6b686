"""The null runtime with images and usage; with the argument ``silent`` nothing comes back of them."""

import sys
from typing import ClassVar

from null_runtime import NullRuntime, Run, Session, serve

SILENT = "silent" in sys.argv


class SeeingRuntime(NullRuntime):  # type: ignore[misc]  # null_runtime is found by path
    profile: ClassVar = NullRuntime.profile | {
        "capabilities": [*NullRuntime.profile["capabilities"], "images", "usage"],
    }

    def _session(self, stimulus):
        return self.sessions.setdefault(stimulus.get("sessionId"), SeeingSession(self.env, stimulus.get("sessionId")))


class SeeingSession(Session):  # type: ignore[misc]  # as above
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
        super().stop(reason, detail)


if __name__ == "__main__":
    serve(SeeingRuntime())
