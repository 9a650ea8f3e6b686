"""A runtime that keeps what was said in a file; with the argument ``forgets`` it writes only when a run ends."""

import json
import sys
from pathlib import Path
from typing import ClassVar

from turncheck_kit import Adapter, serve


class Keeper(Adapter):  # type: ignore[misc]  # the kit is found by path
    implementation: ClassVar = {"name": "keeper", "version": "1", "language": "python"}
    profile: ClassVar = {
        "roles": ["runtime"],
        "capabilities": ["model-input", "persistence", "terminal-events"],
        "policies": {"busy": "reject", "openTurnAfterRestart": "untold"},
    }

    def reset(self, env):
        self.env, self.running = env, False
        folder = env.options.get("stateDir")
        self.file = Path(folder, "history.json") if folder else None
        self.history = json.loads(self.file.read_text()) if self.file is not None and self.file.exists() else []

    async def user(self, message):
        if self.running:
            self.env.refuse("rejected", "a run is open")
            return
        self.running = True
        self.env.log({"type": "user-message", "id": message["id"], "text": message["text"]})
        self.history.append({"role": "user", "text": message["text"]})
        if "forgets" not in sys.argv:
            self.write()
        async with self.env.model(self.history) as request:
            said = [item["text"] async for item in request if item["kind"] == "assistant"]
        for text in said:
            self.env.log({"type": "agent-output", "kind": "assistant", "text": text, "responseId": request.id})
            self.history.append({"role": "assistant", "text": text})
        self.write()
        self.running = False
        self.env.log({"type": "run-stop", "reason": "completed"})

    def write(self):
        if self.file is not None:
            new = self.file.with_suffix(".new")
            new.write_text(json.dumps(self.history))
            new.replace(self.file)


serve(Keeper())
