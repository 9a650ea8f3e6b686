"""The adapter that compacts its history when the user asks for it."""

from pathlib import Path

from python_client import Client, says, stops, user

RUNTIME = Path(__file__).with_name("compacting_runtime.py")
COMPACT = {"kind": "compact"}


def compacted(*stimuli):
    with Client.of(RUNTIME) as client:
        client.reset()
        return client.run(user("one"), says("hi"), stops(), COMPACT, *stimuli)


def test_what_a_compaction_asks_the_model_is_marked_in_the_log_and_where_it_is_awaited():
    asked = compacted()[-1]
    assert [(event["type"], event["purpose"]) for event in asked["events"]] == [("model-request", "compaction")]
    assert [(one["purpose"], one["tools"]) for one in asked["awaiting"]] == [("compaction", False)]


def test_the_next_request_shows_the_summary_alone_before_the_message():
    steps = compacted(says("they said hi"), stops(), user("two"))
    assert [one["text"] for one in steps[-1]["awaiting"][0]["input"]] == ["[summary] they said hi", "two"]


def test_a_compaction_that_is_aborted_is_no_longer_awaited_and_changes_nothing():
    steps = compacted({"kind": "abort"}, user("two"))
    assert (steps[-2]["awaiting"], len(steps[-1]["awaiting"][0]["input"])) == ([], 3)


def test_a_compaction_together_with_another_stimulus_is_no_stimulus():
    with Client.of(RUNTIME) as client:
        client.reset()
        told = client.ask("apply", stimulus={"kind": "together", "stimuli": [COMPACT, user("one")]})
    assert told["ok"] is False
