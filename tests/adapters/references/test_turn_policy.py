"""The policy of a turn: data that decides on the calls that the model proposes, and doubles that break its law."""

from collections import Counter
from dataclasses import replace

import pytest

from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.references.turn import Policy, TurnRuntime
from turncheck.adapters.references.turn import session as session_module
from turncheck.adapters.references.turn.checks import Tools
from turncheck.model.core.stimuli import (
    ModelAwaited,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Text,
    ToolAwaited,
    ToolCall,
    ToolReturn,
    User,
)
from turncheck.model.machines.turn import SPEC

TOOLS = tuple({"name": name} for name in ("read", "deploy", "drop"))
RULES = (
    {"tool": "deploy", "chat": "trusted", "decision": "allow"},
    {"tool": "deploy", "decision": "deny-call"},
    {"tool": "drop*", "decision": "deny-turn"},
)
BATCHES = (["read"], ["deploy"], ["drop"], ["read", "deploy"], ["deploy", "read"], ["read", "drop"], ["drop", "read"])


# ---- the data ----


@pytest.mark.parametrize(
    ("tool", "chat", "decision"),
    [
        ("read", "main", "allow"),
        ("deploy", "main", "deny-call"),
        ("deploy", "trusted", "allow"),
        ("drop_all", "trusted", "deny-turn"),
        ("Drop", "main", "allow"),
    ],
)
def test_the_first_rule_that_fits_decides_and_what_none_fits_is_allowed(tool, chat, decision):
    """TM-2.4."""
    assert Policy(RULES).decision(tool, chat) == decision


@pytest.mark.parametrize(
    "rules", [None, "deploy", {"deploy": "deny-call"}, [{"tool": "deploy"}], [{"tools": "x", "decision": "allow"}]]
)
def test_a_policy_that_is_no_list_of_rules_is_refused_before_anything_runs(rules):
    """A policy that was not understood would deny nothing."""
    with pytest.raises(TargetError, match="the policy is no list of"):
        TurnRuntime().reset(ResetOptions(policies={"toolPolicy": rules}))


def test_a_policy_that_asks_is_refused_and_told_who_asks():
    with pytest.raises(TargetError, match="ask is not a turn's, but the machine interaction's"):
        TurnRuntime().reset(ResetOptions(policies={"toolPolicy": [{"decision": "ask"}]}))


# ---- the law ----


class Tried:
    """One batch of calls under RULES: what ran, and what became of the turn. Each tool that is awaited answers."""

    def __init__(self, tools, chat="main"):
        runtime = TurnRuntime()
        runtime.reset(ResetOptions(tools=TOOLS, policies={"toolPolicy": RULES}))
        self.calls = {f"c{at}": tool for at, tool in enumerate(tools)}
        proposed = [
            ModelOutput(item=ToolCall(call_id=name, tool=tool, arguments={})) for name, tool in self.calls.items()
        ]
        steps = [*runtime.run((User(id="u1", text="one", meta={"chatId": chat}), *proposed))]
        self.before = [event["type"] for step in steps for event in step.events]
        steps.append(runtime.apply(ModelStop(reason="tool-use")))
        self.ran = []
        while running := [one for one in steps[-1].awaiting if isinstance(one, ToolAwaited)]:
            self.ran.append(running[0].tool)
            steps.append(runtime.apply(ToolReturn(call_id=running[0].call_id, output="done")))
        self.goes_on = any(isinstance(one, ModelAwaited) for one in steps[-1].awaiting)
        events = [event for step in steps for event in step.events]
        self.results = [event for event in events if event["type"] == "tool-result"]
        self.stop = next((event for event in events if event["type"] == "run-stop"), None)
        runtime.close()


def faults(tried, chat="main"):
    """Return the sentences of TM-2.4 and TM-D1 that a batch breaks."""
    decided = {name: Policy(RULES).decision(tool, chat) for name, tool in tried.calls.items()}
    denied = "deny-turn" in decided.values()
    found = set()
    if any(tool not in tried.ran for tool in tried.calls.values() if not denied and tool == "read"):
        found.add("a call that is allowed runs")
    for name, decision in decided.items():
        if decision == "deny-call" and tried.calls[name] in tried.ran:
            found.add("a call that is denied does not run")
    if denied and tried.ran:
        found.add("no call of a denied turn runs")
    if denied != (tried.stop is not None and tried.stop["status"] == "denied"):
        found.add("a turn is denied where the policy denies the turn, and only there")
    if denied == tried.goes_on:
        found.add("the model is asked again unless the turn is denied")
    if Counter(event["callId"] for event in tried.results) != Counter([*tried.calls]):
        found.add("each call has one result")
    refused = {event["callId"] for event in tried.results if not event.get("synthetic") and event.get("isError")}
    if not denied and refused != {name for name, decision in decided.items() if decision == "deny-call"}:
        found.add("a denial of a call is its result")
    return found


