"""The runtime that misbehaves as it is told, and the words and seconds that it is given."""

import shlex
import sys
from pathlib import Path

from turncheck.adapters.protocol.errors import HangingError
from turncheck.model.core.stimuli import ModelOutput, ModelStop, Text, User

DOUBLES = Path(__file__).parents[2] / "doubles"
SHORT = 0.3
LONG = 20.0  # never waited for: an answer comes, or the test is about something else
USER = User(id="u1", text="one")
WORD = (USER, ModelOutput(item=Text(text="answer")), ModelStop(reason="end-turn"))

HANGING = {
    "never_answers": (HangingError, r"no answer within 0\.3 s"),
    "spins": (HangingError, r"no answer within 0\.3 s"),
    "ignores_sigterm": (HangingError, r"no answer within 0\.3 s"),
    "hides_behind_a_child": (HangingError, r"no answer within 0\.3 s"),
    "answers_half_a_line": (HangingError, r"no end of the answer within 0\.3 s"),
}
"""Faults of a runtime that never answers → the error, and its text."""


def double(*arguments):
    return "cmd:" + shlex.join([sys.executable, str(DOUBLES / "misbehaving_runtime.py"), *map(str, arguments)])


def timeout_for(fault):
    return SHORT if fault.partition(":")[0] in HANGING else LONG
