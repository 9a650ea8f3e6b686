"""Python projectors, right and wrong, for the worker to serve."""

import os
import subprocess
import sys
import time
from typing import Any

EMPTY: dict[str, list[Any]] = {"cycles": [], "queued": [], "dropped": [], "anomalies": []}


def empty(events):
    return EMPTY


def counts(events, policies=None):
    """Return the number of events, and whether policies came."""
    return {**EMPTY, "queued": [len(events)], "dropped": [] if policies is None else [len(policies)]}


def hold(events, *, policies=None):
    return {**EMPTY, "queued": [int((policies or {}).get("queueAfterError") == "hold")]}


def raises(events):
    raise KeyError("callId")


def raises_on_two(events):
    if len(events) == 2:
        raise ValueError("two")
    return EMPTY


def changes_its_input(events):
    events[0]["text"] = "changed"
    return EMPTY


def puts_true_for_one(events):
    events[0]["seq"] = True
    return EMPTY


def puts_in_what_is_no_json(events):
    events.append(object())
    return EMPTY


def prints(events):
    print("to be or not to be")
    os.write(1, b"written to fd 1\n")
    subprocess.run(["echo", "from a child"], check=True)
    return EMPTY


def reads_stdin(events):
    assert sys.stdin.read() == ""
    return EMPTY


def hangs(events):
    time.sleep(60)


def leaves(events):
    os._exit(5)


def returns_none(events):
    return None


def returns_an_object(events):
    return object()


def returns_the_hash_of_a(events):
    return {**EMPTY, "queued": [hash("a") % 1000]}


def text_view(events):
    return {**EMPTY, "cycles": [{"root": 0, "kind": "direct", "stop": None, "reason": None, "steps": []}]}


text_view.profile = {"capabilities": ["steps"]}  # type: ignore[attr-defined]


class Adds:
    """Feeds; a class is instantiated."""

    def __init__(self):
        self.fed = []

    def project(self, events):
        return {**EMPTY, "queued": list(range(len(events or self.fed)))}

    def feed(self, events):
        self.fed += events

    def reset(self):
        self.fed = []


number = 5
