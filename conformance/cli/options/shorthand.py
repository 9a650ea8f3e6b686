"""Short forms of stimuli, as a person types them: ``user hello``, ``call read {"path": "x"}``, ``stop``."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from turncheck.model.core.stimuli import (
    Abort,
    Advance,
    ApprovalAwaited,
    Approve,
    Awaited,
    Client,
    ClientResult,
    ClientToolAwaited,
    Compact,
    Decision,
    Delivery,
    Deny,
    ModelOutput,
    Reasoning,
    Stimulus,
    Text,
    ToolAwaited,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

SEE: Final = "docs/protocol.md#apply"

_decode: Final[Callable[[str | bytes], Stimulus]] = msgspec.json.Decoder(Stimulus).decode


class ShorthandError(ValueError):
    """The line is no stimulus; the text says what was expected."""


@dataclass(frozen=True)
class Form:
    """A short form: its syntax, its meaning, and the choices of its first argument, if there are any."""

    form: str
    description: str
    choices: tuple[str, ...] = ()


FORMS: Final[Mapping[str, Form]] = {
    "user": Form("user TEXT", "the user sends a message"),
    "steer": Form("steer TEXT", "with delivery steer"),
    "follow": Form("follow TEXT", "with delivery followUp"),
    "abort": Form("abort", "the user aborts the run"),
    "text": Form("text TEXT", "the model says something"),
    "reason": Form("reason TEXT", "the model thinks something"),
    "call": Form("call TOOL [ARGUMENTS]", "the model calls a tool; arguments that are no JSON are sent as text"),
    "stop": Form(
        "stop [REASON]",
        "the model ends: end-turn or length, or tool-use, the default after a call",
        ("end-turn", "tool-use", "length"),
    ),
    "fail": Form("fail CLASS", "the model fails: retryable, fatal or stream", ("retryable", "fatal", "stream")),
    "return": Form("return [OUTPUT]", "the tool that is awaited longest returns: JSON, or a text"),
    "toolfail": Form("toolfail MESSAGE", "the tool that is awaited longest fails"),
    "approve": Form("approve", "the call that waits longest for approval is approved"),
    "deny": Form("deny [MESSAGE]", "the call that waits longest for approval is denied"),
    "answer": Form("answer [OUTPUT]", "the client answers the call that waits longest for it: JSON, or a text"),
    "compact": Form("compact", "the user asks for a compaction of the history"),
    "advance": Form("advance SECONDS", "time passes"),
    "join": Form("join [CLIENT]", "a client joins, anew or again; without a name it is k1"),
    "leave": Form("leave [CLIENT]", "a client leaves"),
}
"""Every short form. A stimulus as JSON can say more."""


_DELIVERIES: Final[Mapping[str, Delivery]] = {"steer": "steer", "follow": "followUp"}


class Shorthand:
    """A reader of the lines of one word: it numbers messages and calls, and knows whether the model called a tool."""

    def __init__(self) -> None:
        self._messages = self._calls = 0
        self._called = False  # since the last request to the model

    def read(self, line: str, awaiting: Sequence[Awaited] = ()) -> Stimulus:
        """Return the stimulus that *line* means while *awaiting* is awaited. Raises ShorthandError."""
        name, _, rest = line.strip().partition(" ")
        if not name.startswith("{") and name not in FORMS:
            raise ShorthandError(f"no command {name!r}: there is {', '.join(FORMS)}, and any stimulus as JSON ({SEE})")
        expected = FORMS[name].form if name in FORMS else f"a stimulus as JSON ({SEE})"
        try:
            if name not in FORMS:
                return _decode(line)
            return self._read(name, rest.strip(), awaiting)
        except (ValueError, msgspec.MsgspecError) as error:
            raise ShorthandError(f"{error}; expected {expected}") from error

    def _read(  # noqa: PLR0912 - one case a form
        self, name: str, rest: str, awaiting: Sequence[Awaited]
    ) -> Stimulus:
        match name:
            case "user" | "steer" | "follow":
                text = _given(rest)
                self._messages += 1
                return User(id=f"u{self._messages}", text=text, delivery=_DELIVERIES.get(name))
            case "text" | "reason":
                text = _given(rest)
                return ModelOutput(item=Text(text=text) if name == "text" else Reasoning(text=text))
            case "call":
                return self._call(rest)
            case "stop":
                return self._ends(
                    {"kind": "model-stop", "reason": rest or ("tool-use" if self._called else "end-turn")}
                )
            case "fail":
                return self._ends({"kind": "model-fail", "class": _given(rest)})
            case "return":
                return ToolReturn(call_id=_oldest(awaiting), output=_value(rest) if rest else "")
            case "toolfail":
                return ToolFail(call_id=_oldest(awaiting), message=_given(rest))
            case "deny":
                return Deny(call_id=_oldest(awaiting, ApprovalAwaited), message=rest or None)
            case "answer":
                return ClientResult(call_id=_oldest(awaiting, ClientToolAwaited), output=_value(rest) if rest else "")
            case "advance":
                return Advance(seconds=float(_given(rest)))
            case "join" | "leave":
                return Client(client_id=rest or "k1", action="join" if name == "join" else "leave")
            case _ if rest:
                raise ValueError(f"{rest!r} follows it")
            case "abort":
                return Abort()
            case "compact":
                return Compact()
            case _:
                return Approve(call_id=_oldest(awaiting, ApprovalAwaited))

    def _call(self, rest: str) -> Stimulus:
        tool, _, arguments = _given(rest).partition(" ")
        self._calls += 1
        self._called = True
        call = ToolCall(call_id=f"c{self._calls}", tool=tool, arguments=_value(arguments.strip() or "{}"))
        return ModelOutput(item=call)

    def _ends(self, sent: dict[str, Any]) -> Stimulus:
        """The model's response ends. Raises msgspec.ValidationError for an unknown reason or class."""
        stimulus = _decode(msgspec.json.encode(sent))
        self._called = False
        return stimulus


def _given(rest: str) -> str:
    if not rest:
        raise ValueError("nothing follows it")
    return rest


def _value(text: str) -> Any:
    """Return the JSON value of *text*, or else the text itself."""
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError:
        return text


def _oldest(awaiting: Sequence[Awaited], kind: type[ToolAwaited | Decision] = ToolAwaited) -> str:
    """Return the call of the tool, or of the decision of a *kind*, that is awaited longest."""
    for awaited in awaiting:
        if isinstance(awaited, kind):
            return awaited.call_id
    raise ValueError("no tool is awaited" if kind is ToolAwaited else "no call waits for it")
