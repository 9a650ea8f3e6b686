"""A client on pipes for runtimes on the Python kit, for the tests and the measurements."""

import json
import os
import subprocess
import sys
from pathlib import Path

KIT = Path(__file__).parents[3] / "adapters" / "kit"
FAKES = Path(__file__).with_name("python_fakes.py")


class Client:
    """One adapter process; a context manager. Answers are decoded JSON."""

    def __init__(self, *command, env=None):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": str(KIT), "PYTHONHASHSEED": "0"} | (env or {}),
        )
        assert self.process.stdin
        assert self.process.stdout
        assert self.process.stderr
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        self.seq = 0

    @classmethod
    def of(cls, path, *arguments):
        """The adapter in the file *path*, on this interpreter."""
        return cls(sys.executable, str(path), *arguments)

    def send(self, line):
        """Send one line unchanged, and read the answer."""
        self.stdin.write(line.encode() + b"\n")
        self.stdin.flush()
        answer = self.stdout.readline()
        if not answer:
            raise EOFError(self.stderr.read().decode())
        return json.loads(answer)

    def ask(self, command, **fields):
        if command != "hello":
            self.seq += 1
            fields["seq"] = self.seq
        return self.send(json.dumps({"cmd": command, **fields}))

    def reset(self, **options):
        return self.ask("reset", options=options)

    def apply(self, kind, **fields):
        return self.ask("apply", stimulus={"kind": kind, **fields})

    def run(self, *word):
        """The steps of a word."""
        answer = self.ask("run", word=word)
        assert answer["ok"], answer
        return answer["steps"]

    def close(self):
        """Stop the adapter; return its stderr."""
        _, log = self.process.communicate(b'{"cmd": "stop"}\n', timeout=20)
        return log.decode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        for pipe in (self.stdin, self.stdout, self.stderr):
            pipe.close()


def user(text, **fields):
    return {"kind": "user", "id": f"id-{text}", "text": text, **fields}


def says(text):
    return {"kind": "model-output", "item": {"kind": "assistant", "text": text}}


def thinks(text):
    return {"kind": "model-output", "item": {"kind": "reasoning", "text": text}}


def calls(call, tool="read", arguments=None):
    item = {"kind": "tool-call", "callId": call, "tool": tool, "arguments": {} if arguments is None else arguments}
    return {"kind": "model-output", "item": item}


def stops(reason="end-turn"):
    return {"kind": "model-stop", "reason": reason}


def fails(failure):
    return {"kind": "model-fail", "class": failure}


def returns(call, output="done", **fields):
    return {"kind": "tool-return", "callId": call, "output": output, **fields}


def tool_fails(call, message="no"):
    return {"kind": "tool-fail", "callId": call, "message": message}


ABORT = {"kind": "abort"}


def together(*stimuli):
    return {"kind": "together", "stimuli": stimuli}


def events(steps):
    """Return all events of *steps*, each in a short readable form."""
    return [short(event) for step in steps for event in step["events"]]


def does(client, what):
    """Return the fake runtime's answer to the message *what*."""
    return client.apply(**user(what))


def said(*steps):
    """Return the fake runtime's texts in *steps*."""
    return [event["said"] for step in steps for event in step["events"] if event["type"] == "native"]


def short(event):
    kind = event["type"]
    mark = "*" if event.get("source") == "adapter" else ""
    if kind == "user-message":
        return f"user{mark} {event['text']}" + (f" ({event['delivery']})" if "delivery" in event else "")
    if kind == "model-request":
        return f"request{mark} {event['requestId']}"
    if kind == "agent-output":
        what = f"call {event['callId']}" if event["kind"] == "tool-call" else f"{event['kind']} {event['text']}"
        return f"{what}{mark}"
    if kind == "tool-result":
        flags = " error" * event.get("isError", False) + " synthetic" * event.get("synthetic", False)
        return f"result{mark} {event['callId']}{flags}"
    if kind == "run-stop":
        return f"stop{mark} {event['reason']}"
    return kind
