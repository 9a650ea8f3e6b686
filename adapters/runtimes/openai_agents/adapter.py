# ruff: noqa: INP001 - a script of an environment of its own, and of no package
"""OpenAI Agents under test, driven as its documentation drives it (protocol: docs/protocol.md#runtimes).

``@function_tool``, ``Runner.run_streamed`` with a ``SQLiteSession``, and ``stream_events()`` read to its end. The
runtime's defaults stand: ten turns, no retries, parallel tools, and a failed tool is an output for the model.

- *Items.* A text or reasoning is logged as it streams: raw events are how a chat shows it. A call is logged from its
  run item, which comes when the whole response was accepted; later items of that response wait with it.
- *Results* come as run items once the whole batch has ended; they don't say whether the tool failed.
- *Terminals.* The stream has none: a raised exception is an error; a plain end is completed where there is a final
  output, and interrupted where there is none.
- *Abort* is ``result.cancel()``, mode ``immediate``. The mode ``after_turn`` would let the model and its tools finish.
- *Busy.* The runtime doesn't guard a session: two runs of one interleave in its history, without notice. It has neither
  steering nor a queue, so that the caller must hold back a second message: this adapter rejects it.
- ``length`` is ``response.incomplete``, as in the Responses API.
- *Approvals* are ``needs_approval``: the stream ends with ``interruptions``, and the run goes on from ``to_state()``,
  in which each of them is approved or rejected. Who stops the run meanwhile drops its state.
- *Sub-agents* are agents as tools (``sub_agents``).
- *Observer*: all run hooks; a slow one slows the reader of the stream too.
- *Persistence* is the file of the SQLiteSession. It holds items, not runs: a restart reports nothing. A write fails
  where SQLite would: within the session's transaction, as on a full disk.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, ClassVar

os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"  # before the import: traces are sent over the network

from agents import Runner, RunResultStreaming
from scripted import Observer, ScriptedModel, Store, Voice
from sub_agents import DEPTH, Team
from turncheck_kit import Adapter, Environment, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agents import RunState

TURNS = 10  # the runtime's own default (agents/run_config.py, DEFAULT_MAX_TURNS)


class Chat:
    """One session: its history, and the run under way."""

    def __init__(self, env: Environment, session: str | None, numbers: Iterator[int]) -> None:
        self.env, self.session = env, session
        state = env.options.get("stateDir")
        self.history = Store(session or "default", f"{state}/sessions.db" if state else ":memory:")
        self.voice = Voice(env, session)
        self.team = Team(env, session, ScriptedModel(env, session, self.history.count()), numbers)
        self.agent = self.team.agent()
        self.result: RunResultStreaming | None = None
        self.paused: asyncio.Task[Any] | None = None

    async def run(self, text: str) -> None:
        """Run the agent to the end of its stream, again after each pause, and log how it ended."""
        given: str | RunState[Any] | None = text
        stop: dict[str, Any] = {"reason": "interrupted"}
        try:
            while given is not None:
                result = await self._stream(given)
                given = result.to_state() if result.interruptions else None
                if given is None:
                    stop = {"reason": "interrupted" if result.final_output is None else "completed"}
                elif not await self._decided(given, result.interruptions):
                    break
        except Exception as error:  # noqa: BLE001 - any error of the stream is the run's terminal
            stop = {"reason": "error", "detail": f"{type(error).__name__}: {error}"}
        self.result = None
        self.team.end()
        self.voice.stop(**stop)

    async def _stream(self, given: str | RunState[Any]) -> RunResultStreaming:
        """Run from a message, or from a state, to the end of the stream."""
        limit = (self.env.options.get("limits") or {}).get("maxRounds", TURNS)
        result = self.result = Runner.run_streamed(
            self.agent, given, session=self.history, max_turns=limit, hooks=Observer(self.env)
        )
        async for event in result.stream_events():
            self.voice.show(event)
            if self.env.options.get("observer") == "slow":
                await self.env.observe()
        return result

    async def _decided(self, state: RunState[Any], asked: list[Any]) -> bool:
        """Ask about each interruption, and put the decisions into *state*; return False where the run was stopped."""
        self.voice.log({"type": "run-pause", "calls": [item.call_id for item in asked]}, source="adapter")
        self.paused = asyncio.ensure_future(self._decide_all(state, asked))
        await asyncio.wait([self.paused])
        stopped, self.paused = self.paused.cancelled(), None
        if not stopped:
            self.voice.log({"type": "run-resume"}, source="adapter")
        return not stopped

    async def _decide_all(self, state: RunState[Any], asked: list[Any]) -> None:
        await asyncio.gather(*(self._decide(state, item) for item in asked))

    async def _decide(self, state: RunState[Any], item: Any) -> None:
        with contextlib.closing(self.env.decision(item.call_id, session=self.session)) as decision:
            stimulus = await decision
        if stimulus["kind"] == "approve":
            state.approve(item)
        else:
            state.reject(item, rejection_message=stimulus.get("message"))

    def stop(self) -> None:
        """Cancel the run, or give it up while it is paused."""
        if self.paused is not None:
            self.paused.cancel()
        elif self.result is not None:
            self.result.cancel()


class OpenAIAgents(Adapter):
    """The runtime: an agent and a history for each session."""

    implementation: ClassVar[dict[str, Any]] = {
        "name": "openai-agents",
        "version": version("openai-agents"),
        "language": "python",
        "homepage": "https://openai.github.io/openai-agents-python/",
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
            "abortEnds": "at-once",
            "retries": 0,
            "maxRounds": TURNS,
            "openTurnAfterRestart": "untold",
            "storeFails": "error",
            "abortedResponse": "drop-with-calls",  # run_loop.py saves the items of whole turns
            "failedResponse": "drop",
            "itemOrder": "as-said",
            "resultOrder": "as-called",  # tool_execution.py builds the results by going through tool_runs
            "failures": "own-words",  # tool.py: default_tool_error_function returns a fixed text
            "adjacent": "apart",
            "maxResultCharacters": None,
            "subAgents": "awaited",
            "subAgentDepth": DEPTH,
            "subAgentMessages": "refused",
        },
    }

    async def reset(self, env: Environment) -> None:
        """New sessions."""
        self.env = env
        self.chats: dict[str | None, Chat] = {}
        self.numbers = itertools.count(1)

    async def user(self, stimulus: dict[str, Any]) -> None:
        """Run the agent on a message; this task is the run."""
        chat = self._chat(stimulus)
        if stimulus.get("agentId") is not None:
            self.env.refuse("rejected", "an agent as a tool has its input, and takes no messages")
        elif chat.result is not None:
            why = "unsupported" if stimulus.get("delivery") else "rejected"
            self.env.refuse(why, "a run of this session is active; the runtime has no rule for a second one")
        else:
            chat.voice.log(
                {"type": "user-message", **{name: stimulus.get(name) for name in ("id", "text", "delivery")}}
            )
            await chat.run(stimulus["text"])

    async def abort(self, stimulus: dict[str, Any]) -> None:
        """Cancel the run at once."""
        if stimulus.get("agentId") is not None:
            self.env.refuse("rejected", "nobody but its caller has a hold of an agent as a tool")
        elif chat := self.chats.get(stimulus.get("sessionId")):
            chat.stop()

    async def store_fail(self, stimulus: dict[str, Any]) -> None:
        """Let the session's next writes fail."""
        self._chat(stimulus).history.failing += stimulus["times"]

    def _chat(self, stimulus: dict[str, Any]) -> Chat:
        session = stimulus.get("sessionId")
        return self.chats.get(session) or self.chats.setdefault(session, Chat(self.env, session, self.numbers))


if __name__ == "__main__":
    serve(OpenAIAgents())
