"""The adapter with several clients."""

from pathlib import Path

import pytest
from python_client import Client, says, stops, user

RUNTIME = Path(__file__).with_name("attended_runtime.py")


def joins(name, **more):
    return {"kind": "client", "clientId": name, "action": "join", **more}


def leaves(name):
    return {"kind": "client", "clientId": name, "action": "leave"}


def told(*stimuli):
    """What the clients are told in each step."""
    with Client.of(RUNTIME) as client:
        client.reset()
        return [step.get("clients", {}) for step in client.run(*stimuli)]


def test_each_client_that_is_there_is_told_what_happens():
    steps = told(joins("k1"), joins("k2"), user("one"), leaves("k1"), says("hi"))
    assert [sorted(step) for step in steps] == [[], [], ["k1", "k2"], [], ["k2"]]


def test_what_a_client_is_told_names_the_place_from_which_it_could_go_on():
    assert [one["cursor"] for one in told(joins("k1"), user("one"), says("hi"))[-1]["k1"]] == ["2"]


def test_who_comes_back_is_told_what_followed_its_cursor():
    steps = told(joins("k1"), user("one"), leaves("k1"), says("hi"), stops(), joins("k1", cursor="1"))
    assert [one["type"] for one in steps[-1]["k1"]] == ["agent-output", "run-stop"]


@pytest.mark.parametrize(
    "stimulus", [{"kind": "client", "action": "join"}, joins("k1", cursor=1)], ids=["id", "cursor"]
)
def test_a_client_without_a_name_or_with_a_number_for_its_cursor_is_no_stimulus(stimulus):
    with Client.of(RUNTIME) as client:
        client.reset()
        assert client.ask("apply", stimulus=stimulus)["ok"] is False
