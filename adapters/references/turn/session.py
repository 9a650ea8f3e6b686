"""One session: the machine ``turn`` in a shell that performs its outputs.

The shell decides nothing. It passes events to the machine, and performs its outputs in order: the log events of an
output are durable in the journal before anybody sees them (TM-3.4); ``run-stop`` is written at ``append`` and seen at
``finish``. After a disk error the session goes down as if its process had ended: the content of the journal counts.

``session.lock`` is held from open to close: only one process serves a session, also between turns and when it records
without the turn lock (TM-D2). ``turn.lock`` is held during a turn (TM-2.2, TM-2.7): a process that takes it, for
instance to copy the folder, sees no turn in progress.
"""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from filelock import Timeout
from msgspec import to_builtins

from turncheck.model.core.stimuli import ModelAwaited, Shown, ToolAwaited
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.turn import SPEC
from turncheck.model.machines.turn_log import OUTCOMES, refine

from .checks import REQUIRED, Tools, parsed, unfit
from .files import Files
from .journal import Journal
from .memory import Memory, Told
from .options import PLAIN, Options

TURN_BOUND: Final = "maxSecondsPerTurn"
TOOL_BOUND: Final = "maxSecondsPerTool"
_NOTHING: Final = Told()


class SessionBusyError(Exception):
    """Another process serves this session."""


