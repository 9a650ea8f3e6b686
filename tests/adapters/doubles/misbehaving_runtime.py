"""A small conforming runtime on plain stdin and stdout that does one thing wrong: ``FAULT[:COMMAND[:COUNT]] [MARKER]``.

It misbehaves at the COUNT-th message COMMAND of its process and at all later ones (the first apply, where they are left
out), and adds a line to the file MARKER each time. A fault is a function of the message and the right answer to it.
"""

import json
import os
import signal
import subprocess
import sys
import time
from itertools import count
from pathlib import Path

PROFILE = {"roles": ["runtime"], "capabilities": ["abort", "model-input"], "policies": {"busy": "reject"}}
IMPLEMENTATION = {"name": "misbehaving-runtime", "version": "1", "language": "python"}
HELLO = {"ok": True, "protocol": 1, "implementation": IMPLEMENTATION, "profile": PROFILE}
LAST_WORDS = "about to misbehave"
HUGE = 65 * 1024 * 1024  # bytes: more than the limit of one answer
SLEEPER = [sys.executable, "-c", "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(600)"]


class Runtime:
    """One conversation: the model's history, and the open request (or none)."""

    def __init__(self):
        self.shown, self.request, self.asked = [], None, 0

    def apply(self, stimulus):
        events, refused = [], None
        match stimulus:
            case {"kind": "user", "id": name, "text": text} if self.request is None:
                events.append({"type": "user-message", "id": name, "text": text})
                self.shown.append({"role": "user", "text": text, "ids": [name]})
                self.asked += 1
                self.request = {"requestId": f"r{self.asked}", "input": list(self.shown)}
                events.append({"type": "model-request", **self.request})
            case {"kind": "user"}:
                refused = {"why": "rejected", "message": "busy"}
            case {"kind": "model-output", "item": {"kind": "assistant"} as item} if self.request:
                events.append({"type": "agent-output", "responseId": self.request["requestId"], **item})
                self.shown.append({"role": "assistant", "text": item["text"]})
            case {"kind": "model-stop" | "abort" as kind} if self.request:
                events.append({"type": "run-stop", "reason": "interrupted" if kind == "abort" else "completed"})
                self.request = None
            case {"kind": "abort"}:
                pass
            case {"kind": "model-output" | "model-stop"} if self.request is None:
                refused = {"why": "not-awaited"}
            case {"kind": kind}:
                refused = {"why": "unsupported", "message": kind}
        awaiting = [{"kind": "model", **self.request}] if self.request else []
        return {"events": events, "awaiting": awaiting} | ({"refused": refused} if refused else {})


def main(faults, fault, marker=None):
    parts = fault.split(":")
    name, command, times = parts + ["apply", "1"][len(parts) - 1 :]
    runtime, left = Runtime(), int(times)
    for line in sys.stdin:
        message, answer = json.loads(line), None
        match message:
            case {"cmd": "hello"}:
                answer = HELLO
            case {"cmd": "reset", "seq": seq}:
                runtime = Runtime()
                answer = {"seq": seq, "ok": True, "events": [], "awaiting": []}
            case {"cmd": "apply", "seq": seq, "stimulus": stimulus}:
                answer = {"seq": seq, "ok": True, **runtime.apply(stimulus)}
            case {"cmd": "run", "seq": seq, "word": word}:
                answer = {"seq": seq, "ok": True, "steps": [runtime.apply(stimulus) for stimulus in word]}
        left -= message["cmd"] == command
        if message["cmd"] == command and left <= 0:
            if marker:
                with Path(marker).open("a") as file:
                    print(name, file=file)
            print(LAST_WORDS, file=sys.stderr, flush=True)
            faults[name](message, answer)
        elif answer is None:
            return
        else:
            say(answer)


def say(*answers):
    """Write answers in one piece, so that a reader of the first has them all."""
    write("".join(f"{answer if isinstance(answer, str) else json.dumps(answer)}\n" for answer in answers).encode())


def write(data):
    while data:
        data = data[os.write(1, data) :]


def forever():
    while True:
        time.sleep(60)


def behaves(message, answer):
    say(answer)


# ---- silence ----


def never_answers(message, answer):
    forever()


def spins(message, answer):
    while True:
        pass


def answers_late(message, answer):
    time.sleep(0.3)
    say(answer)


def answers_half_a_line(message, answer):
    write(b'{"ok": tr')
    forever()


def ignores_sigterm(message, answer):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    forever()


def answers_after_the_stop(message, answer):
    say({"seq": 1, "ok": True}, {"seq": 2, "ok": True})
    forever()


def hides_behind_a_child(message, answer):
    """Ends, and leaves its stdout open in a child of another session."""
    subprocess.Popen(SLEEPER, start_new_session=True)
    os._exit(0)


# ---- death ----


def dies_in_the_middle_of_an_answer(message, answer):
    write(json.dumps(answer).encode()[:20])
    os.kill(os.getpid(), signal.SIGSEGV)


def dies_after_its_answer(message, answer):
    say(answer)
    os._exit(3)


def exits(message, answer):
    sys.exit(7)


def exits_elsewhere(message, answer):
    """Ends unless the hash seed is the usual one."""
    if os.environ["PYTHONHASHSEED"] != "0":
        sys.exit(7)
    say(answer)


