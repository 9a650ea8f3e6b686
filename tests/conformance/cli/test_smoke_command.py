"""`turncheck smoke` from the outside: a conforming runtime lives, and each wrong adapter is told what to repair."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest
from inprocess import InProcess
from runtimes.right import Right, arranged

from turncheck.adapters.protocol.messages import RUNTIME_CAPABILITIES, Profile
from turncheck.conformance.smoke.capabilities import CAPABILITIES
from turncheck.conformance.smoke.life import Life
from turncheck.conformance.smoke.projector import PROJECTOR
from turncheck.conformance.smoke.stage import done, live

ROOT = Path(__file__).parents[3]
DOUBLES = Path(__file__).parents[1] / "doubles"


def tampering(fault):
    return "cmd:" + shlex.join([sys.executable, str(DOUBLES / "tampering.py"), fault])


@pytest.fixture
def smoke(invoke, tmp_path):
    """Exit code and outcomes, by step."""

    def smoke(target, *options):
        ran = invoke(tmp_path, "smoke", target, "--json", "--timeout", "20", *options)
        return ran.code, {outcome["step"]: outcome for outcome in map(json.loads, ran.out.splitlines())}

    return smoke


def failing(outcomes):
    return [(name, outcome["verdict"]) for name, outcome in outcomes.items() if outcome["verdict"] in {"fail", "error"}]


def test_a_conforming_runtime_has_every_step_that_it_declares(smoke):
    code, outcomes = smoke(tampering("behaves"))
    assert (code, failing(outcomes)) == (0, [])
    skipped = {outcome["message"] for outcome in outcomes.values() if outcome["verdict"] == "skipped"}
    assert skipped == {
        *("not declared: persistence", "not declared: persistence, store-faults"),
        *(
            "not declared: images",
            "not declared: usage",
            "not declared: usage, context-limit",
            "not declared: approval",
            "not declared: client-tools",
        ),
        "not declared: sub-agents",
        "not declared: compaction",
        "not declared: clients",
    }


@pytest.mark.parametrize(
    ("fault", "step", "told"),
    [
        ("has_no_role", "starts and says hello", "neither a projector nor a runtime"),
        ("is_of_another_time", "starts and says hello", "the implementation speaks protocol 2, not 1"),
        ("slips_in_its_capabilities", "says what it is and can", "declares unknown capabilities: folow-up"),
        ("slips_in_its_policies", "says what it is and can", "the policy busy has an unknown value"),
        ("waits_from_the_start", "starts empty", "a new runtime waits for something"),
        ("dies_at_the_first_message", "logs a message, and sends a request to the model", "no such adapter"),
        ("is_never_quiet", "logs a message, and sends a request to the model", "never gets quiet"),
        ("logs_no_message", "logs a message, and sends a request to the model", "this user-message is not in the log"),
        ("never_asks", "logs a message, and sends a request to the model", "no model is awaited"),
        ("logs_no_text", "logs the model's response", "this agent-output is not in the log"),
        ("logs_no_end", "ends its run", "no run-stop is logged"),
        ("logs_nonsense", "ends its run", "run-stop: reason is none of"),
        ("answers_what_nobody_asked", "refuses an answer that is not awaited", "this answer is not awaited"),
        ("loses_results", "executes a tool call", "this tool-result is not in the log"),
        ("mixes_up_arguments", "executes a tool call", "the executed call is not the model's"),
        ("cannot_be_steered", "is steered", "refused, unsupported: no"),
        ("sees_nothing", "shows the model's input", "the awaited model lacks its input"),
    ],
)
def test_a_broken_adapter_is_told_what_to_repair(smoke, fault, step, told):
    code, outcomes = smoke(tampering(fault))
    assert (code, failing(outcomes)[:1]) == (2, [(step, "error")])
    assert told in outcomes[step]["message"]


@pytest.mark.parametrize(
    ("fault", "step", "told"),
    [
        ("asks_twice", "logs a message, and sends a request to the model", "several models are awaited in one session"),
        ("is_too_busy", "takes the next message", "refused, rejected: no"),
        ("counts_its_steps", "answers the same word in the same way", "answered in another way the second time"),
        ("interrupts_nothing", "ends at an abort", "the log projects to other runs"),
        ("says_that_it_can_persist", "remembers after a crash", "the conversation before the crash is forgotten"),
    ],
)
def test_a_broken_implementation_is_told_from_a_broken_adapter(smoke, fault, step, told):
    code, outcomes = smoke(tampering(fault))
    assert (code, failing(outcomes)[:1]) == (1, [(step, "fail")])
    assert told in outcomes[step]["message"]


@pytest.mark.parametrize(
    ("fault", "ambiguous"), [("is_never_quiet", True), ("dies_at_the_first_message", True), ("never_asks", False)]
)
def test_an_adapter_that_hangs_or_dies_may_be_right_and_what_is_behind_it_broken(smoke, fault, ambiguous):
    _, outcomes = smoke(tampering(fault))
    assert outcomes["logs a message, and sends a request to the model"].get("ambiguous", False) is ambiguous


def test_what_is_not_declared_is_skipped_with_its_reason(smoke):
    code, outcomes = smoke(tampering("can_nothing"))
    assert (code, outcomes["is steered"]["message"]) == (0, "not declared: steer")


def test_a_failure_says_what_was_sent_what_was_expected_what_came_and_where_to_read(invoke, tmp_path):
    out = invoke(tmp_path, "smoke", tampering("never_asks")).out
    assert (
        "! logs a message, and sends a request to the model           the adapter is broken\n"
        "    no model is awaited: a request of the runtime has to wait for the harness's answer\n"
        '      sent: {"cmd":"apply","seq":0,"stimulus":{"kind":"user","id":"one","text":"one"}}\n'
        '      expected: "awaiting": [{"kind": "model", "requestId", "input"}]\n'
        '      came: {"events":[{"type":"user-message",'
    ) in out
    assert "\n      see: docs/protocol.md#apply, in turncheck's source\n" in out


def test_after_a_step_that_all_others_lean_on_the_rest_is_not_told(invoke, tmp_path):
    out = invoke(tmp_path, "smoke", tampering("never_asks")).out
    assert re.search(r"- \d+ more steps +they show nothing before this is repaired\n", out)


def test_the_log_of_an_adapter_that_dies_is_shown(invoke, tmp_path):
    ran = invoke(tmp_path, "smoke", tampering("dies_at_the_first_message"))
    assert "      stderr: \n        no such adapter\n" in ran.out


def test_whether_an_adapter_that_was_killed_would_have_ended_is_inconclusive(smoke, monkeypatch):
    monkeypatch.setattr("turncheck.conformance.smoke.walk.PATIENCE", 0.5)
    code, outcomes = smoke(tampering("stays"))
    assert (code, outcomes["ends when it is told to stop"]["verdict"]) == (0, "inconclusive")


class Drops(Right):  # type: ignore[misc]
    """What was cut is dropped, and a long result is cut; neither is declared."""

    def settle(self, kept):
        super().settle("drop")

    def shown(self):
        return arranged(self.history, self.policies | {"maxResultCharacters": 4000})


@pytest.mark.parametrize(
    ("runtime", "verdict", "told"),
    [
        (Right, "pass", ""),
        (
            Drops,
            "inconclusive",
            '"abortedResponse": "drop", "failedResponse": "drop", "maxResultCharacters": 4000',
        ),
    ],
)
def test_the_policies_on_a_history_that_are_seen_and_not_declared_are_proposed(runtime, verdict, told):
    stage = next(one for one in CAPABILITIES if one.name == "declares what it keeps in a history, and how")
    outcome = done(stage, Life(runtime()))
    assert (outcome.verdict, told in outcome.message) == (verdict, True)


def test_a_conforming_projector_lives(smoke):
    code, outcomes = smoke("reference")
    assert (code, failing(outcomes), len(outcomes)) == (0, [], 12)


def test_a_projector_that_is_wrong_is_shown_the_model_s_projection(smoke):
    code, outcomes = smoke("python:projectors.wrong:IgnoresPolicies")
    assert (code, failing(outcomes)) == (1, [("honours policies", "fail")])
    assert "the projection is not the model's\n  sent: [{" in outcomes["honours policies"]["message"]


@pytest.mark.parametrize(("view", "other"), [("steps", "rounds"), ("rounds", "steps")])
def test_a_projector_is_shown_no_view_that_it_does_not_declare(view, other):
    profile = Profile(("projector",), ("policies", view))
    outcomes = live(PROJECTOR, InProcess("projectors.wrong:IgnoresPolicies", profile), profile)
    told = next(outcome.message for outcome in outcomes if outcome.verdict == "fail")
    assert (f'"{view}":' in told, f'"{other}":' in told) == (True, False)


@pytest.mark.parametrize("target", ["nothing", "python:nothing", "cmd:"])
def test_what_is_no_target_is_a_usage_error(invoke, tmp_path, target):
    ran = invoke(tmp_path, "smoke", target)
    assert (ran.code, ran.out) == (2, "")
    assert f"no target {target!r}" in ran.err


def test_a_target_that_cannot_be_started_fails_the_first_step(smoke):
    code, outcomes = smoke("cmd:no-such-program")
    assert (code, failing(outcomes)) == (2, [("starts and says hello", "error")])


def test_every_capability_has_a_step():
    assert {need for stage in CAPABILITIES for need in stage.needs} == set(RUNTIME_CAPABILITIES)


def test_every_place_that_is_named_to_read_more_exists():
    sources = (ROOT / "conformance" / "smoke").glob("*.py")
    named = {place for path in sources for place in re.findall(r"docs/[\w.-]+(?:#[\w-]+)?", path.read_text())}
    headings = {}
    for name in {place.partition("#")[0] for place in named}:
        lines = (ROOT / name).read_text().splitlines()
        titles = [line.lstrip("# ").lower() for line in lines if line.startswith("#")]
        slugs = [re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in titles]  # as GitHub makes anchors
        headings[name] = {
            slug if slugs[:at].count(slug) == 0 else f"{slug}-{slugs[:at].count(slug)}" for at, slug in enumerate(slugs)
        }
    missing = [
        place for place in named if "#" in place and place.partition("#")[2] not in headings[place.partition("#")[0]]
    ]
    assert missing == []
