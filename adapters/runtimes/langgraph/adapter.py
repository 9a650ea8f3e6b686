# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""LangGraph under test, driven as its documentation drives it (protocol: docs/protocol.md#runtimes).

LangChain's ``create_agent`` on LangGraph with a checkpointer, a thread for each session, and
``astream_events(version="v2")`` read to its end. The runtime's defaults stand: no retries, parallel tools, and a tool
that raises ends the run (arguments that fail validation don't: they are an output for the model).

- *Items.* A text or reasoning is logged as it streams. A call is logged when its message is whole, since only then the
  call has an end; later items of that message wait with it. Its arguments are logged as the runtime parsed them: it
  completes arguments that were cut off.
- *Results* are the ToolMessages in the updates that the graph streams, also those of unknown tools and of arguments
  that could not be parsed. A tool that raises has none: ``on_tool_error`` is its result, since the run ends with it.
- *Terminals.* There is no terminal event: a raised exception is an error, a plain end is completed.
- *Abort* cancels the task that reads the events: there is no other cancel.
- *Busy.* The runtime doesn't guard a thread: of two runs the one that ends last overwrites the other's answer. It has
  neither steering nor a queue, so that the caller must hold back a second message: this adapter rejects it.
- *Persistence* is the file of the ``SqliteSaver``, without a ``stateDir`` an ``InMemorySaver``. A restart resumes
  nothing by itself: a message starts the graph anew, on the thread's last checkpoint. The saver's methods are called
  in the event loop: ``AsyncSqliteSaver`` hands them to a thread that waits at a SimpleQueue, unseen by the kit.
- *Approvals* are the ``HumanInTheLoopMiddleware``, one interrupt for each response (``batched``, its default): no call
  of that response is executed before all are decided. The thread's checkpoint holds the interrupt, so that a restart
  asks on. The runtime cannot give a pause up: a run that is stopped there leaves its calls as they are.
- *Sub-agents* are agents that are called in a tool (``sub_agents``).
- *Threads.* Around each of a middleware's calls LangSmith sets up a trace, in a thread, also where tracing is off, so
  that parallel tools would start in the order in which threads end. ``set_runtime_overrides`` has it done in the loop.
- *Observer*: a callback handler for all events, as ``config["callbacks"]`` takes it; a slow one slows the reader too.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

os.environ["LANGSMITH_TRACING_V2"] = "false"  # before the import: traces are sent over the network

import langsmith
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command
from scripted import Observer, store_in
from sub_agents import DEPTH, agent_of
from turncheck_kit import Adapter, Environment, serve
from voice import Voice

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextvars import Context

ROUNDS = 5000  # by create_agent's recursion limit of 9,999 (langchain/agents/factory.py): two steps per round
THREAD = "thread"  # of the session without a name


async def in_the_loop(_: Any, context: Context, work: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
    """Do LangSmith's work here, and in no thread."""
    return context.run(work, *given, **named)


class Chat:
    """One session: a thread of its own agent, and the run under way."""

    def __init__(self, env: Environment, session: str | None, numbers: Iterator[int]) -> None:
        self.env, self.session = env, session
        declared = env.options.get("tools") or []
        self.gated = {tool["name"] for tool in declared if tool.get("needs") == "approval"}
        asks = {name: {"allowed_decisions": ["approve", "reject"]} for name in self.gated}
        middleware = [HumanInTheLoopMiddleware(interrupt_on=asks)] if asks else []
        state = env.options.get("stateDir")
        self.store = store_in(state) if state else None
        saver = self.store or InMemorySaver()
        self.voice = Voice(env, session)
        stored = self.store.count() if self.store else 0
        self.agent = agent_of(self.voice, numbers, stored, checkpointer=saver, middleware=middleware)
        self.thread: Any = {"configurable": {"thread_id": session or THREAD}}
        self.task: asyncio.Task[Any] | None = None

    async def run(self, text: str) -> None:
        """Run the agent on a message to the end of its events, again after each pause, and log how it ended."""
        await self._run({"messages": [{"role": "user", "content": text}]})

    async def go_on(self) -> None:
        """Ask on about the calls of a pause that an earlier process left, and run from there."""
        await self._run(None)

    async def _run(self, given: Any) -> None:
        self.task = asyncio.current_task()
        self.voice.begin()
        stop: dict[str, Any] = {"reason": "completed"}
        told = given is None
        try:
            if given is not None:
                await self._stream(given)
            while calls := await self.undecided():
                decided = await self._decided(calls, told=told)
                told = False
                await self._stream(decided)
        except asyncio.CancelledError:
            stop = {"reason": "interrupted"}
        except Exception as error:  # noqa: BLE001 - any error of the stream is the run's terminal
            stop = {"reason": "error", "detail": f"{type(error).__name__}: {error}"}
        self.task = None
        self.voice.stop(**stop)

    async def _stream(self, given: Any) -> None:
        """Run the graph on input or on decisions, to the end of its events."""
        config = self.thread | {"callbacks": [Observer(self.env)]}
        if limit := (self.env.options.get("limits") or {}).get("maxRounds"):
            config["recursion_limit"] = await self._steps(limit, given)
        async for event in self.agent.astream_events(given, config, version="v2"):
            self.voice.show(event)
            if self.env.options.get("observer") == "slow":
                await self.env.observe()

    async def _steps(self, limit: int, given: Any) -> int:
        """Return how many steps so many rounds take: the model's, the middleware's where there is one, and the tools'.

        The runtime counts anew after a pause, where the middleware and the tools of a round are still to come.
        """
        steps = 3 if self.gated else 2
        if not isinstance(given, Command):
            return steps * limit
        said = [isinstance(message, AIMessage) for message in await self._since_the_user()]
        return steps * (limit - sum(said)) + steps - 1

    async def _since_the_user(self) -> list[BaseMessage]:
        messages = (await self.agent.aget_state(self.thread)).values["messages"]
        last = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
        return messages[last + 1 :]

    async def undecided(self) -> list[Any]:
        """The calls that a pause waits for: those of the last response that need approval."""
        state = await self.agent.aget_state(self.thread)
        if not state.interrupts:
            return []
        return [call for call in state.values["messages"][-1].tool_calls if call["name"] in self.gated]

    async def _decided(self, calls: list[Any], *, told: bool) -> Command[Any]:
        """Ask about each call; *told* says that the log has the pause."""
        if not told:
            self.voice.log({"type": "run-pause", "calls": [call["id"] for call in calls]}, source="adapter")
        decisions = await asyncio.gather(*(self._decide(call) for call in calls))
        self.voice.log({"type": "run-resume"}, source="adapter")
        return Command(resume={"decisions": decisions})

    async def _decide(self, call: Any) -> dict[str, Any]:
        with contextlib.closing(self.env.decision(call["id"], session=self.session)) as decision:
            stimulus = await decision
        if stimulus["kind"] == "approve":
            return {"type": "approve"}
        self.voice.elsewhere.add(call["id"])
        return {"type": "reject"} | ({"message": stimulus["message"]} if stimulus.get("message") else {})


class LangGraph(Adapter):
    """The runtime: an agent and a thread for each session."""

    implementation: ClassVar[dict[str, Any]] = {
        "name": "langgraph",
        "version": version("langgraph"),
        "language": "python",
        "homepage": "https://docs.langchain.com/oss/python/langgraph",
    }
    profile: ClassVar[dict[str, Any]] = {
        "roles": ["runtime"],
        "capabilities": [
            *("abort", "tools", "tool-failure", "model-failure", "reasoning", "model-input", "raw-arguments"),
            *("call-ids", "sessions", "together", "limits", "observer", "deaf", "clock", "persistence"),
            *("store-faults", "approval", "sub-agents"),
        ],
        "policies": {
            "busy": "reject",
            "tools": "parallel",
            "abortEnds": "when-released",
            "retries": 0,
            "maxRounds": ROUNDS,
            "openTurnAfterRestart": "untold",
            "pauseAfterRestart": "kept",
            "storeFails": "error",
            "abortedResponse": "drop",  # a node that is cancelled or raises writes nothing
            "failedResponse": "drop",
            "itemOrder": "texts-first",  # an AIMessage holds its calls beside its content
            "resultOrder": "as-called",  # pregel/_algo.py: writes are applied in the order of the tasks' paths
            "failures": "marked",
            "adjacent": "apart",
            "maxResultCharacters": None,
            "subAgents": "awaited",
            "subAgentDepth": DEPTH,
            "subAgentMessages": "refused",
        },
    }

    async def reset(self, env: Environment) -> None:
        """New sessions, and those that wait for decisions."""
        self.env = env
        self.chats: dict[str | None, Chat] = {}
        self.numbers = itertools.count(1)
        if state := env.options.get("stateDir"):
            store = store_in(state)
            store.setup()
            for thread in store.threads():
                chat = self._chat({"sessionId": None if thread == THREAD else thread})
                if await chat.undecided():
                    env.start(chat.go_on())

    async def user(self, stimulus: dict[str, Any]) -> None:
        """Run the agent on a message; this task is the run."""
        chat = self._chat(stimulus)
        if stimulus.get("agentId") is not None:
            self.env.refuse("rejected", "an agent that is called in a tool has its input, and takes no messages")
        elif chat.task is not None:
            why = "unsupported" if stimulus.get("delivery") else "rejected"
            self.env.refuse(why, "a run of this thread is active; the runtime has no rule for a second one")
        else:
            chat.voice.log(
                {"type": "user-message", **{name: stimulus.get(name) for name in ("id", "text", "delivery")}}
            )
            await chat.run(stimulus["text"])

    async def abort(self, stimulus: dict[str, Any]) -> None:
        """Cancel the run at once."""
        if stimulus.get("agentId") is not None:
            self.env.refuse("rejected", "nobody but its caller has a hold of an agent that is called in a tool")
            return
        chat = self.chats.get(stimulus.get("sessionId"))
        if chat and chat.task:
            chat.task.cancel()

    async def store_fail(self, stimulus: dict[str, Any]) -> None:
        """Let the thread's next writes fail."""
        store = self._chat(stimulus).store
        if store is None:
            self.env.refuse("unsupported", "without a stateDir nothing is stored")
        else:
            store.failing += stimulus["times"]

    def _chat(self, stimulus: dict[str, Any]) -> Chat:
        session = stimulus.get("sessionId")
        return self.chats.get(session) or self.chats.setdefault(session, Chat(self.env, session, self.numbers))


if __name__ == "__main__":
    langsmith.set_runtime_overrides(aio_to_thread=in_the_loop)
    serve(LangGraph())
