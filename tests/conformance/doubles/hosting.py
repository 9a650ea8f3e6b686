"""The null runtime with sessions that outlive its process. An argument names a fault: ``forgets`` or ``aborts-all``."""

import json
import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parents[2] / "adapters" / "kit"))

import null_runtime

FAULTS = sys.argv[1:]


class Session(null_runtime.Session):  # type: ignore[misc]
    def __init__(self, env, name):
        super().__init__(env, name)
        folder = env.options.get("stateDir")
        self.file = Path(folder, f"{name}.json") if folder else None
        if self.file and self.file.exists() and "forgets" not in FAULTS:
            self.history = json.loads(self.file.read_text())

    def stop(self, *reason):
        super().stop(*reason)
        if self.file:
            self.file.write_text(json.dumps(self.history))


class Hosting(null_runtime.NullRuntime):  # type: ignore[misc]
    profile: ClassVar = null_runtime.NullRuntime.profile | {
        "capabilities": [*null_runtime.NullRuntime.profile["capabilities"], "persistence"]
    }

    def abort(self, stimulus):
        for session in self.sessions.values() if "aborts-all" in FAULTS else [self._session(stimulus)]:
            session.abort()


null_runtime.Session = Session

if __name__ == "__main__":
    null_runtime.serve(Hosting())
