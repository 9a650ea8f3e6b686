"""The environment's side of a runtime: the stimuli that it sends, the awaited answers and settled steps that it sees.

The wire is camelCase JSON with the tag field ``kind``. A settled step is one stimulus, run to quiescence (ioco: *quiet*
is an output too): its new log events, all answers that are awaited now, and perhaps a refusal.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias, cast, get_args

import msgspec

from .events import Delivery as Delivery  # noqa: PLC0414 - stimuli and log events have the same ones

FailureClass: TypeAlias = Literal["retryable", "fatal", "stream"]


class _Struct(msgspec.Struct, frozen=True, kw_only=True, rename="camel", tag_field="kind", omit_defaults=True):
    pass


class Text(_Struct, frozen=True, kw_only=True, tag="assistant"):
    """A text that the model says."""

    text: str


class Reasoning(_Struct, frozen=True, kw_only=True, tag="reasoning"):
    """A text that the model thinks."""

    text: str


class ToolCall(_Struct, frozen=True, kw_only=True, tag="tool-call"):
    """A call that the model asks for; ``arguments`` as a string are sent as they are, well-formed or not."""

    call_id: str
    tool: str
    arguments: Any = None


Item: TypeAlias = Text | Reasoning | ToolCall


class _Stimulus(_Struct, frozen=True):
    session_id: str | None = None
    agent_id: str | None = None


class User(_Stimulus, frozen=True, kw_only=True, tag="user"):
    """The user sends a message; texts are unique within a word."""

    id: str
    text: str
    delivery: Delivery | None = None
    content: list[Any] | None = None
    sender: Any = None
    meta: Any = None


def image_count(content: Sequence[Any] | None) -> int:
    """Return the number of images in a message's ``content``.

    >>> image_count([{"type": "text", "text": "look"}, {"type": "image"}])
    1
    """
    objects = [cast("Mapping[str, Any]", part) for part in content or () if isinstance(part, Mapping)]
    return sum(part.get("type") == "image" for part in objects)


class Abort(_Stimulus, frozen=True, tag="abort"):
    """The user aborts the run; with ``agent_id``, that sub-agent alone."""


class ModelOutput(_Stimulus, frozen=True, kw_only=True, tag="model-output"):
    """The model yields one item of its response."""

    item: Item
    request_id: str | None = None


class ModelStop(_Stimulus, frozen=True, kw_only=True, tag="model-stop"):
    """The model ends its response."""

    reason: Literal["end-turn", "tool-use", "length"]
    usage: Any = None
    request_id: str | None = None


class ModelFail(_Stimulus, frozen=True, kw_only=True, tag="model-fail"):
    """The model fails: before its first item (``retryable``, ``fatal``), or its stream breaks (``stream``)."""

    failure: FailureClass = msgspec.field(name="class")
    request_id: str | None = None


class ToolReturn(_Stimulus, frozen=True, kw_only=True, tag="tool-return"):
    """A tool returns."""

    call_id: str
    output: Any = None
    data: Any = None
    metadata: Any = None
    execution: str | None = None


class ToolFail(_Stimulus, frozen=True, kw_only=True, tag="tool-fail"):
    """A tool fails."""

    call_id: str
    message: str
    execution: str | None = None


class Approve(_Stimulus, frozen=True, kw_only=True, tag="approve"):
    """A person approves a call: it may be executed."""

    call_id: str


class Deny(_Stimulus, frozen=True, kw_only=True, tag="deny"):
    """A person denies a call: it is never executed; ``message`` says why, for the model."""

    call_id: str
    message: str | None = None


class ClientResult(_Stimulus, frozen=True, kw_only=True, tag="client-result"):
    """The client has executed a call, and says what came of it."""

    call_id: str
    output: Any = None


class Compact(_Stimulus, frozen=True, tag="compact"):
    """The user asks for a compaction: a summary takes the place of what the model was shown until now."""


class Advance(_Stimulus, frozen=True, kw_only=True, tag="advance"):
    """Time passes: *seconds* of the virtual clock."""

    seconds: float


class Client(_Stimulus, frozen=True, kw_only=True, tag="client"):
    """A client joins, anew or again, or leaves; ``cursor`` is the last one that it was told, if it was told any."""

    client_id: str
    action: Literal["join", "leave"]
    cursor: str | None = None


class StoreFail(_Stimulus, frozen=True, kw_only=True, tag="store-fail"):
    """The next *times* writes to the store fail, each as a full disk would."""

    times: int


class Together(_Stimulus, frozen=True, kw_only=True, tag="together"):
    """Several stimuli at once: applied in order, without waiting for quiet between them."""

    stimuli: tuple[
        User | Abort | ModelOutput | ModelStop | ModelFail | ToolReturn | ToolFail | Approve | Deny | ClientResult, ...
    ]


Stimulus: TypeAlias = (
    User
    | Abort
    | ModelOutput
    | ModelStop
    | ModelFail
    | ToolReturn
    | ToolFail
    | Approve
    | Deny
    | ClientResult
    | Compact
    | Advance
    | Client
    | StoreFail
    | Together
)

Decider: TypeAlias = Literal["approval", "client"]
"""The one who decides about a call: a person, who approves or denies it, or the client, which executes it."""


class Shown(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One entry of the context that a model is shown; ``arguments`` of a call, where they are seen."""

    role: Literal["system", "user", "assistant", "tool"]
    text: str | None = None
    ids: tuple[str, ...] = ()
    call_id: str | None = None
    tool: str | None = None
    arguments: Any = None
    is_error: bool | None = None
    images: int | None = None


