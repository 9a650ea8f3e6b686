"""A runtime that is not deterministic: a message amid a run is refused by chance."""

import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "adapters" / "kit"))

import null_runtime

_DICE = random.Random(0)  # one for all words


class Session(null_runtime.Session):  # type: ignore[misc]
    def accept(self, message):
        if self.run and _DICE.random() < 0.3:
            self.env.refuse("rejected", "not now")
        else:
            super().accept(message)


null_runtime.Session = Session

if __name__ == "__main__":
    null_runtime.serve(null_runtime.NullRuntime())
