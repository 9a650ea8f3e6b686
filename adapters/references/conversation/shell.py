"""The shell: tells the pure core what happened, and performs what it asks for, in order, after it is saved.

Nothing here decides: that is the rows'. What a conversation waits for stands in ``requests``, ``runs`` and ``clock``;
whoever answers (a provider, a person, the harness) looks there.
"""

import contextlib
import json
import queue
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import to_builtins

from turncheck.model.core.stimuli import ToolCall
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.conversation import DEFAULTS, Input, calls, delay

from ..history import shown
from ..usable import usable
from .agents import Agent, Request, Run
from .clock import BACKOFF, Clock
from .core import NOTHING, Conversation, durable
from .store import Store
from .tools import Program

SPAWN: Final = "spawn_agent"
"""The tool that starts a sub-agent; its argument ``task`` is what the sub-agent is told."""
SUBMIT: Final = "submit_result"
"""The tool with which a sub-agent submits its ``result``; nobody else has it (BED-009c)."""
SUB_AGENT_SECONDS: Final = 600.0
"""After which a sub-agent is cancelled (BED-008g), on the virtual clock; the seed names no bound, and this one ends
what hangs long before a user's patience for background work does."""
RECENT: Final = 50
"""Events of the history that a client which joins is shown (BED-011c)."""