class Session:
    """A session in *folder*, recovered (TM-7.1). *show* is called with each log event once, when it is durable.

    ``down`` is the reason why the session cannot go on, None while it can; a session that is down must be opened anew.
    Raises SessionBusyError, CorruptJournalError, OSError, and jsonschema.SchemaError for a tool with an invalid schema.
    """

    def __init__(
        self,
        files: Files,
        folder: Path,
        show: Callable[[dict[str, Any]], None],
        options: Options = PLAIN,
    ) -> None:
        self._files, self._folder, self._show, self._options = files, folder, show, options
        self._tools = Tools(options.tools)
        self._memory = Memory(options.queue)
        self._todo: deque[tuple[str, Told]] = deque()
        self._due: float | None = None
        self._tool_due: float | None = None
        self._bound = TURN_BOUND
        self._tokens = self._runs = 0
        self._loaded: tuple[Shown, ...] = ()
        self.now = 0.0
        self.down: str | None = None
        self.model: ModelAwaited | None = None
        self.tool: ToolAwaited | None = None
        self.repeated: Mapping[str, Any] | None = None
        """The terminal that answered the last inbound event, if its key was a repeated one (TM-D7)."""
        files.make_folder(folder)
        files.sync(folder.parent)
        self._session_lock, self._turn_lock = files.lock(folder / "session.lock"), files.lock(folder / "turn.lock")
        try:
            self._session_lock.acquire(timeout=0)
        except Timeout as error:
            raise SessionBusyError(f"another process serves the session in {folder}") from error
        try:
            self._journal = Journal(files, folder)
            for record in self._journal.load():
                self._memory.add(record)
            self._machine = self._crashed()
            self._recover()
        except BaseException:
            self.close()
            raise

    # ---- what happens ----

    @property
    def remaining(self) -> float | None:
        """Seconds until the time of the open turn or of its tool is up, None where neither is bounded."""
        due = self._next_due
        return None if due is None else due - self.now

    @property
    def _next_due(self) -> float | None:
        return min((one for one in (self._due, self._tool_due) if one is not None), default=None)

    def tell(self, symbol: str, told: Told = _NOTHING) -> None:
        """Pass an event to the machine, and perform outputs until the session is quiet."""
        self.repeated = None
        self._todo.append((symbol, told))
        try:
            while self._todo:
                self._take(*self._todo.popleft())
        except OSError as error:
            self._fall(error)

    def advance(self, seconds: float) -> None:
        """Let time pass; an open turn may time out, by its own bound or by its tool's, whichever is over first."""
        due = self._next_due
        self.now += seconds
        if due is not None and due <= self.now:
            self._bound = TURN_BOUND if due == self._due else TOOL_BOUND
            self.tell("timeout")

    def close(self) -> None:
        """Release the locks, so that the folder can be opened anew. A turn in progress is left as after a crash."""
        self._turn_lock.release()
        self._session_lock.release()

    # ---- what is asked for ----

    def _take(self, symbol: str, told: Told) -> None:
        if symbol == "model-stop":
            self._tokens += told.tokens
            told = replace(told, tokens=self._tokens)
        elif symbol == "call":
            told = replace(told, decision=self._decision(told))
        self._memory.told[self._memory.lines] = told
        self._machine.take(symbol, told, self._memory.lines)
        if symbol in {"model-stop", "model-failure", "timeout"}:
            self.model = None
        if symbol in {"tool-return", "tool-failure", "timeout"}:
            self.tool = self._tool_due = None
        events: list[dict[str, Any]] = []
        for output in self._machine.outputs:
            if output.name != "finish":  # written at ``append``
                events += self._told(output)
        self._write(events)
        for event in events:
            self._see(event)
        for output in self._machine.outputs:
            self._do(output)

    def _do(self, output: Output) -> None:  # noqa: PLR0912 - one case an output
        match output.name, output.arguments:
            case "check", (root,):
                self._begin(root)
            case "lock", _:
                self._lock()
            case "load", _:
                loaded = (*self._options.contracts, *self._options.memory_pointers, self._options.objective)
                self._loaded = tuple(Shown(role="system", text=one) for one in loaded)
                self._answer("loaded")
            case "request", (number,):
                self.model = ModelAwaited(request_id=f"r{number}", input=self.context)
            case "approve", (at,):
                refused = self._tools.refusal(self._memory.told[at])
                if refused is None:
                    self._answer("approved")
                else:
                    self._answer("refused", Told(failure=refused[0], message=refused[1]))
            case "run", (at,):
                self._run(self._memory.told[at])
            case "respond", _:
                self._due = None
                self._answer("responded")
            case "append", (outcome,):
                self._write(self._told(Output("finish", (outcome,))))
            case "checkpoint", _:
                self._journal.settle(self._memory.lines, self._memory.turns)
                self._answer("recorded")
            case "release", _:
                self._turn_lock.release()
            case "finish", _:
                self._see(self._stop)
            case "repeat", (at,):
                self.repeated = self._memory.terminals.get(at, {"turnId": self._id(at), "status": None})
            case _:
                pass

    def _begin(self, root: int) -> None:
        self._tokens, self._bound = 0, TURN_BOUND
        self._due = None if self._options.max_seconds is None else self.now + self._options.max_seconds
        wrong = unfit(self._memory.told[root], self._options.max_text)
        self._answer("valid" if wrong is None else "invalid")

    def _lock(self) -> None:
        try:
            self._turn_lock.acquire(timeout=self._options.lock_seconds)
        except Timeout:
            self._answer("timeout")
        else:
            self._answer("locked")

    def _decision(self, call: Told) -> str:
        """Apply the policy to a call that the model proposes (TM-2.4)."""
        root = self._memory.told[self._machine.context.registers["turn"]]
        return self._options.policy.decision(call.tool or "", root.identity["chatId"])

    def _run(self, call: Told) -> None:
        self._runs += 1
        self.tool = ToolAwaited(
            call_id=call.call_id or "",
            execution=f"e{self._runs}",
            tool=call.tool,
            arguments=parsed(call.arguments),
        )
        bound = self._options.max_tool_seconds
        self._tool_due = None if bound is None else self.now + bound

    def _answer(self, symbol: str, told: Told = _NOTHING) -> None:
        self._todo.append((symbol, told))

    # ---- the journal ----

    @property
    def context(self) -> tuple[Shown, ...]:
        """Return the model's context: what a turn loads, and the messages so far (TM-2.3)."""
        return (*self._loaded, *self._memory.history)

    def _told(self, output: Output) -> list[dict[str, Any]]:
        """Return the log events of an output, with the turn's fields."""
        return [event | self._more(event, output) for event in refine([output], self._memory.told)]

    def _more(self, event: Mapping[str, Any], output: Output) -> dict[str, Any]:
        if event["type"] == "user-message":
            message = self._memory.told[output.arguments[0]]
            return _given(turn=dict(message.identity), sender=message.sender)
        more = _given(turnId=self._id(self._machine.context.registers["turn"]))
        if event["type"] == "run-stop":
            (name,) = output.arguments
            end = OUTCOMES[name]
            why = end.reason and end.reason.format(bound=self._bound)
            more |= _given(status=end.status, failure=end.failure, why=why, nextAction=end.next_action)
            more |= _given(recovered=name == "recovered" or None)
        return more

    def _write(self, events: Sequence[dict[str, Any]]) -> None:
        if not events:
            return
        self._journal.append(events)
        for event in events:
            self._memory.add(event)
        if events[-1]["type"] == "run-stop":
            self._stop = events[-1]

    def _see(self, event: dict[str, Any]) -> None:
        if event["type"] == "model-request":  # the journal has the model's context already
            event = event | {"input": to_builtins(list(self.context))}
        self._show(event)

    def _id(self, root: int) -> Any:
        return self._memory.told[root].identity.get(REQUIRED[0]) if root in self._memory.told else None

    # ---- the end of the process, and after ----

    def _fall(self, error: OSError) -> None:
        self._todo.clear()
        self._machine.take("crash")
        self._due = self._tool_due = self.model = self.tool = None
        self.down = f"the session is down, nothing of this is recorded: {error}"
        self._show({"type": "fault", "message": self.down})
        self.close()

    def _crashed(self) -> Stepper:
        """Return a machine that is down, with the journal's content (TM-7.1)."""
        machine, memory = Stepper(SPEC, self._options.tables()), self._memory
        machine.state = "down"
        registers = machine.context.registers
        registers["keys"].update(memory.keys)
        registers["pending"].extend(memory.calls.values())
        registers["queue"].extend(memory.queue)
        if memory.root >= 0 and (memory.begun or self._journal.torn):
            registers["turn"] = memory.root
        elif memory.root >= 0:
            registers["queue"].appendleft(memory.root)
        return machine

    def _recover(self) -> None:
        """Close a turn that a crash left open, as a recovered failure; then go on with the next event."""
        if self._journal.torn and self._memory.root < 0:  # a turn of which not even the first line is whole (TM-D4)
            self._machine.context.registers["turn"] = self._memory.lines
            try:
                self._write([{"type": "user-message", "text": "", "turn": {}}])
            except OSError as error:
                self._fall(error)
                return
        self.tell("restart")


def _given(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}
