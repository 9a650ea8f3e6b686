"""A real server: pydantic-ai 2.68.0 behind AG-UI, in an environment of its own, which `make runtimes` makes."""

import os
import subprocess
from pathlib import Path

import pytest
from serving import SECRET, free_port
from words import CALLED, ONE, STOP, TOOLS, TWO, call, events, kinds, say

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.targets.http.options import worker_command
from turncheck.adapters.targets.remote_runtime import RemoteRuntime
from turncheck.adapters.targets.runtime_catalog import SERVER
from turncheck.model.core.stimuli import Abort, ModelFail, ModelOutput, Reasoning, Shown, ToolCall, ToolReturn

SCRIPT = Path(__file__).parents[4] / "adapters/runtimes/pydantic_ai_server/server.py"


@pytest.fixture(scope="module")
def served():
    port, model_port = free_port(), free_port()
    assert SERVER.made, "the server's environment is missing: make runtimes"
    command = [*SERVER.command(SCRIPT)[0], str(port)]
    environment = os.environ | {"OPENAI_BASE_URL": f"http://127.0.0.1:{model_port}/{SECRET}/v1"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        assert any("running on" in line for line in server.stderr)
        target = f"http://127.0.0.1:{port}/#model-port={model_port}"
        with RemoteRuntime(Connection(target, command=worker_command(target), timeout=20)) as runtime:
            yield runtime
        server.kill()


@pytest.fixture
def server(served):
    served.reset(TOOLS)
    return served


def test_a_text_is_one_item(server):
    assert events(server.run([ONE, say("hello"), STOP]))[2:] == [
        {"type": "agent-output", "kind": "assistant", "text": "hello", "responseId": "r1"},
        {"type": "run-stop", "reason": "completed", "detail": "success"},
    ]


def test_reasoning_is_an_item(server):
    steps = server.run([ONE, ModelOutput(item=Reasoning(text="hm")), say("hello"), STOP])
    assert [event.get("kind") for event in events(steps)[2:]] == ["reasoning", "assistant", None]


def test_its_own_tool_is_run_by_itself(server):
    clock = ModelOutput(item=ToolCall(call_id="c1", tool="clock"))
    assert kinds(server.run([ONE, clock, CALLED])[-1:]) == ["agent-output", "tool-result", "model-request"]


def test_a_client_tool_is_answered_in_the_next_run(server):
    step = server.run([ONE, call("c1", {"path": "a"}), CALLED, ToolReturn(call_id="c1", output="alpha")])[-1]
    assert step.awaiting[0].input[-1] == Shown("tool", "alpha", call_id="c1")


def test_a_retryable_failure_is_retried_twice(server):
    steps = server.run([ONE, *[ModelFail(failure="retryable")] * 3])
    assert kinds(steps) == ["user-message", *["model-request"] * 3, "run-stop"]


def test_a_stream_that_breaks_ends_the_run_as_an_error(server):
    steps = server.run([ONE, say("hel"), ModelFail(failure="stream")])
    assert [event.get("text") or event["reason"] for event in steps[-1].events] == ["hel", "error"]


def test_an_abort_frees_the_model_and_the_thread(server):
    steps = server.run([ONE, say("hel"), Abort(), TWO])
    assert (steps[2].awaiting, len(steps[3].awaiting)) == ((), 1)


def test_the_same_word_gives_the_same_steps(server):
    word = [ONE, say("so"), call("c1"), CALLED, ToolReturn(call_id="c1", output="x"), say("y"), Abort(), TWO]
    first = server.run(word)
    for _ in range(5):
        server.reset(TOOLS)
        assert server.run(word) == first
