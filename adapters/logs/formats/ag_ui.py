"""AG-UI: the event stream between an agent and its user interface, as JSON lines or SSE.

The user's messages are not in the stream: a run's start is its root, and a message that was enqueued during the run
stands where the model receives it. Responses have no ids; without them the core splits rounds at results and steers,
which is right here.
"""

import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from msgspec import Struct

from turncheck.model.core.events import (
    Delivery,
    Malformed,
    RunPause,
    RunResume,
    RunStop,
    StopReason,
    ToolResult,
    UserMessage,
)

from .ag_ui_items import Outputs
from .ag_ui_rules import Rules
from .dispatch import Dispatcher, ignore
from .fields import MisfitError, Object, maybe_text, record, records, text, user_message
from .items import Slot
from .mapping import Format, Rest

_REASONS: Final[Mapping[str | None, StopReason]] = {"cancelled": "interrupted"}
"""``outcome.type`` → stop reason; all others complete the run, but for an interrupt, which pauses it."""
_ENQUEUED: Final = "pydantic_ai_enqueued_messages"
_ROOTLESS: Final = UserMessage(text="", source="adapter")
"""The root of a run whose input is not repeated."""
_AMID_RESULTS: Final = {"TOOL_CALL_RESULT", "REASONING_ENCRYPTED_VALUE"}
_IGNORED: Final = (
    "REASONING_START",
    "REASONING_END",
    "STEP_STARTED",
    "STEP_FINISHED",
    "STATE_SNAPSHOT",
    "STATE_DELTA",
    "ACTIVITY_DELTA",
    "SUBAGENT_STARTED",
    "SUBAGENT_FINISHED",
    "SUBAGENT_ERROR",
    "RAW",
    "CUSTOM",
)


class Result(Struct, eq=False):
    """A tool's result, held until the lines after it have said how the tool fared."""

    slot: Slot
    call_id: str
    message_id: Any
    outcome: str = "success"

    def settle(self, *, last: bool) -> None:
        """Fill the slot. A failure that is *last* before the terminal ended the run: its result was made up."""
        failed = self.outcome in {"failed", "denied", "retried", "interrupted"}
        made_up = self.outcome == "interrupted" or (last and self.outcome == "failed")
        self.slot.event = ToolResult(call_id=self.call_id, is_error=failed or None, synthetic=made_up or None)


