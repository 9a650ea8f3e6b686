"""A small agent on the Python kit with several clients: who comes back is told what followed its cursor.

One message at a time. ``replays``, its variant, tells who comes back everything again.
"""

import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parents[3] / "adapters" / "kit"))

from turncheck_kit import Adapter, ModelFailure, serve


class AttendedRuntime(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "attended-runtime", "version": "1.0", "language": "python"}
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": ["abort", "clients", "model-failure", "model-input", "terminal-events"],
        "policies": {"busy": "reject", "retries": 0, "disconnect": "ignored"},
    }
    variants: ClassVar[dict[str, dict[str, object]]] = {"resumes": {}, "replays": {}}

    def reset(self, env):
        self.env, self.history, self.run = env, [], None
        self.stream, self.clients = [], []

    def client(self, stimulus):
        name = stimulus["clientId"]
        if name in self.clients:
            self.clients.remove(name)
        if stimulus["action"] == "join":
            self.clients.append(name)
            known = 0 if self.env.variant == "replays" else int(stimulus.get("cursor") or 0)
            for at in range(known, len(self.stream)):
                self.tell(name, at)

    def tell(self, name, at):
        self.env.tell(name, {**self.stream[at], "cursor": str(at + 1)})

    def send(self, event):
        """Log an event, and tell it to all clients."""
        self.env.log(event)
        self.stream.append(event)
        for name in self.clients:
            self.tell(name, len(self.stream) - 1)

    def user(self, message):
        if self.run is not None:
            self.env.refuse("rejected", "a run is open")
            return
        self.send({"type": "user-message", "id": message["id"], "text": message["text"]})
        self.history.append({"role": "user", "text": message["text"], "ids": [message["id"]]})
        self.run = self.env.start(self.answer())

    def abort(self, stimulus):
        if self.run is not None:
            self.run.cancel()
            self.end("interrupted")

    async def answer(self):
        try:
            async with self.env.model(self.history) as request:
                async for item in request:
                    self.send({"type": "agent-output", "responseId": request.id, **item})
                    if item["kind"] == "assistant":
                        self.history.append({"role": "assistant", "text": item["text"]})
            self.end("completed")
        except ModelFailure:
            self.end("error")

    def end(self, reason):
        self.run = None
        self.send({"type": "run-stop", "reason": reason})


if __name__ == "__main__":
    serve(AttendedRuntime())
