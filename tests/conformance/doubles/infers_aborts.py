"""A runtime that says how its runs end, but for those that are aborted: there its adapter says it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "adapters" / "kit"))

import null_runtime


class Session(null_runtime.Session):  # type: ignore[misc]
    def log(self, kind, /, **fields):
        own = {"source": "adapter"} if fields.get("reason") == "interrupted" else {}
        super().log(kind, **fields, **own)


null_runtime.Session = Session

if __name__ == "__main__":
    null_runtime.serve(null_runtime.NullRuntime())
