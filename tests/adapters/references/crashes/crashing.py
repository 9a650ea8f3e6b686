"""The story of a session, a client's view of it before a crash, and the duties of a recovery: see docs/crashes.md."""

import multiprocessing
from collections import Counter
from functools import cache
from pathlib import Path

import msgspec

from turncheck.adapters.references.turn import TurnRuntime
from turncheck.adapters.references.turn.files import MemoryFiles
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import Policies
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import ModelOutput, ModelStop, ResetOptions, Text, ToolCall, ToolReturn, User

FOLDER = Path("state")
SESSION = FOLDER / "main"
JOURNAL, CHECKPOINT = SESSION / "journal.jsonl", SESSION / "checkpoint.json"
TOOLS = ({"name": "read", "schema": {"type": "object"}},)
TEXT, STOP = ModelOutput(item=Text(text="done.")), ModelStop(reason="end-turn")
TOOL = ModelOutput(item=ToolCall(call_id="c1", tool="read", arguments={"path": "a"}))
OTHER = ModelOutput(item=ToolCall(call_id="c2", tool="read", arguments={"path": "b"}))
STORY = (
    *(User(id="u1", text="one", meta={"idempotencyKey": "k"}), TOOL, OTHER, STOP),
    *(ToolReturn(call_id="c1", output="a"), ToolReturn(call_id="c2", output="b"), TEXT, STOP),
    *(User(id="u2", text="two"), User(id="u3", text="three"), User(id="u4", text="four", delivery="steer"), TEXT, STOP),
    *(TEXT, STOP, TEXT, STOP),
    User(id="u5", text="five", meta={"chatId": None}),
    User(id="u1", text="one", meta={"idempotencyKey": "k"}),
    *(User(id="u6", text="six"), TOOL, STOP),
)
"""Tools, a follow-up, a steer, an invalid event, a repeated key, and a turn that is left in the middle of a tool."""


def opened(files, folder=FOLDER):
    """Return a runtime on *folder*, and the events of its recovery. The folder is made, as the layer cannot list it."""
    runtime = TurnRuntime(files=files)
    if isinstance(files, MemoryFiles):  # nothing lists these: the one session opens with the first message
        runtime.reset(ResetOptions(tools=TOOLS))
        runtime._root = folder
        session = runtime._session(None)
        return runtime, tuple(runtime.log), session
    step = runtime.reset(ResetOptions(tools=TOOLS, state_dir=str(folder)))
    return runtime, step.events, None


def lines(data):
    return [msgspec.json.decode(line) for line in data.splitlines()]


def stops(log):
    return [event for event in log if event["type"] == "run-stop"]


class Facts:
    """What a client saw before the crash."""

    def __init__(self, events):
        self.closed = {event["turnId"]: event["status"] for event in stops(events) if "turnId" in event}
        self.accepted = [event["id"] for event in events if event["type"] == "user-message"]


def check(before, after, facts):
    """A journal (bytes) before and after recovery holds what was seen, whole and once, and all but the last turn is
    closed; return the number of recovered failures that the recovery added."""
    kept, log = before.split(b"\n")[:-1], lines(after)
    assert after.split(b"\n")[: len(kept)] == kept
    seen = project(tuple(map(judge, log)), Policies())
    assert [one.kind for one in seen.anomalies if one.kind != "truncated"] == []
    terminals = [event["turnId"] for event in stops(log) if "turnId" in event]
    assert len(terminals) == len(set(terminals))
    for turn, status in facts.closed.items():
        assert [event["status"] for event in stops(log) if event.get("turnId") == turn] == [status]
    ids = Counter(event.get("id") for event in log if event["type"] == "user-message")
    assert all(ids[name] == 1 for name in facts.accepted)
    return len([event for event in stops(log)[len(stops(lines(b"\n".join([*kept, b""])))) :] if event.get("recovered")])


def goes_on(runtime):
    """After a recovery, waiting messages are served, and the next one too; no call of an earlier turn is answered."""
    runtime.apply(User(id="next", text="next"))
    for _ in range(8):
        runtime.apply(TEXT)
        step = runtime.apply(STOP)
        if any(event["type"] == "tool-result" for event in step.events):
            return False
        if any(event["type"] == "run-stop" and event["turnId"] == "next" for event in step.events):
            return True
    return False


CHANGES = ("make_folder", "write", "append", "truncate", "rename", "sync")
FORK = multiprocessing.get_context("fork")


class Story:
    """The story on files in memory: their content after each stimulus."""

    def __init__(self):
        self.states, self.events, files = [], [], MemoryFiles()
        runtime, _, _ = opened(files)
        for stimulus in STORY:
            self.events += runtime.apply(stimulus).events
            self.states.append(dict(files.files))


@cache
def story():
    return Story()


def recovered_from(files):
    """The journal after recovery from *files*, and a runtime that goes on with it."""
    again = MemoryFiles(files)
    runtime, _, _ = opened(again)
    return again.files.get(JOURNAL, b""), runtime