Client: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Hears ``{conversation, state, events}`` of every change; what it raises is its own."""


class Shell:
    """Conversations that share a store, a clock and tools.

    *tools* are what a user's conversation has: name → its command, or None where whoever drives the shell runs it.
    *deaf_model* and *deaf_tools* ignore a cancel. Raises what the store does.
    """

    def __init__(
        self,
        store: Store,
        tools: Mapping[str, Sequence[str] | None],
        *,
        directory: str = ".",
        tables: Mapping[str, Any] = DEFAULTS,
        deaf_model: bool = False,
        deaf_tools: bool = False,
    ) -> None:
        self.store, self.clock = store, Clock()
        self.agents: dict[str, Agent] = {}
        self.runs: list[Run] = []
        self.late: list[Request] = []
        self.clients: list[Client] = []
        self.events: list[dict[str, Any]] = []
        self.refused: str | None = None
        self._tools, self._directory, self._tables = tools, str(Path(directory).resolve()), tables
        self._deaf_model, self._deaf_tools = deaf_model, deaf_tools
        self._inbox: deque[tuple[str, str, Input]] = deque()
        self._arrived: queue.SimpleQueue[tuple[Run, str, int]] = queue.SimpleQueue()
        self._joining: Client | None = None
        for stored in store.load():
            agent = self.agents[stored.id] = Agent(Conversation(self._kind(stored.parent)), stored.directory)
            agent.core.restore(stored.saved, stored.log)
            self.tell(stored.id, "restart")

    # ---- what happens ----

    def tell(self, session: str, letter: str, told: Input = NOTHING) -> None:
        """Note that something happened; a cancel comes before all that is noted and not done (BED-005i, BED-005j)."""
        noted = (session, letter, told)
        if letter == "cancel":
            self._inbox.appendleft(noted)
        else:
            self._inbox.append(noted)

    def settle(self) -> None:
        """Step until nothing is left to do before something else happens."""
        while self._inbox:
            self._step(*self._inbox.popleft())

    def jump(self) -> None:
        """Settle without waiting for retries: time jumps over them."""
        self.settle()
        while (timer := self.clock.jump()) is not None:
            self.tell(timer.session, timer.letter, timer.told)
            self.settle()

    def advance(self, seconds: float) -> None:
        """Let time pass, and settle at each timer."""
        for timer in self.clock.advance(seconds):
            if timer.letter == "cancel":
                self.agents[timer.session].timed_out = True
            self.tell(timer.session, timer.letter, timer.told)
            self.settle()

    def arrivals(self, seconds: float | None = 0.0) -> bool:
        """Note what programs have returned, waiting for the first so long (None: for ever); whether there was any."""
        found = False
        with contextlib.suppress(queue.Empty):
            while True:
                run, output, code = self._arrived.get(timeout=0.0 if found else seconds)
                found = True
                self.returned(run, {"output": output} | ({"isError": True} if code else {}))
        return found

    def returned(self, run: Run, payload: Mapping[str, Any]) -> None:
        """Note that a call has its result; the rows know whether it is stale (BED-D2)."""
        self.runs = [one for one in self.runs if one is not run]
        self.tell(run.session, "tool-result", Input(answers=run.number, call=run.call, payload=payload))

    def requests(self) -> Iterator[Request]:
        """Every request that waits, those that ignore a cancel first."""
        yield from self.late
        yield from (agent.request for agent in self.agents.values() if agent.request is not None)

    def answered(self, request: Request) -> None:
        """Note that a request has its whole answer."""
        self.late = [one for one in self.late if one is not request]
        agent = self.agents[request.session]
        if agent.request is request:
            agent.request = None

    def join(self, session: str, client: Client) -> None:
        """Let a client hear of everything from now on; it is sent the state and the recent history first."""
        self._joining = client
        self.open(session)
        self.tell(session, "join")
        self.settle()

    def open(self, session: str) -> Agent:
        """The conversation of that name, a new one where there is none."""
        return self.agents.get(session) or self._create(session, None)

    def listed(self) -> list[str]:
        """The conversations that a user started (BED-009e)."""
        return [name for name, agent in self.agents.items() if agent.core.kind != "sub-agent"]

    def close(self) -> None:
        """End every program, without a word to the conversations; leave the store as it is."""
        for run in self.runs:
            if run.program is not None:
                run.program.kill()
        self.store.close()

    # ---- what is done ----

    def _step(self, session: str, letter: str, told: Input) -> None:
        agent = self.agents[session]
        outputs, events = agent.core.take(letter, told)
        for event in events:
            if event["type"] == "model-request":
                event["input"] = json.loads(json.dumps(to_builtins(shown(agent.core.log))))
        for output in outputs:
            self._perform(session, agent, output, events)
        if agent.parent is not None and any(event["type"] == "run-stop" for event in events):
            self._report(session, agent, agent.parent, events[-1])

    def _perform(self, session: str, agent: Agent, output: Output, events: list[dict[str, Any]]) -> None:
        match output.name, output.arguments:
            case "save", ():
                self.store.save(session, agent.core.saved(), durable(events))
                self._publish(session, agent, events)
            case "request", (number,):
                agent.request = Request(session, number, shown(agent.core.log))
            case "drop", _:
                if self._deaf_model and agent.request is not None:
                    self.late.append(agent.request)
                agent.request = None
                self.clock.drop(session)
            case "schedule", (number, attempt):
                self.clock.set(delay(attempt), session, BACKOFF, Input(answers=number))
            case "run", (number, first, others):
                slot = [call for call in calls(agent.core.log) if call["seq"] >= first]
                for call in slot[: 1 + max(others, 0)]:
                    self._begin(session, agent, number, call)
            case "kill", _:
                self._kill(session)
            case "refuse", (why,):
                self.refused = why
            case "welcome", () if self._joining is not None:
                self._send(self._joining, self._news(session, agent, durable(agent.core.log)[-RECENT:]))
                self.clients.append(self._joining)
                self._joining = None
            case _:
                pass  # what is only logged

    def _publish(self, session: str, agent: Agent, events: list[dict[str, Any]]) -> None:
        """Tell all clients, at once (BED-011a, BED-011b)."""
        named = {"sessionId": session} if session else {}
        self.events += [named | event for event in events]
        for client in self.clients:
            self._send(client, self._news(session, agent, events))

    def _news(self, session: str, agent: Agent, events: list[dict[str, Any]]) -> dict[str, Any]:
        return {"conversation": session, "state": agent.core.state, "events": events}

    def _send(self, client: Client, news: Mapping[str, Any]) -> None:
        with contextlib.suppress(Exception):  # what a client raises is its own
            client(news)

    # ---- calls ----

    def _begin(self, session: str, agent: Agent, number: int, call: Mapping[str, Any]) -> None:
        """Start a call, or answer at once why it cannot be: the model deals with it (BED-004f)."""
        name = call["tool"]
        arguments, why = usable(ToolCall(call_id=call["callId"], tool=name, arguments=call.get("arguments")))
        run = Run(session, number, call["seq"], call["callId"], name, arguments)
        user = agent.core.kind == "user"
        if why is not None:
            self._fail(run, why)
        elif name == SUBMIT and not user:
            agent.submitted = arguments.get("result")
            self.returned(run, {"output": "submitted"})
        elif name not in self._tools or (name == SPAWN and not user):
            self._fail(run, f"there is no tool {name!r} here")
        elif name == SPAWN:
            self.runs.append(run)
            self._spawn(run)
        else:
            self.runs.append(run)
            self._start(run, self._tools[name], agent.directory)

    def _fail(self, run: Run, why: str) -> None:
        self.returned(run, {"output": why, "isError": True})

    def _start(self, run: Run, command: Sequence[str] | None, directory: str) -> None:
        """Start a program in the conversation's directory (BED-010b); a tool without a command is another one's."""
        if command is None:
            return

        def ended(output: str, code: int) -> None:
            self._arrived.put((run, output, code))

        try:
            run.program = Program(command, json.dumps(run.arguments).encode(), directory, ended)
        except OSError as error:
            self._fail(run, f"{run.tool} cannot be started: {error}")

    def _kill(self, session: str) -> None:
        """End what runs for a conversation, sub-agents too, now."""
        for run in [one for one in self.runs if one.session == session]:
            if run.program is not None:
                run.program.kill()
            if self._deaf_tools and run.program is None and run.tool != SPAWN:
                run.cancelled = True
            else:
                self.runs.remove(run)
            for name, agent in self.agents.items():
                if agent.parent is run:
                    self.tell(name, "cancel")

    # ---- sub-agents ----

    def _kind(self, parent: str | None) -> dict[str, Any]:
        return {**self._tables, "kind": "user" if parent is None else "sub-agent"}

    def _create(self, session: str, parent: Run | None) -> Agent:
        directory = self._directory if parent is None else self.agents[parent.session].directory
        of = None if parent is None else parent.session
        self.store.create(session, of, directory)
        self.agents[session] = Agent(Conversation(self._kind(of)), directory, parent)
        return self.agents[session]

    def _spawn(self, run: Run) -> None:
        """Start a sub-agent: a conversation of its own, which knows its task and nothing else (BED-008a, BED-009a)."""
        name = f"{run.session}/{run.call}"
        self._create(name, run)
        self.clock.set(SUB_AGENT_SECONDS, name, "cancel", Input())
        self.tell(name, "user", Input(payload={"text": str(run.arguments.get("task", ""))}))

    def _report(self, session: str, agent: Agent, run: Run, stop: Mapping[str, Any]) -> None:
        """A sub-agent's run is over: the parent gets what was submitted, or why nothing was (BED-008c to BED-008g)."""
        agent.parent = None
        self.clock.drop(session)
        if agent.submitted is not None:
            self.returned(run, {"output": agent.submitted})
        elif agent.timed_out:
            self._fail(run, f"the sub-agent timed out after {SUB_AGENT_SECONDS:g} s")
        else:
            self._fail(run, f"the sub-agent ended without a result: {stop['reason']}")