class AgUiMapper(Dispatcher):
    """Maps AG-UI events. The first run *may be resumed*: then it answers calls that an earlier log has.

    With *rules* the protocol's own rules are held too; the driver of live servers asks for what a turn needs alone.
    """

    def __init__(self, *, may_be_resumed: bool = True, rules: bool = True) -> None:
        super().__init__()
        self.outputs = Outputs(self.items, self._begin_user)
        self.rules = Rules()
        self._held = rules
        self.results: list[Result] = []  # not settled yet
        self._waiting: set[str] = set()  # calls that a run left to the client or to an approval
        self.paused = False  # the next run resumes the one before
        # Results of calls from before the log's beginning; None where none can come, as from its second run on.
        self._resumed: set[str] | None = set() if may_be_resumed else None
        self.handlers = {
            "RUN_STARTED": self.run_started,
            "RUN_FINISHED": self.run_finished,
            "RUN_ERROR": self._run_error,
            **self.outputs.handlers(),
            "TOOL_CALL_RESULT": self._tool_call_result,
            "REASONING_ENCRYPTED_VALUE": self._encrypted_value,
            "MESSAGES_SNAPSHOT": self._messages_snapshot,
            "ACTIVITY_SNAPSHOT": self._activity_snapshot,
            **dict.fromkeys(_IGNORED, ignore),
        }

    def take(self, at: int, name: str, event: Object) -> None:
        """Handle one event; first settle the results that it cannot change."""
        self.outputs.before(name)
        if name not in _AMID_RESULTS:
            self.settle_results(last=name in {"RUN_FINISHED", "RUN_ERROR"})
        defect = self._defect(name, event)
        if defect is not None:
            self.items.put(at, Malformed(f"{name}: {defect}"))
        try:
            super().take(at, name, event)
        except MisfitError:
            if defect is None:
                raise

    def _defect(self, name: str, event: Object) -> str | None:
        """Return what is wrong with an event by the protocol's own rules; what follows a terminal is wrong anyway."""
        if not self._held or name not in self.handlers:
            return None
        if self.running and name != "RUN_STARTED":
            return self.rules.inside(name, event, self.outputs.chunk)
        return None if self.over and name != "RUN_STARTED" else self.rules.outside(name, event)

    def finish(self) -> None:
        """Settle the results at the log's end."""
        self.settle_results(last=False)

    # Runs

    def run_started(self, at: int, event: Object) -> None:
        """Begin a run, or resume the one that is paused. Raises MisfitError."""
        if self.running:
            raise MisfitError("the run before has no terminal")
        resumes = self.paused and not _instead(event)
        if self.paused and not resumes:
            self._waiting |= self.outputs.unanswered
            self.items.put(at, RunStop(reason="completed", source="adapter"))
        self.items.put(at, RunResume() if resumes else _root(event))
        if self.over:
            self._resumed = None
        self.running, self.over, self.paused = True, False, False
        self.rules.begin_run(event)
        if resumes:
            self.outputs.given()
        else:
            self.outputs.begin_run()

    def run_finished(self, at: int, event: Object) -> None:
        """End the run, or pause it. Raises MisfitError."""
        outcome = None if event.get("outcome") is None else text(record(event, "outcome"), "type")
        self._refuse_paused()
        if outcome == "interrupt" and self.running:
            self.items.finish_all()
            self.items.put(at, RunPause())
            self.running, self.over, self.paused = False, True, True
            return
        reason: StopReason = _REASONS.get(outcome, "completed")
        if reason == "completed":
            self._waiting |= self.outputs.unanswered
        self.stop(at, RunStop(reason=reason, detail=outcome))

    def _run_error(self, at: int, event: Object) -> None:
        stop = RunStop(reason="error", detail=maybe_text(event, "message"))
        self._refuse_paused()
        if not self.running and not self.over:  # it failed before it could say that it started
            self.items.put(at, _root({}))
        self.stop(at, stop)

    def _refuse_paused(self) -> None:
        if self.paused:
            raise MisfitError("the run is paused")

    # The model's inputs

    def _tool_call_result(self, at: int, event: Object) -> None:
        call_id = text(event, "toolCallId")
        if self._is_resumed(call_id):
            self.outputs.given()
            return
        self.results.append(Result(self.items.hold(at), call_id, event.get("messageId")))
        self.outputs.unanswered.discard(call_id)
        self.outputs.given()

    def _is_resumed(self, call_id: str) -> bool:
        """Return whether a result answers a call of an earlier run, which waited for the client or for an approval.

        A log may begin with the resumed run: then the result stands before the run's first output.
        """
        if not self.running or call_id in self.outputs.calls:
            return False
        if call_id in self._waiting:
            self._waiting.remove(call_id)
            return True
        if self._resumed is None or not self.outputs.silent or call_id in self._resumed:
            return False
        self._resumed.add(call_id)
        return True

    def _encrypted_value(self, _at: int, event: Object) -> None:
        outcome = _outcome(event.get("encryptedValue"))
        for result in self.results:
            if outcome is not None and result.message_id == event.get("entityId"):
                result.outcome = outcome

    def settle_results(self, *, last: bool) -> None:
        """Settle what waits; *last* before a run's terminal."""
        for result in self.results:
            result.settle(last=last)
        self.results.clear()

    def _messages_snapshot(self, at: int, event: Object) -> None:
        """Put results found only here: a snapshot restates the conversation, but may hold the only answer to a call."""
        for message in records(event, "messages"):
            call_id = message.get("toolCallId")
            if message.get("role") == "tool" and isinstance(call_id, str) and call_id in self.outputs.unanswered:
                self.items.put(at, ToolResult(call_id=call_id))
                self.outputs.unanswered.discard(call_id)
                self.outputs.given()

    def _activity_snapshot(self, at: int, event: Object) -> None:
        if text(event, "activityType") != _ENQUEUED:
            return
        delivery = self._delivery()
        messages = [
            user_message(message, "content", delivery=delivery)
            for message in records(record(event, "content"), "messages")
            if message.get("role") == "user"
        ]
        for message in messages:
            self._bound(at, delivery)
            self.items.put(at, message)
        self.outputs.given()

    def _begin_user(self, at: int, key: Hashable, name: str) -> None:
        delivery = self._delivery()
        self._bound(at, delivery)
        self.items.begin(key, _Asked(name, delivery), at)
        self.outputs.given()

    def _delivery(self) -> Delivery | None:
        """The delivery of a message that the model receives now: after a response without calls, a follow-up."""
        if not self.running:
            return None
        return "followUp" if self.outputs.said and not self.outputs.called else "steer"

    def _bound(self, at: int, delivery: Delivery | None) -> None:
        """Put the stop that the runtime leaves out before a follow-up that it answers in the same run."""
        if delivery == "followUp":
            self.items.put(at, RunStop(reason="completed", source="adapter"))


