"""A runtime that says twice that an aborted run is over: the null runtime with one line too many."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "adapters" / "kit"))

import null_runtime


class Session(null_runtime.Session):  # type: ignore[misc]
    def abort(self):
        running = bool(self.run)
        super().abort()
        if running:
            self.log("run-stop", reason="interrupted")


null_runtime.Session = Session

if __name__ == "__main__":
    null_runtime.serve(null_runtime.NullRuntime())
