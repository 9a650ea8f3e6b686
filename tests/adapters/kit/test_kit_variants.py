"""Variants: one adapter, several profiles; hello names one, and the process is that one."""

import sys
from pathlib import Path

import pytest
from python_client import Client

HERE = Path(__file__).parent
COMMANDS = {
    "python": (sys.executable, str(HERE / "variant_runtime.py")),
    "javascript": ("node", str(HERE / "js" / "variant_runtime.mjs")),
}
NAMES = ["abort=api", "abort=task"]


@pytest.fixture(params=COMMANDS)
def client(request):
    """Every fact holds of both kits."""
    with Client(*COMMANDS[request.param]) as client:
        yield client


def test_hello_lists_them_and_tells_the_profile_of_the_first(client):
    answer = client.ask("hello", protocol=1)
    assert (answer["variants"], "abort" in answer["profile"]["capabilities"]) == (NAMES, True)


def test_hello_chooses_one_whose_policies_are_merged(client):
    policies = client.ask("hello", protocol=1, variant="abort=task")["profile"]["policies"]
    assert policies["abortEnds"] == "when-released"
    assert "busy" in policies


@pytest.mark.parametrize("name", NAMES)
def test_the_adapter_is_told_which_one_to_be(client, name):
    client.ask("hello", protocol=1, variant=name)
    assert client.reset()["events"] == [{"type": "native", "variant": name}]


def test_one_that_is_not_there_is_refused(client):
    answer = client.ask("hello", protocol=1, variant="durable")
    assert not answer["ok"]
    assert "this adapter has abort=api, abort=task" in answer["error"]["message"]
