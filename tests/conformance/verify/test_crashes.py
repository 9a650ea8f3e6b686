"""A target that breaks: one failure, shrunk, saved and replayable, and the others are shrunk around it."""

import json

import jsonschema
import pytest

from turncheck.conformance.schemas.json_schemas import FOLDER
from turncheck.conformance.verify.outcome.results import UNDECIDED

ADAPTER = """
import os
from turncheck_kit import Adapter

class Fragile(Adapter):
    implementation = {"name": "fragile", "version": "1", "language": "python"}
    profile = {"roles": ["runtime"], "capabilities": [], "policies": {"busy": "reject", "retries": 0}}
    patience = 0.2

    def reset(self, env):
        self.env, self.active, self.sent = env, False, 0

    async def user(self, stimulus):
        self.sent += 1
        if self.sent == 3:
            BREAK
        if self.active:
            self.env.refuse("rejected", "busy")
            return
        self.active = True
        self.env.log({"type": "user-message", "id": stimulus["id"], "text": stimulus["text"]})
        async with self.env.model([]) as request:
            async for item in request:
                self.env.log({"type": "agent-output", "responseId": request.id, **item})
        self.active = False
        self.env.log({"type": "run-stop", "reason": "completed"})
        self.env.log({"type": "run-stop", "reason": "completed"})
"""


@pytest.fixture(scope="module", params=["os._exit(9)", 'raise KeyError("abort")'], ids=["dies", "raises"])
def broken(request, invoke, tmp_path_factory):
    folder = tmp_path_factory.mktemp("broken")
    (folder / "mine.py").write_text(ADAPTER.replace("BREAK", request.param))
    ran = invoke(folder, "verify", "python:mine:Fragile", "--examples", "0", "--json")
    return folder, ran, json.loads(ran.out)


def test_the_case_on_which_it_breaks_is_shrunk_and_saved(broken):
    folder, _, result = broken
    found = json.loads((folder / result["crash"]["counterexample"]).read_text())
    assert {one["kind"] for one in found["word"]["stimuli"]} == {"user"}


def test_it_stands_before_the_laws_in_the_json_with_its_word_and_its_exit(broken):
    folder, _, result = broken
    crash, file = result["crash"], json.loads((folder / result["crash"]["counterexample"]).read_text())
    assert (crash["message"], crash["word"]) == (file["message"], file["word"])
    assert crash.get("exit") == (9 if "exit code 9" in crash["message"] else None)
    assert list(result).index("crash") < list(result).index("laws")


def test_how_it_breaks_is_said_once(broken):
    _, _, result = broken
    assert {law["why"] for law in result["laws"] if law["verdict"] == "error"} == {UNDECIDED}


def test_the_json_fits_its_schema(broken):
    jsonschema.validate(broken[2], json.loads((FOLDER / "verify.json").read_text()))


def test_a_law_that_was_broken_before_is_shrunk_all_the_same(broken):
    folder, ran, result = broken
    law = next(law for law in result["laws"] if law["law"] == "run-ends-once")
    found = json.loads((folder / law["counterexample"]).read_text())
    assert (ran.code, law["verdict"]) == (1, "fail")
    assert [one["kind"] for one in found["word"]["stimuli"]] == ["user"]


def test_it_comes_first_in_the_text(broken, invoke):
    folder, _, _ = broken
    out = invoke(folder, "verify", "python:mine:Fragile", "--examples", "0").out
    assert out.index("✗ target-breaks: ") < out.index("✗ run-ends-once")
    assert out.index("target-breaks.json") < out.index("run-ends-once")


def test_it_is_replayed_and_fixed_after_a_mend(broken, invoke):
    folder, _, result = broken
    file = result["crash"]["counterexample"]
    assert invoke(folder, "replay", "--run", file).out.splitlines()[-1].startswith("STILL FAILS: ")
    text = (folder / "mine.py").read_text()
    (folder / "mine.py").write_text(text.replace("os._exit(9)", "pass").replace('raise KeyError("abort")', "pass"))
    try:
        ran = invoke(folder, "replay", "--run", file)
    finally:
        (folder / "mine.py").write_text(text)
    assert ran.out.splitlines()[-1] == "FIXED: python:mine:Fragile does not break"
