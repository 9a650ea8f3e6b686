"""Freeze streams with the peers' complaints: ``PYTHONPATH=tests python -m ag_ui.freeze`` writes ``frozen.jsonl`` anew.

One stream per rule of ag-ui-validate and per rejection of verifyEvents that generation reaches, as short as it gets.
"""

import json
import random
import re
from pathlib import Path
from typing import Final

from .peers import Complaint, Verifier, validate
from .streams import Stream, broken

FROZEN: Final = Path(__file__).with_name("frozen.jsonl")
_SEEDS: Final = 4_000


def _kind(complaint: Complaint) -> str:
    rule, _, why = complaint
    return rule + re.sub(r"'[^']*'|active: .*|\"[^\"]*\"", "", why) if rule == "verifyEvents" else rule


def _shortest(stream: Stream, kind: str, verify: Verifier) -> Stream:
    for at in reversed(range(len(stream))):
        shorter = stream[:at] + stream[at + 1 :]
        if shorter and kind in map(_kind, verify(shorter) + validate(shorter)):
            stream = shorter
    return stream


def main() -> None:
    """Write the file."""
    found: dict[str, Stream] = {}
    with Verifier() as verify:
        for seed in range(_SEEDS):
            stream = broken(random.Random(seed))
            for complaint in verify(stream) + validate(stream):
                kind = _kind(complaint)
                if kind not in found:
                    found[kind] = _shortest(stream, kind, verify)
        rows = [{"stream": stream, "complaints": verify(stream) + validate(stream)} for stream in found.values()]
    FROZEN.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


if __name__ == "__main__":
    main()
