"""Write the lines of WILD_FILES that a Python adapter comes by into the folder WILD_LINES, at its end.

Each stands there with the number of messages that came before.
"""

import atexit
import json
import os
import sys
import threading
from pathlib import Path

_files = set(json.loads(os.environ["WILD_FILES"]))
_seen: set[tuple[int, str, int]] = set()
_messages: list[None] = []


def _line(frame, event, _argument):
    if event == "line":
        _seen.add((len(_messages), frame.f_code.co_filename, frame.f_lineno))
    return _line


def _call(frame, _event, _argument):
    if frame.f_code.co_name == "answer" and frame.f_code.co_filename.endswith("turncheck_kit.py"):
        _messages.append(None)
    return _line if frame.f_code.co_filename in _files else None


@atexit.register
def _write():
    Path(os.environ["WILD_LINES"], f"{os.getpid()}.json").write_text(json.dumps(sorted(_seen)), "utf-8")


threading.settrace(_call)
sys.settrace(_call)
