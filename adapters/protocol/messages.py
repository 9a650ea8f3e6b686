"""Version 1 of the adapter protocol: its messages, both directions, and the strict reading of answers.

One JSON object per line, camelCase, on stdin and stdout of a long-lived process. The harness sends a message and waits
for its answer; every answer repeats ``seq``, except the one to hello.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TypeAlias, TypeVar, get_args

import msgspec
from msgspec import UNSET, Raw, UnsetType

from turncheck.model.core import policies as choices
from turncheck.model.core.history import ARRANGEMENTS, CUT, HANDOVERS, CompactionFails
from turncheck.model.core.policies import VALUES, Policies, projected
from turncheck.model.core.provider_limits import BACKOFF, NOTICE, SHARE, Backoff
from turncheck.model.core.refused_json import why_refused
from turncheck.model.core.stimuli import Awaited, Refusal, ResetOptions, Step, Stimulus
from turncheck.model.machines.interaction import CONCURRENT

from .errors import DOCUMENT, ImplementationError, RubbishError, StartError, UnsupportedError
from .strict_json import StrictnessError, check_strict

VERSION: Final = 1

Role: TypeAlias = Literal["projector", "runtime", "collator"]

CAPABILITIES: Final[Mapping[str, str]] = {
    "policies": "honours the policies of `project`",
    "feed": "projects incrementally: `feed`, and `project` with no events",
    "repeats": "takes events again that were fed before: `from` of `feed`",
    "steps": "yields the ResolutionStep view; without it, cycles have no `steps`",
    "rounds": "yields the InferenceLoop view; without it, cycles have no `rounds`",
    "sub-agents": "projects each sub-agent's own events, by `agentId`: `agents` of the projection",
}
"""The capabilities that a projector may declare. One that is declared and missing fails; other names are ignored."""

RUNTIME_CAPABILITIES: Final[Mapping[str, str]] = {
    "steer": "a message with delivery steer joins the active run",
    "follow-up": "a message with delivery followUp waits for the next run",
    "abort": "a run can be aborted",
    "tools": "executes the model's tool calls",
    "serial": "options.policies {tools: serial}: can also run tools one after the other",
    "tool-failure": "a tool can fail",
    "model-failure": "the model can fail, in each class",
    "approval": "calls of tools that need approval wait for a person",
    "client-tools": "calls of the client's tools wait for the client's result",
    "sub-agents": "calls of tools that need an agent start a sub-agent",
    "compaction": "a summary of the history can take its place: `compact`",
    "clients": "clients join and leave: `client`",
    "reasoning": "logs the model's reasoning",
    "model-input": "shows the whole context that the model is shown",
    "raw-arguments": "takes a call's arguments as text, well-formed or not",
    "call-ids": "the model chooses the ids of its calls",
    "sessions": "several independent sessions",
    "together": "several stimuli at once",
    "limits": "limits.maxRounds bounds the model requests of a run",
    "observer": "a listener that throws, or is slow",
    "deaf": "tools and a model that ignore an abort",
    "clock": "a virtual clock that can be advanced",
    "persistence": "a restart loads what stateDir holds",
    "store-faults": "writes to the store can be made to fail",
    "images": "messages with images",
    "usage": "the model's usage",
    NOTICE: "tells when limits.contextWindow fills up",
    "terminal-events": "each run ends with an event of the runtime's own",
}
"""The capabilities that a runtime may declare."""

HISTORY_POLICIES: Final[Mapping[str, tuple[str, ...]]] = {
    "abortedResponse": get_args(choices.Aborted),
    "failedResponse": get_args(choices.Kept),
    "unread": get_args(choices.Unread),
    **ARRANGEMENTS,
}
"""Policies on what a runtime shows its model, the default first; what is not declared is inferred.

