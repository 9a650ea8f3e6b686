"""Processes that misbehave, one per function: ``python misbehaving.py FUNCTION [ARGUMENT]``."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

PROFILE = {"roles": ["projector"], "capabilities": ["feed", "steps", "rounds"]}
IMPLEMENTATION = {"name": "double", "version": "1", "language": "python"}
HELLO = {"ok": True, "protocol": 1, "implementation": IMPLEMENTATION, "profile": PROFILE}
EMPTY: dict[str, list[Any]] = {"cycles": [], "queued": [], "dropped": [], "anomalies": []}


def say(answer):
    print(answer if isinstance(answer, str) else json.dumps(answer), flush=True)


def messages():
    """Answer hello, and yield the messages after it."""
    input()
    say(HELLO)
    while True:
        yield json.loads(input())


def right(message):
    return {"seq": message["seq"], "ok": True, "projection": EMPTY}


def forever():
    while True:
        time.sleep(60)


def echoes():
    while True:
        print(input(), flush=True)


def behaves():
    for message in messages():
        say(right(message))


def never_answers():
    forever()


def hangs_after(answers):
    for count, message in enumerate(messages()):
        if count == int(answers):
            forever()
        say(right(message))


def hangs_once(flag):
    """Hang the first time that it is started, behave from then on."""
    for message in messages():
        if not Path(flag).exists():
            Path(flag).touch()
            forever()
        say(right(message))


def answers_half_a_line():
    input()
    say(HELLO)
    input()
    print('{"ok": tr', end="", flush=True)
    forever()


def answers_twice():
    for message in messages():
        print(json.dumps(right(message)), json.dumps(right(message)), sep="\n", flush=True)


def answers_the_wrong_seq():
    for message in messages():
        say({**right(message), "seq": message["seq"] + 7})


def prints_between_lines():
    for message in messages():
        say("DEBUG: projecting")
        say(right(message))


def floods_stdout():
    while True:
        os.write(1, b"x" * 65536)


def floods_stderr_then_answers():
    for message in messages():
        os.write(2, b"\n".join(b"line %d" % number for number in range(400_000)) + b"\n")
        say(right(message))


def floods_stderr_without_newline():
    for message in messages():
        for _ in range(64):
            os.write(2, b"e" * 65536)
        say(right(message))


def dies_in_the_middle_of_an_answer():
    input()
    print('{"ok": tr', end="", flush=True)
    os.kill(os.getpid(), signal.SIGSEGV)


def exits_at_start():
    print("no licence found", file=sys.stderr)
    sys.exit(3)


def closes_stdin():
    input()
    os.close(0)
    say(HELLO)
    forever()


def closes_stdout():
    input()
    say(HELLO)
    input()
    os.close(1)
    forever()


def does_not_read():
    input()
    say(HELLO)
    forever()


def ignores_sigterm():
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say({"pid": os.getpid()})
    forever()


def leaves_children_behind():
    """Start a child, and one in a session of its own whose parent is gone; both outlive a polite end."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(flush=True); time.sleep(600)"
    sleeper = [sys.executable, "-c", code]
    child = subprocess.Popen(sleeper, stdout=subprocess.PIPE)
    starter = f"import subprocess; print(subprocess.Popen({sleeper!r}, stdout=-3, start_new_session=True).pid)"
    orphan = int(subprocess.run([sys.executable, "-c", starter], stdout=subprocess.PIPE, check=True).stdout)
    assert child.stdout
    child.stdout.readline()
    input()
    say({"pids": [child.pid, orphan]})
    input()


def speaks_version_2():
    input()
    say({**HELLO, "protocol": 2})


def refuses_hello():
    input()
    say({"ok": False, "error": {"kind": "failed", "message": "no database"}})


def is_a_runtime_only():
    input()
    say({**HELLO, "profile": {"roles": ["runtime"], "capabilities": []}})


def lacks_a_view():
    cycle = {"root": 0, "kind": "direct", "stop": None, "reason": None, "steps": [{"type": "non-steer", "at": 0}]}
    for message in messages():
        say({**right(message), "projection": {**EMPTY, "cycles": [cycle]}})


def fails():
    for message in messages():
        say({"seq": message["seq"], "ok": False, "error": {"kind": "failed", "message": "boom", "detail": "line 7"}})


def says_its_hash_seed():
    for message in messages():
        seed = int(os.environ["PYTHONHASHSEED"])
        say({**right(message), "projection": {**EMPTY, "queued": [seed]}})


if __name__ == "__main__":
    with contextlib.suppress(EOFError):
        globals()[sys.argv[1]](*sys.argv[2:])