@pytest.mark.parametrize("tools", BATCHES, ids="-".join)
def test_the_policy_decides_on_each_proposed_call(tools):
    """TM-2.4, TM-4.1, TM-D1."""
    assert faults(Tried(tools)) == set()


def test_a_chat_may_have_rules_of_its_own():
    assert Tried(["deploy"], chat="trusted").ran == ["deploy"]


def test_the_denied_turn_ends_when_the_response_is_whole_and_not_before():
    """TM-2.4: the path is chosen in decide, behind the inference."""
    assert Tried(["drop", "read"]).before == ["user-message", "model-request", "agent-output", "agent-output"]


def test_the_turn_behind_a_denied_one_is_served():
    runtime = TurnRuntime()
    runtime.reset(ResetOptions(tools=TOOLS, policies={"toolPolicy": RULES}))
    drop = ModelOutput(item=ToolCall(call_id="c1", tool="drop", arguments={}))
    text, stop = ModelOutput(item=Text(text="done.")), ModelStop(reason="end-turn")
    steps = runtime.run((User(id="u1", text="one"), User(id="u2", text="two"), drop, stop, text, stop))
    ends = [event["status"] for step in steps for event in step.events if event["type"] == "run-stop"]
    assert ends == ["denied", "completed"]


# ---- doubles that break it ----


def machine(event, dest, effects, given=lambda _: True):
    """The machine with another end of some rows of *event*."""
    rows = [[*row[:2], dest, *row[3:5], effects] if row[0] == event and given(row) else row for row in SPEC.table]
    return replace(SPEC, table=rows)


END = ["refuse_call", "forget_call", "skip", "forget_pending", "take_steers", "deny", "respond"]
EVERY = ("deny", "approve", ["no_denial", "take_call", "count_call", "approve"])
MACHINES = {
    "a denial of a call ends its turn": (
        machine("refused", "respond", END),
        "a turn is denied where the policy denies the turn, and only there",
    ),
    "a denied call is executed": (
        machine("refused", "execute", ["run"]),
        "a call that is denied does not run",
    ),
    "a denied turn goes on with the calls that are allowed": (
        machine("model-stop", *EVERY[1:], given=lambda row: "deny" in row[5]),
        "no call of a denied turn runs",
    ),
    "a denied turn leaves its calls without a result": (
        machine(
            "model-stop", "respond", ["forget_pending", "no_denial", "deny", "respond"], lambda row: "deny" in row[5]
        ),
        "each call has one result",
    ),
}


def broken():
    """Return the sentences that one of the batches breaks."""
    return set().union(*(faults(Tried(tools)) for tools in BATCHES))


@pytest.mark.parametrize("name", MACHINES)
def test_a_wrong_machine_breaks_it(name, monkeypatch):
    spec, sentence = MACHINES[name]
    monkeypatch.setattr(session_module, "SPEC", spec)
    assert sentence in broken()


def test_a_shell_that_asks_no_policy_before_a_call_runs_breaks_it(monkeypatch):
    monkeypatch.setattr(Tools, "refusal", lambda *_: None)
    assert "a call that is denied does not run" in broken()


def test_a_policy_that_takes_its_strictest_rule_for_the_turn_breaks_it(monkeypatch):
    """A denial of a call is then one of the turn."""
    mildly = Policy.decision

    def strictly(policy, tool, chat):
        decision = mildly(policy, tool, chat)
        return "deny-turn" if decision == "deny-call" else decision

    monkeypatch.setattr(
        session_module.Session, "_decision", lambda self, call: strictly(self._options.policy, call.tool, "main")
    )
    assert "a turn is denied where the policy denies the turn, and only there" in broken()


def test_a_policy_that_is_not_applied_in_decide_breaks_it(monkeypatch):
    """The denial of a turn is then found only at its call, or not at all."""
    monkeypatch.setattr(session_module.Session, "_decision", lambda *_: "allow")
    assert broken() >= {"no call of a denied turn runs", "the model is asked again unless the turn is denied"}


def test_a_policy_that_knows_more_tools_than_it_needs_is_right(monkeypatch):
    monkeypatch.setitem(globals(), "RULES", (*RULES, {"tool": "launch", "decision": "deny-turn"}))
    assert broken() == set()