So is the number ``CUT``, whose default is None: no result is cut.
"""

SYSTEM_POLICY: Final = "system"
"""The policy that says what each request shows in the role ``system``: a text, or several."""
RESTART_POLICY: Final = "openTurnAfterRestart"
"""The policy that says what becomes of an open run at a restart; inferred by one kill where it is not declared."""
CHILDREN_POLICY: Final = "subAgents"
"""The policy that says whether a call that starts a sub-agent awaits its end."""
DEPTH_POLICY: Final = "subAgentDepth"
"""The policy that says how deep sub-agents may call sub-agents: 1 where only the session's own agent does."""
CHILD_MESSAGES_POLICY: Final = "subAgentMessages"
"""The policy that says whether a sub-agent takes messages besides its task."""
PAUSE_POLICY: Final = "pauseAfterRestart"
"""The policy that says what a restart makes of a run whose calls wait for decisions."""
STORE_POLICY: Final = "storeFails"
"""The policy that says what a write that fails does."""
COMPACTION_POLICY: Final = "compactionFails"
"""The policy that says what becomes of the history where no summary can be had."""
DISCONNECT_POLICY: Final = "disconnect"
"""The policy that says what a client that leaves does to an open run."""
COMPACTION_RETRIES: Final = "compactionRetries"
"""The policy that says how often a compaction is tried again; 0 where it is not declared."""

RUNTIME_POLICIES: Final[Mapping[str, tuple[str, ...]]] = {
    "busy": ("reject", "steer", "followUp", CONCURRENT),
    "tools": ("serial", "parallel"),
    "steerLands": ("after-batch", "after-call"),
    "steerWhilePaused": get_args(choices.SteerWhilePaused),
    "abortEnds": ("at-once", "when-released"),
    "queueAfterInterrupted": get_args(choices.Fate),
    "queueAfterError": get_args(choices.Fate),
    RESTART_POLICY: ("interrupted", "error", "goes-on", "untold"),
    PAUSE_POLICY: ("as-open", "kept"),
    STORE_POLICY: ("error", "retry"),
    CHILDREN_POLICY: ("awaited", "detached"),
    CHILD_MESSAGES_POLICY: ("taken", "refused"),
    COMPACTION_POLICY: get_args(CompactionFails),
    DISCONNECT_POLICY: get_args(choices.Disconnect),
    **HANDOVERS,
    **HISTORY_POLICIES,
}
"""A runtime's own policies with a set of values; the projection's are ``VALUES`` of model.core.policies."""
_COUNTS: Final = ("retries", "maxRounds", "maxHistoryMessages", COMPACTION_RETRIES, CUT, DEPTH_POLICY)
"""A runtime's policies that are numbers; ``CUT`` may be None."""
_SHAPES: Final[Mapping[str, tuple[Any, str]]] = {
    BACKOFF: (Backoff, '{"base": seconds, "factor"?, "cap"?: seconds, "jitter"?: a share}'),
    SHARE: (Annotated[float, msgspec.Meta(gt=0, le=1)], "a share of the context window, such as 0.8"),
}
"""A runtime's policies that have a form of their own, with what is told where a value has another."""
_UNSAID: Final = "it does not say why"


def check_policies(policies: Mapping[str, Any], see: str = f"{DOCUMENT}#runtimes") -> None:
    """Raise RubbishError for a policy with a value outside its set; unknown policies are ignored.

    >>> check_policies({"busy": "reject", "retries": 2})
    """
    for name, values in {**VALUES, **RUNTIME_POLICIES}.items():
        if (came := policies.get(name, values[0])) not in values:
            problem = f"the policy {name} has an unknown value"
            raise RubbishError(problem, expected=" or ".join(values), came=str(came), see=see)
    for name in _COUNTS:
        if not isinstance(came := policies.get(name, 0), int) and (name, came) != (CUT, None):
            raise RubbishError(f"the policy {name} is no number", expected="an integer", came=str(came), see=see)
    for name, (shape, expected) in _SHAPES.items():
        if (came := policies.get(name, UNSET)) is not UNSET:
            try:
                msgspec.convert(came, shape)
            except msgspec.ValidationError as error:
                raise RubbishError(f"the policy {name}: {error}", expected=expected, came=str(came), see=see) from error
    came = policies.get(SYSTEM_POLICY, "-")
    texts = _texts(came)
    if not texts or not all(texts):
        problem = f"the policy {SYSTEM_POLICY} is no text"
        raise RubbishError(problem, expected="a text that is not empty, or a list of such", came=str(came), see=see)


def _texts(given: Any) -> Sequence[str]:
    """Return a text, or each of a list; nothing where *given* is neither."""
    try:
        found = msgspec.convert(given, str | list[str])
    except msgspec.ValidationError:
        return ()
    return [found] if isinstance(found, str) else found


