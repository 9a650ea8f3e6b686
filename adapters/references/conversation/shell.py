"""The shell: passes events to the pure core, and performs its outputs in order, after the new state is saved.

Nothing is decided here: the rows decide. ``requests``, ``runs`` and ``clock`` hold what conversations wait for;
whoever answers (a provider, a person, the harness) looks there.
"""

import contextlib
import json
import queue
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeAlias

from msgspec import to_builtins

from turncheck.model.core.stimuli import Item, ModelStop, ToolCall
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.conversation import BACKOFF, DEFAULTS, Input, calls

from ..history import shown
from ..provider.port import Answer, Failed, Provider, Question
from ..usable import usable
from .agents import Agent, Request, Run, of_agent
from .clock import RETRY_DUE, Clock
from .core import NOTHING, Conversation, durable
from .letters import letters
from .own_tools import SUBMIT, Declarations, offered, spawning
from .store import Store
from .tools import Program

SUB_AGENT_SECONDS: Final = 600.0
"""Seconds on the virtual clock after which a sub-agent is cancelled (BED-008g). The seed names no bound; this one ends
a sub-agent that hangs, long before a user loses patience with background work."""
RECENT: Final = 50
"""Number of past events sent to a client that joins (BED-011c)."""

_REQUEST: Final = ("requestId", "responseId")
"""Fields of an event that name a request."""

Client: TypeAlias = Callable[[Mapping[str, Any]], None]
"""Called with ``{conversation, state, events}`` at every change; errors that it raises are ignored."""