@dataclass(frozen=True, slots=True)
class _Asked:
    """The builder of a user's message."""

    name: str
    delivery: Delivery | None

    def __call__(self, said: str) -> UserMessage:
        return UserMessage(text=said, id=self.name, delivery=self.delivery)


def _root(event: Object) -> UserMessage:
    """The root of a run: the last user message of its input, where the event repeats it."""
    if "input" not in event:
        return _ROOTLESS
    try:
        asked = [said for said in records(record(event, "input"), "messages") if said.get("role") == "user"]
        return user_message(asked[-1], "content", source="adapter")
    except (MisfitError, IndexError):
        return _ROOTLESS


def _instead(event: Object) -> bool:
    """Return whether a run's input says that it resumes none; an event that does not repeat its input says nothing."""
    return isinstance(event.get("input"), dict) and not record(event, "input").get("resume")


def _outcome(encrypted: object) -> str | None:
    """A tool's outcome, from the field ``encryptedValue``: pydantic-ai writes it there, unencrypted."""
    try:
        match json.loads(encrypted) if isinstance(encrypted, str) else None:
            case {"pydantic_ai": {"outcome": str(outcome)}}:
                return outcome
            case _:
                return None
    except (ValueError, RecursionError):
        return None


_TYPES: Final = frozenset(AgUiMapper().handlers)


def _recognises(value: Mapping[str, Any]) -> bool:
    name = value.get("type")
    return isinstance(name, str) and name in _TYPES


def _resting() -> AgUiMapper:
    """A mapper between two runs."""
    mapper = AgUiMapper()
    mapper.over = True
    return mapper


AG_UI: Final = Format(
    name="ag-ui",
    title="AG-UI event stream",
    whole=True,
    client_calls=True,
    recognises=_recognises,
    mapper=AgUiMapper,
    limits={
        "messages": "the last one of a run's input, where the stream repeats it; else the run's start is the root",
        "delivery": "only of messages that pydantic-ai enqueues",
        "failures": "only as pydantic-ai reports them",
        "sessions": "a file is one session",
    },
    rest=Rest(
        ends=r'[^\n]*"RUN_(?:FINISHED|ERROR)"[^\n]*',
        begins="RUN_STARTED",
        mapper=_resting,
        anew=frozenset(
            {"_resumed", "outputs.said", "outputs.called", "outputs.calls", "outputs.unanswered", "outputs.silent"}
            | {"outputs.others", "rules.open", "rules.used", "rules._waited", "rules.owners.of"}
        ),
    ),
)
