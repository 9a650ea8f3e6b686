"""The adapter whose session has several runs at once: its events name them."""

from pathlib import Path

from python_client import Client, says, stops, user

RUNTIME = Path(__file__).with_name("concurrent_runtime.py")


def test_each_event_names_its_run():
    with Client.of(RUNTIME) as client:
        client.reset()
        steps = client.run(user("one"), user("two"), {**says("hi"), "requestId": "r2"}, {**stops(), "requestId": "r2"})
    assert [[event["runId"] for event in step["events"]] for step in steps] == [
        *(["run1", "run1"], ["run2", "run2"]),
        *(["run2"], ["run2"]),
    ]