class Shell:
    """Conversations that share a store, a clock, tools and a model.

    *tools* are those of a user's conversation, by name; the shell's driver runs those without a ``command``, and
    answers requests where there is no *model*. *deaf_model* and *deaf_tools*: the driver's model or tools ignore a
    cancel. Errors of the store pass through.
    """

    def __init__(
        self,
        store: Store,
        tools: Declarations,
        *,
        model: Provider | None = None,
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
        self.spawns = spawning(tools)
        self._tools, self._directory, self._tables = tools, str(Path(directory).resolve()), tables
        self._model = model
        self._deaf_model, self._deaf_tools = deaf_model, deaf_tools
        self._inbox: deque[tuple[str, str, Input]] = deque()
        self._arrived: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._joining: tuple[Client, int | None] | None = None
        for stored in store.load():
            agent = self.agents[stored.id] = Agent(Conversation(self._kind(stored.parent)), stored.directory)
            agent.core.restore(stored.saved, stored.log)
        for session in reversed(self.agents):  # a sub-agent before its parent, as with a cancel (BED-D8)
            self.tell(session, "restart")

    # ---- what happens ----

    def tell(self, session: str, letter: str, told: Input = NOTHING) -> None:
        """Queue a letter for a conversation; a cancel goes before all that are queued (BED-005i, BED-005j)."""
        noted = (session, letter, told)
        if letter == "cancel":
            self._inbox.appendleft(noted)
        else:
            self._inbox.append(noted)

    def settle(self) -> None:
        """Take all queued letters, and those that follow from them."""
        while self._inbox:
            self._step(*self._inbox.popleft())

    def jump(self) -> None:
        """Settle without waiting for retries: their back-off timers fire at once."""
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
        """Note what programs and the model have answered; return if there was anything.

        Wait for the first answer at most *seconds* (None: for ever).
        """
        found = False
        with contextlib.suppress(queue.Empty):
            while True:
                note = self._arrived.get(timeout=0.0 if found else seconds)
                found = True
                note()
        return found

    def returned(self, run: Run, payload: Mapping[str, Any]) -> None:
        """Note that a call has its result; the rows know whether it is stale (BED-D2)."""
        self.runs = [one for one in self.runs if one is not run]
        self.tell(run.session, "tool-result", Input(answers=run.number, call=run.call, payload=payload))

    def requests(self) -> Iterator[Request]:
        """Every request that waits, those that ignore a cancel first."""
        yield from self.late
        yield from (agent.request for agent in self.agents.values() if agent.request is not None)

    def heard(self, request: Request, *said: Item | ModelStop | Failed) -> None:
        """Note what the model says to a request, which is over with a stop or a failure; the rows know a stale one."""
        if isinstance(said[-1], ModelStop | Failed):
            self.late = [one for one in self.late if one is not request]
            agent = self.agents[request.session]
            if agent.request is request:
                agent.request = None
        for one in said:
            for letter, told in letters(request.number, one, self.spawns):
                self.tell(request.session, letter, told)

    def join(self, session: str, client: Client, known: int | None = None) -> None:
        """Add a client: it is sent the state and the recent history first, then every change.

        One that has *known* so many events of the history is sent the rest of it instead.
        """
        self._joining = client, known
        self.open(session)
        self.tell(session, "join")
        self.settle()

    def open(self, session: str) -> Agent:
        """Return the conversation of that name, a new one where there is none."""
        return self.agents.get(session) or self._create(session, None)

    def listed(self) -> list[str]:
        """The conversations that a user started (BED-009e)."""
        return [name for name, agent in self.agents.items() if agent.core.kind != "sub-agent"]

    def close(self) -> None:
        """End every program and request without noting it in any conversation, and close the store."""
        for run in self.runs:
            if run.program is not None:
                run.program.kill()
        for request in self.requests():
            if request.call is not None:
                request.call.abort()
        self.store.close()

    # ---- what is done ----

    def _step(self, session: str, letter: str, told: Input) -> None:
        agent = self.agents[session]
        if letter == "cancel":
            self._cancel_children(session)
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
                agent.request = Request(session, number, shown(agent.core.log), agent=self.agent_id(session))
                self._ask(agent, agent.request)
            case "drop", _:
                self._abort(agent)
                self.clock.drop(session)
            case "schedule", (number, attempt):
                self.clock.set(BACKOFF.delay(attempt), session, RETRY_DUE, Input(answers=number))
            case "run", (number, first, others):
                slot = [call for call in calls(agent.core.log) if call["seq"] >= first]
                for call in slot[: 1 + max(others, 0)]:
                    self._begin(session, agent, number, call)
            case "kill", _:
                self._kill(session)
            case "refuse", (why,):
                self.refused = why
            case "welcome", () if self._joining is not None:
                client, known = self._joining
                log = durable(agent.core.log)
                news = self._news(session, agent, log[-RECENT:] if known is None else log[known:])
                self._send(client, {**news, "known": len(log)})
                self.clients.append(client)
                self._joining = None
            case _:
                pass  # these are only logged

    def _publish(self, session: str, agent: Agent, events: list[dict[str, Any]]) -> None:
        """Send the news to all clients at once (BED-011a, BED-011b)."""
        named = self._whose(session)
        for event in events:
            ids = {name: of_agent(named.get("agentId"), event[name]) for name in _REQUEST if name in event}
            self.events.append(named | event | ids)
        for client in self.clients:
            self._send(client, self._news(session, agent, events))

    def agent_id(self, session: str) -> str | None:
        """Return the name of a sub-agent's conversation, None for one that a user started."""
        return session if self.agents[session].core.kind == "sub-agent" else None

    def _whose(self, session: str) -> dict[str, str]:
        """Name a conversation in the log: a sub-agent by the call that started it, in the user's session."""
        if self.agent_id(session) is None:
            return {"sessionId": session} if session else {}
        parent, _, place = session.rpartition("/")
        call = next(
            one["callId"] for one in self.agents[parent].core.log if "callId" in one and one.get("seq") == int(place)
        )
        return self._whose(parent) | {"agentId": session, "parentCallId": call}

    def _news(self, session: str, agent: Agent, events: list[dict[str, Any]]) -> dict[str, Any]:
        return {"conversation": session, "state": agent.core.state, "events": events}

    def _send(self, client: Client, news: Mapping[str, Any]) -> None:
        with contextlib.suppress(Exception):  # a client's error must not stop the shell
            client(news)

    # ---- requests ----

    def _ask(self, agent: Agent, request: Request) -> None:
        """Send a request to the model; where there is none, the shell's driver answers."""
        if self._model is None:
            return

        def answered(answer: Answer) -> None:
            self._arrived.put(partial(self.heard, request, *answer.items, answer.end))

        tools = tuple(offered(self._tools, agent.core.kind).values())
        request.call = self._model.ask(Question(tuple(agent.core.log), agent.directory, tools), answered)

    def _abort(self, agent: Agent) -> None:
        """Abort the request in flight (BED-005a)."""
        request, agent.request = agent.request, None
        if request is not None and request.call is not None:
            request.call.abort()
        elif request is not None and self._deaf_model:
            self.late.append(request)

    # ---- calls ----

    def _begin(self, session: str, agent: Agent, number: int, call: Mapping[str, Any]) -> None:
        """Start a call; if that is impossible, answer at once with the reason, for the model to handle (BED-004f)."""
        name = call["tool"]
        arguments, why = usable(ToolCall(call_id=call["callId"], tool=name, arguments=call.get("arguments")))
        run = Run(session, number, call["seq"], call["callId"], name, arguments)
        tools = offered(self._tools, agent.core.kind)
        if why is not None:
            self._fail(run, why)
        elif name not in tools:
            self._fail(run, f"there is no tool {name!r} here")
        elif name == SUBMIT and agent.core.kind != "user":
            agent.submitted = arguments.get("result")
            self.returned(run, {"output": "submitted"})
        elif name in self.spawns:
            self.runs.append(run)
            self._spawn(run)
        else:
            self.runs.append(run)
            self._start(run, tools[name].get("command"), agent.directory)

    def _fail(self, run: Run, why: str) -> None:
        self.returned(run, {"output": why, "isError": True})

    def _start(self, run: Run, command: Sequence[str] | None, directory: str) -> None:
        """Start a program in the conversation's directory (BED-010b); the driver runs a tool without a command."""
        if command is None:
            return

        def ended(output: str, code: int) -> None:
            self._arrived.put(partial(self.returned, run, {"output": output} | ({"isError": True} if code else {})))

        try:
            run.program = Program(command, json.dumps(run.arguments).encode(), directory, ended)
        except OSError as error:
            self._fail(run, f"{run.tool} cannot be started: {error}")

    def _kill(self, session: str) -> None:
        """End all programs of a conversation now."""
        for run in [one for one in self.runs if one.session == session]:
            if run.program is not None:
                run.program.kill()
            if self._deaf_tools and run.program is None and run.tool not in self.spawns:
                run.cancelled = True
            else:
                self.runs.remove(run)

    # ---- sub-agents ----

    def _cancel_children(self, session: str) -> None:
        """Cancel the sub-agents of a conversation: each has ended when that does, and reports to nobody (BED-D8)."""
        for name, agent in [*self.agents.items()]:
            if agent.parent is not None and agent.parent.session == session:
                agent.parent = None
                self.clock.drop(name)
                self._step(name, "cancel", NOTHING)

    def _kind(self, parent: str | None) -> dict[str, Any]:
        return {**self._tables, "kind": "user" if parent is None else "sub-agent"}

    def _create(self, session: str, parent: Run | None) -> Agent:
        directory = self._directory if parent is None else self.agents[parent.session].directory
        of = None if parent is None else parent.session
        self.store.create(session, of, directory)
        self.agents[session] = Agent(Conversation(self._kind(of)), directory, parent)
        return self.agents[session]

    def _spawn(self, run: Run) -> None:
        """Start a sub-agent: a conversation of its own that knows only its task (BED-008a, BED-009a)."""
        name = f"{run.session}/{run.call}"
        self._create(name, run)
        self.clock.set(SUB_AGENT_SECONDS, name, "cancel", Input())
        self.tell(name, "user", Input(payload={"id": name, "text": str(run.arguments.get("task", ""))}))

    def _report(self, session: str, agent: Agent, run: Run, stop: Mapping[str, Any]) -> None:
        """End a sub-agent's run: the parent gets the submitted result, or why there is none (BED-008c to BED-008g)."""
        agent.parent = None
        self.clock.drop(session)
        if agent.submitted is not None:
            self.returned(run, {"output": agent.submitted})
        elif agent.timed_out:
            self._fail(run, f"the sub-agent timed out after {SUB_AGENT_SECONDS:g} s")
        else:
            self._fail(run, f"the sub-agent ended without a result: {stop['reason']}")