class Implementation(msgspec.Struct, frozen=True, omit_defaults=True):
    """The name, version and language of the implementation, for reports."""

    name: str
    version: str
    language: str
    homepage: str | None = None


class Profile(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The claims of an implementation: its roles, the machine it follows, its policies and capabilities.

    ``input`` is a projector's: ``valid`` where something before it lets no log through that breaks a law.
    """

    roles: tuple[Role, ...]
    capabilities: tuple[str, ...]
    machine: str | None = None
    policies: dict[str, Any] = {}
    input: Literal["any", "valid"] = "any"

    def can(self, capability: str) -> bool:
        """Return whether *capability* is declared."""
        return capability in self.capabilities

    def projection_policies(self) -> Policies:
        """Return the policies under which it projects if none are sent; a runtime's own are left out.

        Raises msgspec.ValidationError for a value outside a policy's set.
        """
        given = projected(self.policies) if self.roles == ("runtime",) else self.policies
        return msgspec.convert({name: given[name] for name in VALUES if name in given}, Policies)


class _Message(msgspec.Struct, frozen=True, rename="camel", tag_field="cmd", omit_defaults=True):
    pass


class Hello(_Message, frozen=True, tag="hello"):
    """The first message: the protocol version of the harness, and the variant that this process is to be."""

    protocol: int
    variant: str | None = None


class Reset(_Message, frozen=True, tag="reset"):
    """Forget the fed events; start a runtime anew. The options are a runtime's; a projector has none."""

    seq: int
    options: ResetOptions = ResetOptions()


class Apply(_Message, frozen=True, tag="apply"):
    """Apply one stimulus, and run until quiet."""

    seq: int
    stimulus: Stimulus


class Run(_Message, frozen=True, tag="run"):
    """Apply a word of stimuli, quiet after each."""

    seq: int
    word: tuple[Stimulus, ...]


class Project(_Message, frozen=True, tag="project"):
    """Project one session's whole log, whatever was fed; without events, project the fed ones."""

    seq: int
    events: Raw
    policies: Policies | None = None


class Feed(_Message, frozen=True, tag="feed"):
    """Take events of the session under way: the next ones, or those from position *start* on, some of them again."""

    seq: int
    events: Raw
    start: int | None = msgspec.field(default=None, name="from")


class Collate(_Message, frozen=True, tag="collate"):
    """Collate the frames of one request, from its first on, whatever was collated before."""

    seq: int
    frames: Raw


class Stop(_Message, frozen=True, tag="stop"):
    """End the process; there is no answer."""


Message: TypeAlias = Hello | Reset | Apply | Run | Project | Feed | Collate | Stop


class HelloAnswer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to hello: the implementation and its claims, and the names of its variants, the default first."""

    ok: bool
    protocol: int
    implementation: Implementation
    profile: Profile
    variants: tuple[str, ...] = ()


class ErrorBody(msgspec.Struct, frozen=True, omit_defaults=True):
    """The reason why a command was not done; ``detail`` is a traceback or the like."""

    kind: Literal["unsupported", "failed"]
    message: str
    detail: str | None = None


class Answer(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The answer to every message except hello.

    ``projection`` answers project; ``blocks`` answers collate; ``events``, ``awaiting``, ``refused``, ``unsettled`` and
    ``clients`` answer apply and a runtime's reset; each of ``steps`` answers a stimulus of run. ``input_changed`` is
    optional: it says whether the implementation changed the events that it was given, if the adapter can see that.
    """

    seq: int
    ok: bool
    projection: Raw | UnsetType = UNSET
    blocks: Raw | UnsetType = UNSET
    error: ErrorBody | UnsetType = UNSET
    input_changed: bool | UnsetType = UNSET
    events: tuple[Any, ...] | UnsetType = UNSET
    awaiting: tuple[Awaited, ...] | UnsetType = UNSET
    refused: Refusal | UnsetType = UNSET
    unsettled: bool = False
    clients: dict[str, tuple[Any, ...]] = {}
    steps: tuple[Step, ...] | UnsetType = UNSET


class _Greeting(msgspec.Struct):
    """The part of the answer to hello that is read first: in a refusal or another version, the rest is arbitrary."""

    ok: bool
    protocol: Any = None
    error: ErrorBody | UnsetType = UNSET


_T = TypeVar("_T")

encode: Final = msgspec.json.Encoder().encode
_answer: Final = msgspec.json.Decoder(Answer)
_hello: Final = msgspec.json.Decoder(HelloAnswer)
_greeting: Final = msgspec.json.Decoder(_Greeting)
read_message: Final[Callable[[bytes], Message]] = msgspec.json.Decoder(Message).decode
"""Decode the message in a line. Raises msgspec.MsgspecError if it is none of version 1."""

EXPECTED: Final[Mapping[type[_Message], str]] = {
    Hello: '{"ok": true, "protocol": 1, "implementation": {"name", "version", "language"},'
    ' "profile": {"roles", "capabilities"}}',
    Reset: '{"seq": %d, "ok": true}, of a runtime with "events" and "awaiting"',
    Apply: '{"seq": %d, "ok": true, "events": [...], "awaiting": [...]}',
    Run: '{"seq": %d, "ok": true, "steps": [{"events": [...], "awaiting": [...]}, ...]}',
    Project: '{"seq": %d, "ok": true, "projection": {"cycles", "queued", "dropped", "anomalies"}}',
    Feed: '{"seq": %d, "ok": true}',
    Collate: '{"seq": %d, "ok": true, "blocks": [{"iteration", "provider", "model", "usage", "text", "calls"}, ...]}',
}
"""The shape of an answer, for error messages."""


def expected(message: Message) -> str:
    """Return the shape of the answer to *message*."""
    form = EXPECTED.get(type(message), "")
    return form if isinstance(message, Hello | Stop) else form % message.seq


def see(message: Message) -> str:
    """Return the place of the documentation that explains *message*."""
    return f"{DOCUMENT}#{type(message).__struct_config__.tag}"


def read_hello(line: bytes) -> HelloAnswer:
    """Decode the answer to hello.

    Raises RubbishError if it is none, StartError if it is a refusal, speaks another version or has no role.
    """
    greeting = _decode(_greeting, line)
    if not greeting.ok:
        why = (greeting.error and greeting.error.message) or _UNSAID
        raise StartError(f"the implementation refuses hello: {why}", came=line)
    if greeting.protocol != VERSION:
        raise StartError(f"the implementation speaks protocol {greeting.protocol!r}, not {VERSION}", came=line)
    hello = _decode(_hello, line)
    if not hello.profile.roles:
        raise StartError("neither a projector nor a runtime nor a collator: its profile has no roles", came=line)
    if len({*hello.variants, ""}) <= len(hello.variants):
        raise RubbishError("the names of its variants are not distinct, or one is empty", came=line)
    try:
        hello.profile.projection_policies()
    except msgspec.ValidationError as error:
        raise RubbishError(f"the profile's policies are none that exist: {error}", came=line) from error
    return hello


def read_answer(line: bytes, seq: int) -> Answer:
    """Decode the answer to message *seq*.

    Raises RubbishError if it is none; UnsupportedError or ImplementationError if it reports one.
    """
    answer = _decode(_answer, line)
    if answer.seq != seq:
        when = "an answer that was already given, or came unasked" if answer.seq < seq else "an answer to nothing sent"
        raise RubbishError(f"wrong seq: {answer.seq} came where {seq} was due ({when})", came=line)
    match answer:
        case Answer(ok=True):
            return answer
        case Answer(error=ErrorBody(kind="unsupported", message=message)):
            raise UnsupportedError(message or _UNSAID)
        case Answer(error=ErrorBody(message=message, detail=detail)):
            raise ImplementationError(message or _UNSAID, detail)
        case _:
            raise RubbishError("ok is false, and there is no error that says why", came=line)


def _decode(decoder: "msgspec.json.Decoder[_T]", line: bytes) -> _T:
    try:
        check_strict(line)
        return decoder.decode(line)
    except StrictnessError as error:
        raise RubbishError(f"not an answer of the protocol: {error}", came=line, see=f"{DOCUMENT}#answers") from error
    except msgspec.ValidationError as error:
        raise RubbishError(f"not an answer of the protocol: {error}", came=line) from error
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        why = why_refused(line, error)
        hint = "; stdout is for answers alone: print to stderr" if why.startswith("not") else ""
        raise RubbishError(f"{why}{hint}", came=line or "(an empty line)") from error
