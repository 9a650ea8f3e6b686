"""The conforming null runtime behind an adapter that gets one thing wrong: ``python tampering.py FAULT``.

A fault is a function of the message and its answer; it returns the answer that is given, None for none at all.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

NULL_RUNTIME = Path(__file__).parents[2] / "adapters" / "kit" / "null_runtime.py"
MODEL = {"kind": "model", "requestId": "r9"}


def main(fault):
    command = [sys.executable, str(NULL_RUNTIME)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as runtime:
        assert runtime.stdin
        assert runtime.stdout
        for line in sys.stdin:
            message = json.loads(line)
            if message["cmd"] == "stop" and fault is stays:
                time.sleep(600)
            runtime.stdin.write(line)
            if message["cmd"] == "stop":
                return
            answer = fault(message, json.loads(runtime.stdout.readline()))
            if answer is not None:
                print(json.dumps(answer), flush=True)


def steps(answer):
    """Every answer to a stimulus, or to a reset, in *answer*."""
    return [step for step in (answer, *answer.get("steps", [])) if "events" in step]


def without_events(answer, **fields):
    for step in steps(answer):
        step["events"] = [
            event for event in step["events"] if any(event.get(name) != value for name, value in fields.items())
        ]
    return answer


def with_profile(message, answer, **fields):
    if message["cmd"] == "hello":
        answer["profile"].update(fields)
    return answer


def refusing(message, answer, kind, why):
    """Refuses the stimuli that have *kind* among their values."""
    if kind in message.get("stimulus", {}).values():
        return {**answer, "events": [], "refused": {"why": why, "message": "no"}}
    return answer


def behaves(message, answer):
    return answer


def has_no_role(message, answer):
    return with_profile(message, answer, roles=[])


def is_of_another_time(message, answer):
    return {**answer, "protocol": 2} if message["cmd"] == "hello" else answer


def slips_in_its_capabilities(message, answer):
    return with_profile(message, answer, capabilities=["folow-up"])


def slips_in_its_policies(message, answer):
    return with_profile(message, answer, policies={"busy": "sometimes"})


def says_that_it_can_persist(message, answer):
    if message["cmd"] == "hello":
        answer["profile"]["capabilities"].append("persistence")
    return answer


def can_nothing(message, answer):
    return with_profile(message, answer, capabilities=[])


def waits_from_the_start(message, answer):
    return {**answer, "awaiting": [MODEL]} if message["cmd"] == "reset" else answer


def dies_at_the_first_message(message, answer):
    if message["cmd"] == "apply":
        sys.exit("no such adapter")
    return answer


def is_never_quiet(message, answer):
    return {**answer, "unsettled": True} if message["cmd"] == "apply" else answer


def logs_no_message(message, answer):
    return without_events(answer, type="user-message")


def logs_no_text(message, answer):
    return without_events(answer, type="agent-output", kind="assistant")


def logs_no_end(message, answer):
    return without_events(answer, type="run-stop")


def logs_nonsense(message, answer):
    for step in steps(answer):
        if step["events"]:
            step["events"].append({"type": "run-stop", "reason": "whatever"})
    return answer


def loses_results(message, answer):
    return without_events(answer, type="tool-result")


def never_asks(message, answer):
    for step in steps(answer):
        step["awaiting"] = []
    return answer


def asks_twice(message, answer):
    for step in steps(answer):
        step["awaiting"] += [
            {**awaited, "requestId": "r9"} for awaited in step["awaiting"] if awaited["kind"] == "model"
        ]
    return answer


def answers_what_nobody_asked(message, answer):
    answer.pop("refused", None)
    return answer


def is_too_busy(message, answer):
    return refusing(message, answer, "two", "rejected")


def counts_its_steps(message, answer):
    for step in steps(answer):
        step["events"].append({"type": "native", "at": message["seq"]})
    return answer


def mixes_up_arguments(message, answer):
    for step in steps(answer):
        for awaited in step["awaiting"]:
            if awaited["kind"] == "tool":
                awaited["arguments"] = {"path": "y"}
    return answer


def interrupts_nothing(message, answer):
    for step in steps(answer):
        for event in step["events"]:
            if event.get("reason") == "interrupted":
                event["reason"] = "completed"
    return answer


def cannot_be_steered(message, answer):
    return refusing(message, answer, "steer", "unsupported")


def sees_nothing(message, answer):
    for step in steps(answer):
        for entry in step["awaiting"]:
            entry.pop("input", None)
    return answer


def stays(message, answer):
    return answer


if __name__ == "__main__":
    main(globals()[sys.argv[1]])
