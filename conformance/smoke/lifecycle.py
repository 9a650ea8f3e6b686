"""The steps on decisions, sub-agents, compactions and clients: a run's life beyond its first turn."""

from functools import partial
from typing import Final

from turncheck.adapters.protocol.messages import (
    CHILD_MESSAGES_POLICY,
    CHILDREN_POLICY,
    DEPTH_POLICY,
    DISCONNECT_POLICY,
    encode,
)
from turncheck.model.core.stimuli import (
    ApprovalAwaited,
    Approve,
    Client,
    ClientResult,
    ClientToolAwaited,
    Compact,
    Decider,
    Deny,
    ModelAwaited,
    ModelOutput,
    ModelStop,
    ResetOptions,
    Stimulus,
    Text,
    ToolAwaited,
    ToolCall,
    User,
)

from ..generation.lifecycle.agent_words import DELEGATE, delegating
from ..observe.clients import alike
from .life import END, HELLO, TOOLS, Life
from .stage import Stage, Unseen

DECISIONS: Final = "docs/protocol.md#decisions"
AGENTS: Final = "docs/protocol.md#sub-agents"
CLIENTS: Final = "docs/protocol.md#clients"
COMPACTION: Final = "docs/protocol.md#compaction"
GIST_TEXT: Final = "they said hello"
GIST: Final = ModelOutput(item=Text(text=GIST_TEXT))


def _decided(kind: Decider, answer: Stimulus, life: Life, *, runs: bool) -> None:
    """The model calls a tool that needs *kind*; *answer* decides, and the run goes on."""
    life.begin(ResetOptions(tools=({**TOOLS[0], "needs": kind},)))
    life.call()
    wanted = ApprovalAwaited if kind == "approval" else ClientToolAwaited
    if [type(one) for one in life.step.awaiting] != [wanted]:
        name = "approval" if kind == "approval" else "client-tool"
        expected = f'"awaiting": [{{"kind": "{name}", "callId": "c1"}}] and no tool that runs'
        raise life.misbehaving(f"a call that needs {kind} has to wait for it, and nothing else", expected, DECISIONS)
    life.send(answer)
    if any(isinstance(one, ToolAwaited) for one in life.step.awaiting) != runs:
        raise life.misbehaving("only what is approved is executed", "a tool" if runs else "no tool", DECISIONS)
    life.ended("completed")
    life.logged(type="tool-result", callId="c1")


_CHILDREN: Final = (
    (CHILDREN_POLICY, '"awaited" or "detached"'),
    (CHILD_MESSAGES_POLICY, '"taken" or "refused"'),
    (DEPTH_POLICY, "how deep sub-agents call others, 1 where they call none"),
)


def _told(life: Life, agent: str | None) -> None:
    """Send a message to a sub-agent, and one to nobody: the first is its own, or refused, as the second is."""
    taken = life.apply(User(id="more", text="more", agent_id=agent)).refused is None
    if taken != bool(life.events(type="user-message", id="more", agentId=agent)):
        expected = f'{{"type": "user-message", "id": "more", "agentId": "{agent}"}}, or a refusal and no such event'
        raise life.misbehaving("a message to a sub-agent neither reaches it nor is refused", expected, AGENTS, life.log)
    if life.apply(User(id="nobody", text="to nobody", agent_id="nobody")).refused is None:
        raise life.misbehaving("a message to a sub-agent that never was is accepted", "a refusal", AGENTS)


def _child(life: Life) -> None:
    life.begin(delegating(ResetOptions(tools=TOOLS)))
    call = ModelOutput(item=ToolCall(call_id="c1", tool=DELEGATE, arguments={"task": "look"}))
    life.send(call, ModelStop(reason="tool-use"))
    name = life.logged(type="agent-output", kind="tool-call", tool=DELEGATE)["callId"]
    asking = [one for one in life.step.awaiting if isinstance(one, ModelAwaited) and one.agent_id is not None]
    if len(asking) != 1:
        expected = '"awaiting": [{"kind": "model", "requestId", "agentId"}]'
        raise life.broken("a call that needs an agent starts no sub-agent that asks the model", expected, AGENTS)
    request, agent = asking[0].request_id, asking[0].agent_id
    life.logged(type="user-message", agentId=agent, parentCallId=name)
    _told(life, agent)
    life.send(ModelOutput(item=Text(text="seen"), request_id=request), ModelStop(reason="end-turn", request_id=request))
    life.finish()
    life.logged(type="run-stop", agentId=agent, parentCallId=name)
    life.ended("completed")
    life.logged(type="tool-result", callId=name)
    for policy, values in _CHILDREN:
        if policy not in life.runtime.profile.policies:
            raise Unseen(f'declare in profile.policies "{policy}": {values}; see {AGENTS}')


def _compaction(life: Life) -> None:
    life.begin()
    life.ended("completed")
    life.send(Compact())
    waiting = [one for one in life.step.awaiting if isinstance(one, ModelAwaited)]
    if [one.purpose for one in waiting] != ["compaction"]:
        expected = '"awaiting": [{"kind": "model", "requestId", "purpose": "compaction"}]'
        raise life.misbehaving("a compaction has to ask the model for a summary", expected, COMPACTION)
    life.logged(type="model-request", requestId=waiting[0].request_id, purpose="compaction")
    life.send(GIST, END)
    if len(life.events(type="run-stop")) > 1:
        raise life.misbehaving("a compaction is no run, and has no end", "one run-stop", COMPACTION, life.log)
    life.user("two")
    if life.can("model-input") and not any(GIST_TEXT in text for text in life.shown):
        raise life.misbehaving("the model is not shown the summary", f'an "input" with {GIST_TEXT!r}', COMPACTION)
    life.ended("completed", 2)


def _clients(life: Life) -> None:
    """One client stays, one leaves and comes back, and one joins late: they show the same."""
    life.begin()
    stays, comes, late = (Client(client_id=name, action="join") for name in ("k1", "k2", "k3"))
    life.send(stays, comes, HELLO, Client(client_id="k2", action="leave"))
    life.finish()
    life.send(comes, late)
    views = life.clients.views
    if not views["k1"].events:
        raise life.broken("a client that is there is told nothing", '"clients": {"k1": [{"type": …}, …]}', CLIENTS)
    for name in ("k2", "k3"):
        found = alike(views[name], views["k1"])
        if not found.same:
            problem, shown = f"the client {name} does not show what k1 does", encode(found.other).decode()
            raise life.misbehaving(problem, shown, CLIENTS, found.one)
    if DISCONNECT_POLICY not in life.runtime.profile.policies:
        raise Unseen(f'declare in profile.policies "{DISCONNECT_POLICY}": "ignored" or "abort"; see {CLIENTS}')


LIFECYCLE: Final = (
    Stage(
        "asks before it executes what needs approval",
        partial(_decided, "approval", Approve(call_id="c1"), runs=True),
        needs=("tools", "approval"),
    ),
    Stage(
        "executes nothing that is denied",
        partial(_decided, "approval", Deny(call_id="c1", message="no"), runs=False),
        needs=("tools", "approval"),
    ),
    Stage(
        "waits for the client's result",
        partial(_decided, "client", ClientResult(call_id="c1", output="contents"), runs=False),
        needs=("tools", "client-tools"),
    ),
    Stage(
        "starts a sub-agent, which takes or refuses messages, and answers its call",
        _child,
        needs=("tools", "sub-agents"),
    ),
    Stage("compacts its history", _compaction, needs=("compaction",)),
    Stage("tells clients that come and go the same", _clients, needs=("clients",)),
)
"""Steps of the capabilities approval, client-tools, sub-agents, compaction and clients."""
