"""The adapters that start sub-agents, on both kits: their events name them."""

import shutil
from pathlib import Path

import pytest
from python_client import Client, stops, user

from turncheck.adapters.targets.registry import open_runtime
from turncheck.conformance.laws.registry import selected
from turncheck.conformance.verify.verification import verify_runtime

HERE = Path(__file__).parent
RUNTIME = HERE / "delegating_runtime.py"
COMMANDS = {
    "python": f".venv/bin/python {RUNTIME}",
    "javascript": f"node {HERE / 'js' / 'delegating_runtime.mjs'}",
}
DELEGATES = {
    "kind": "model-output",
    "item": {"kind": "tool-call", "callId": "c1", "tool": "delegate", "arguments": {"task": "look"}},
}


def begun(client):
    client.reset(tools=[{"name": "delegate", "needs": "agent"}])
    return client.run(user("one"), DELEGATES, stops("tool-use"))[-1]


def test_each_event_of_a_sub_agent_names_it_and_its_call():
    with Client.of(RUNTIME) as client:
        events = begun(client)["events"]
    assert [(event["agentId"], event["parentCallId"]) for event in events] == [("agent1", "c1")] * 2


def test_what_a_sub_agent_awaits_names_it():
    with Client.of(RUNTIME) as client:
        assert [one["agentId"] for one in begun(client)["awaiting"]] == ["agent1"]


def test_a_sub_agent_that_is_stopped_is_a_result_of_its_call():
    with Client.of(RUNTIME) as client:
        begun(client)
        (step,) = client.run({"kind": "abort", "agentId": "agent1"})
    assert [event["type"] for event in step["events"]] == ["run-stop", "tool-result", "model-request"]


def test_a_message_to_a_sub_agent_is_shown_in_its_next_request():
    with Client.of(RUNTIME) as client:
        begun(client)
        (told, asks) = client.run({**user("more"), "agentId": "agent1"}, stops("end-turn") | {"requestId": "r2"})
    assert [(event["type"], event["agentId"]) for event in told["events"]] == [("user-message", "agent1")]
    assert [entry["text"] for entry in asks["awaiting"][0]["input"]] == ["look", "more"]


def test_a_message_to_a_sub_agent_that_is_not_there_is_refused():
    with Client.of(RUNTIME) as client:
        begun(client)
        (step,) = client.run({**user("more"), "agentId": "agent9"})
    assert step["refused"]["why"] == "not-awaited"


def test_an_agent_of_a_runtime_without_any_is_unsupported():
    with Client.of(HERE / "null_runtime.py") as client:
        client.reset()
        (step,) = client.run({**user("one"), "agentId": "a"})
    assert step["refused"]["why"] == "unsupported"


@pytest.mark.parametrize("language", COMMANDS)
def test_an_adapter_with_sub_agents_breaks_no_law(language):
    if language == "javascript" and shutil.which("node") is None:
        pytest.skip("node is not there")
    laws = selected(["runtime"])
    with open_runtime(f"cmd:{COMMANDS[language]}", timeout=10) as runtime:
        result, counterexamples = verify_runtime(runtime, laws, words=5)
    assert counterexamples == {}
    skipped = {"child-messages-reach"} if language == "javascript" else set()
    held = {law.name for law in laws if "sub-agents" in law.needs and "persistence" not in law.needs}
    assert {one.law for one in result.laws if one.verdict == "pass"} & held == held - skipped
