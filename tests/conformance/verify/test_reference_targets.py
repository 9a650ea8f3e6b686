"""The reference runtimes as targets: each conforms, on observed evidence for every law that its profile allows."""

import json

import pytest

from turncheck.adapters.references.registry import REFERENCES
from turncheck.model.machines.registry import MACHINES

WORDS = {"engine": "100"}
"""Generated words where 20 are too few: each law of each other reference has found its evidence by 20, the engine's
by 70."""


@pytest.fixture(scope="module", params=REFERENCES)
def verified(invoke, tmp_path_factory, request):
    folder = tmp_path_factory.mktemp(request.param)
    ran = invoke(folder, "verify", f"reference:{request.param}", "--examples", WORDS.get(request.param, "20"), "--json")
    return ran.code, json.loads(ran.out)


def test_it_breaks_no_law(verified):
    code, result = verified
    assert code == 0, result["laws"]


def test_every_law_that_is_not_skipped_has_observed_evidence(verified):
    _, result = verified
    judged = [law for law in result["laws"] if law["verdict"] != "skipped"]
    assert [law["law"] for law in judged if not law["evidence"]["observed"]] == []


def test_what_is_skipped_is_not_declared(verified):
    _, result = verified
    skipped = [law for law in result["laws"] if law["verdict"] == "skipped"]
    assert [law["law"] for law in skipped if not law["why"].startswith("not declared: ")] == []


def test_no_item_of_the_floor_is_missed(verified):
    _, result = verified
    assert [item for item in result["floor"] if not item["count"]] == []


def test_its_profile_names_its_machine(verified):
    _, result = verified
    assert result["profile"]["machine"] in MACHINES


def test_an_unknown_reference_is_refused_with_those_that_there_are(invoke, tmp_path):
    ran = invoke(tmp_path, "verify", "reference:nothing")
    assert ran.code == 2
    assert "turn, conversation, engine, event_flow" in ran.err