def elsewhere(hello):
    """Answer hello in this way where the hash seed is not the usual one."""
    say(HELLO if os.environ["PYTHONHASHSEED"] == "0" else hello)


def changes_its_capabilities(message, answer):
    elsewhere({**HELLO, "profile": {**PROFILE, "capabilities": ["abort", "tools"]}})


def changes_its_policies(message, answer):
    elsewhere({**HELLO, "profile": {**PROFILE, "policies": {"busy": "steer"}}})


def changes_its_name(message, answer):
    elsewhere({**HELLO, "implementation": {**IMPLEMENTATION, "name": "somebody-else"}})


def changes_its_protocol(message, answer):
    elsewhere({**HELLO, "protocol": 2})


def changes_when_replaced(message, answer):
    """Declare less once the marker of main has two lines: a process was replaced."""
    again = len(Path(sys.argv[2]).read_text().split()) > 1
    say({**HELLO, "profile": {**PROFILE, "capabilities": ["abort"]}} if again else HELLO)


def closes_stdin(message, answer):
    os.close(0)
    say(answer)
    forever()


def closes_stdout(message, answer):
    os.close(1)
    forever()


def start(command, *, session=False):
    """Start a process that holds none of our pipes."""
    nothing = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing, start_new_session=session)


def leaves_children_behind(message, answer):
    """A child, one in a session of its own, and one whose parent is gone; all outlive a polite end, and it dies."""
    start(SLEEPER)
    start(SLEEPER, session=True)
    start([sys.executable, "-c", f"import subprocess; subprocess.Popen({SLEEPER!r}, start_new_session=True)"]).wait()
    os.kill(os.getpid(), signal.SIGKILL)


# ---- rubbish ----


def answers_twice(message, answer):
    say(answer, answer)


def answers_out_of_turn(message, answer):
    """Answers the message before this one again."""
    say({**answer, "seq": answer["seq"] - 1}, answer)


def answers_with_another_seq(message, answer):
    say({**answer, "seq": answer["seq"] + 7})


def floods_a_line(message, answer):
    while True:
        write(b"x" * 65536)


def floods_lines(message, answer):
    while True:
        write(b"still working\n" * 4096)


def prints_between_lines(message, answer):
    say("DEBUG: asking the model", answer)


def prints_empty_lines(message, answer):
    say("", answer)


def has_events_that_are_no_list(message, answer):
    say({**answer, "events": {"0": answer["events"]}})


def has_no_events(message, answer):
    del answer["events"]
    say(answer)


def has_no_awaiting(message, answer):
    del answer["awaiting"]
    say(answer)


def awaits_what_nobody_knows(message, answer):
    say({**answer, "awaiting": [{"kind": "telepathy", "callId": "c1"}]})


def answers_as_a_projector(message, answer):
    say({"seq": answer["seq"], "ok": True})


def answers_hugely(message, answer):
    say({**answer, "events": [{"type": "native", "text": "x" * HUGE}]})


def answers_what_is_no_utf_8(message, answer):
    write(
        json.dumps({**answer, "events": [{"type": "native", "text": "?"}]}).encode().replace(b"?", b"\xff\xfe") + b"\n"
    )


def answers_not_a_number(message, answer):
    say({**answer, "events": [{"type": "native", "cost": float("nan")}]})


def has_one_step_less(message, answer):
    say({**answer, "steps": answer["steps"][:-1]})


def has_one_step_more(message, answer):
    say({**answer, "steps": [*answer["steps"], answer["steps"][-1]]})


def goes_on_after_no_quiet(message, answer):
    say({**answer, "steps": [{**answer["steps"][0], "unsettled": True}, *answer["steps"][1:]]})


# ---- what is told, or allowed ----


def fails(message, answer):
    error = {"kind": "failed", "message": "KeyError: 'callId'", "detail": "line 7"}
    say({"seq": answer["seq"], "ok": False, "error": error})


def does_not_know_the_command(message, answer):
    say({"seq": answer["seq"], "ok": False, "error": {"kind": "unsupported", "message": message["cmd"]}})


def is_never_quiet(message, answer):
    say({**answer, "unsettled": True})


def ends_a_word_early(message, answer):
    say({**answer, "steps": [{**answer["steps"][0], "unsettled": True}]})


def fills_stderr(message, answer):
    for number in range(200_000):
        print("line", number, file=sys.stderr)
    say(answer)


def explains_itself_too_late(message, answer):
    """Says what went wrong after its wrong answer, when it is asked to end."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("what happened after it"))
    say("DEBUG")
    forever()


def says_more_than_was_asked(message, answer):
    say({**answer, "took": 3, "awaiting": [{**one, "since": 1} for one in answer["awaiting"]]})


def says_its_options(message, answer):
    say({**answer, "events": [{"type": "native", "options": message["options"]}]})


def says_its_hash_seed(message, answer):
    say({**answer, "events": [{"type": "native", "seed": os.environ["PYTHONHASHSEED"]}]})


_users = count(1)


def logs_no_message_then_hangs(message, answer):
    """Breaks a law at each message of the user; does not answer the third one."""
    if message["stimulus"]["kind"] == "user" and next(_users) > 2:
        forever()
    say({**answer, "events": [event for event in answer["events"] if event["type"] != "user-message"]})


if __name__ == "__main__":
    main(globals(), *sys.argv[1:])