Purpose: TypeAlias = Literal["compaction"]
"""The purpose of a request that comes from no run: a summary."""


class ModelAwaited(_Stimulus, frozen=True, kw_only=True, tag="model"):
    """A request to the model waits for its answer.

    ``input`` is the whole context, None if it cannot be seen; ``tools`` is false if the request offers none, so that
    the model calls none; ``cancelled`` is true for a model that ignores an abort and goes on. ``purpose`` is None for a
    run's request.
    """

    request_id: str
    input: tuple[Shown, ...] | None = None
    tools: bool = True
    cancelled: bool = False
    purpose: Purpose | None = None


class ToolAwaited(_Stimulus, frozen=True, kw_only=True, tag="tool"):
    """A run of a tool waits to end; ``execution`` names it, since call ids can repeat."""

    call_id: str
    execution: str
    tool: str | None = None
    arguments: Any = None
    cancelled: bool = False


class TimerAwaited(_Stimulus, frozen=True, kw_only=True, tag="timer"):
    """A timer is due; seconds are of the virtual clock, from now on."""

    due: float = msgspec.field(name="in")


class ApprovalAwaited(_Stimulus, frozen=True, kw_only=True, tag="approval"):
    """A call waits for a person to approve or deny it."""

    call_id: str


class ClientToolAwaited(_Stimulus, frozen=True, kw_only=True, tag="client-tool"):
    """A call waits for the client's result."""

    call_id: str


Decision: TypeAlias = ApprovalAwaited | ClientToolAwaited
Awaited: TypeAlias = ModelAwaited | ToolAwaited | TimerAwaited | Decision


class Refusal(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stimulus did not take place."""

    why: Literal["rejected", "unsupported", "not-awaited"]
    message: str = ""


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """The outcome of a stimulus. ``events`` are log events as JSON; ``unsettled``: no quiet within the patience.

    ``clients`` has, by its id, what each client that is there was told, in order.
    """

    events: tuple[Any, ...] = ()
    awaiting: tuple[Awaited, ...] = ()
    refused: Refusal | None = None
    unsettled: bool = False
    clients: dict[str, tuple[Any, ...]] = {}


class ResetOptions(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A runtime's options at its start (PROTOCOL, reset).

    A tool's ``needs`` says who decides about its calls (``Decider``), or that a sub-agent does what is called
    (``agent``); without it, the runtime executes them.
    """

    tools: tuple[dict[str, Any], ...] = ()
    limits: dict[str, int] = {}
    policies: dict[str, Any] = {}
    clock: Literal["auto", "manual"] = "auto"
    deaf_tools: bool = False
    deaf_model: bool = False
    observer: Literal["throws", "slow"] | None = None
    state_dir: str | None = None

    def decider(self, tool: str) -> Decider | None:
        """Return who decides about calls of *tool*, None where the runtime executes them.

        >>> ResetOptions(tools=({"name": "pay", "needs": "approval"},)).decider("pay")
        'approval'
        """
        needs: Any = self._needs(tool)
        return needs if needs in get_args(Decider) else None

    def spawns(self, tool: str) -> bool:
        """Return whether a call of *tool* starts a sub-agent."""
        return self._needs(tool) == "agent"

    def _needs(self, tool: str) -> object:
        return next((one.get("needs") for one in self.tools if one.get("name") == tool), None)


class Word(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """An input of a runtime: the options at its start, and the stimuli in order."""

    stimuli: tuple[Stimulus, ...]
    options: ResetOptions = ResetOptions()


def unnamed(stimulus: Stimulus) -> Stimulus:
    """Return the stimulus without the implementation's id of the request that it answers: the first awaited one."""
    match stimulus:
        case ModelOutput() | ModelStop() | ModelFail():
            return msgspec.structs.replace(stimulus, request_id=None)
        case ToolReturn() | ToolFail():
            return msgspec.structs.replace(stimulus, execution=None)
        case Together(stimuli=several):
            return msgspec.structs.replace(stimulus, stimuli=tuple(map(unnamed, several)))
        case _:
            return stimulus
