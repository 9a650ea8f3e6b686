"""A runtime whose process ends at a message that comes late in a word: directed words do not get there."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "adapters" / "kit"))

import null_runtime


class DiesLate(null_runtime.NullRuntime):  # type: ignore[misc]
    def user(self, stimulus):
        number = stimulus["id"][1:]
        if number.isdecimal() and 16 <= int(number) < 100:
            os._exit(7)
        super().user(stimulus)


if __name__ == "__main__":
    null_runtime.serve(DiesLate())
