"""The committed generator of benchmark logs: deterministic, about 124 bytes an event, as a runtime would write them.

Frozen together with ``yardstick.py``: ratios are comparable only while neither changes.
"""

import json
import random
from collections.abc import Callable, Iterator

TOOLS = ("read", "grep", "bash", "edit", "write", "ls", "deploy")


class Session:
    """What the generator remembers of one session: follow-ups that wait make the next runs start by themselves."""

    def __init__(self) -> None:
        self.waiting = 0
        self.events: Iterator[dict[str, object]] = iter(())


def cycle(rng: random.Random, session: Session, number: int, tail: Callable[[], str]) -> Iterator[dict[str, object]]:
    """One run: a user message, rounds of text and calls with their results, a steer or a follow-up now and then."""
    if session.waiting:
        session.waiting -= 1
    else:
        yield {"type": "user-message", "id": f"m{number}", "text": "please look into the failing build" + tail()}
    calls = 0
    for turn in range(rng.randint(1, 6)):
        response = f"r{number}-{turn}"
        text = "I will read the log and then decide what to change" + tail()
        kind = "reasoning" if rng.random() < 0.2 else "assistant"
        yield {"type": "agent-output", "kind": kind, "text": text, "responseId": response}
        batch = []
        for _ in range(rng.randint(0, 3)):
            calls += 1
            call = f"call_{number}_{calls}"
            batch.append(call)
            arguments = {"path": f"src/module_{calls}.py" + tail()}
            tool = rng.choice(TOOLS)
            yield {
                "type": "agent-output",
                "kind": "tool-call",
                "callId": call,
                "tool": tool,
                "arguments": arguments,
                "responseId": response,
            }
        for call in batch:
            yield {"type": "tool-result", "callId": call, "output": "42 lines, 3 of them changed, no error" + tail()}
        draw = rng.random()
        if draw < 0.08:
            yield {"type": "user-message", "text": "and look at the tests too" + tail(), "delivery": "steer"}
        elif draw < 0.12:
            session.waiting += 1
            yield {"type": "user-message", "text": "then write the changelog" + tail(), "delivery": "followUp"}
    reason = "completed" if rng.random() < 0.8 else rng.choice(("interrupted", "error"))
    yield {"type": "run-stop", "reason": reason}


def lines(count: int, *, sessions: int = 1, filler: int = 0, spread: int = 0, seed: int = 0) -> Iterator[bytes]:
    """Yield *count* log lines, each with its line feed; with several sessions they are interleaved event by event.

    Every message, text, call and output is longer by *filler* bytes, and by up to *spread* more, drawn evenly.
    """
    rng = random.Random(seed)
    lengths = random.Random(seed)  # its own, so that the spread changes nothing else

    def tail() -> str:
        return "x" * (filler + lengths.randint(0, spread))

    running = [Session() for _ in range(sessions)]
    number = 0
    for seq in range(count):
        index = rng.randrange(sessions)
        session = running[index]
        event = next(session.events, None)
        if event is None:
            number += 1
            session.events = cycle(rng, session, number, tail)
            event = next(session.events)
        event["seq"] = seq
        if sessions > 1:
            event["sessionId"] = f"s{index}"
        yield json.dumps(event, separators=(",", ":")).encode() + b"\n"


def log(count: int, *, sessions: int = 1, filler: int = 0, spread: int = 0, seed: int = 0) -> bytes:
    """A whole synthetic log as bytes."""
    return b"".join(lines(count, sessions=sessions, filler=filler, spread=spread, seed=seed))
