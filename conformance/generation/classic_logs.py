"""Small logs with which every verification begins: each law finds evidence in them, whatever is generated later."""

from itertools import product
from typing import Any, Final, TypeAlias, get_args

from turncheck.model.core.events import Delivery, StopReason
from turncheck.model.core.policies import Policies, QueueFate

from .near_misses import near_logs

_FATES: Final = get_args(QueueFate)


def _user(text: str, delivery: str | None = None) -> dict[str, Any]:
    return {"type": "user-message", "text": text} | ({"delivery": delivery} if delivery else {})


def _text(response: str | None = None, kind: str = "assistant") -> dict[str, Any]:
    fields = {"type": "agent-output", "kind": kind, "text": "text"}
    return fields | ({"responseId": response} if response else {})


def _call(name: str, tool: str = "read", response: str | None = None) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "type": "agent-output",
        "kind": "tool-call",
        "callId": name,
        "tool": tool,
        "arguments": {},
    }
    return fields | ({"responseId": response} if response else {})


def _result(name: str) -> dict[str, Any]:
    return {"type": "tool-result", "callId": name, "output": "ok"}


def _stop(reason: str = "completed") -> dict[str, Any]:
    return {"type": "run-stop", "reason": reason}


_TOOLS: Final = [
    _user("u"), _text("r1"), _call("a", response="r1"), _call("b", "grep", "r1"), _call("c", "bash", "r1"),
    _result("b"), _result("a"), _user("s", "steer"), _result("c"), _text("r2", "reasoning"), _call("d", "edit"),
    _result("d"), _stop(),
]  # fmt: skip
_QUEUE: Final = [
    _user("u"), _text(), _user("f", "followUp"), _call("a"), _user("g", "followUp"), _user("h", "followUp"),
    _stop("interrupted"), _call("a"), _text(), _stop("error"), _user("i", "followUp"), _text(), _stop(), _user("j"),
    _stop(), _stop(), _stop(),
]  # fmt: skip
"""A call that is open at the stop is reported under every queue policy; a promoted run begins with a call."""
_FAILED: Final = [_user("u"), _call("a"), _user("f", "followUp"), _user("g", "followUp"), _stop("error")]
"""It ends with the fate of the queue."""
_LONG: Final = [
    event
    for number in range(6)
    for event in (
        _user(f"u{number}"), _user("s1", "steer"), _call("a"), _result("a"), _user("s2", "steer"), _text(),
        _call("b", "ls"), _user("s3", "steer"), _result("b"), _user("s4", "steer"), _user("s5", "steer"), _text(),
        _stop(),
    )
]  # fmt: skip
_ANOMALIES: Final = [
    _text(), _call("a"), _result("a"), _stop(), None, {"type": "heartbeat"}, {"type": "native"}, _user("u"),
    _call("a"), _call("a"), _result("a"), _result("a"), _result("x"), None,
    {"type": "heartbeat"}, {"type": "run-stop"}, {"type": "native"}, _call("b"), _user("f", "followUp"), _stop("error"),
    _result("a"), _user("g"),
]  # fmt: skip
_LACKS: Final = {
    "text": {"type": "agent-output", "kind": "assistant"},
    "tool": {"type": "agent-output", "kind": "tool-call", "callId": "b"},
    "id": {"type": "agent-output", "kind": "tool-call", "tool": "read"},
    "content": {"type": "user-message"},
}
_INCOMPLETE: Final[list[dict[str, Any]]] = [
    _user("u"), _call("a"), _LACKS["text"], _LACKS["content"], _result("a"), _LACKS["tool"],
    _LACKS["content"], _text(), {"type": "user-message", "text": "u", "content": []}, _LACKS["id"], _call("b"),
    {"type": "tool-result"}, _result("b"), _stop(), _LACKS["text"], _user("v"), _LACKS["tool"], _text(), _stop(),
]  # fmt: skip
"""RC-D5: events that a typed reader may accept, and that the machine has to reject."""

_LEFT_OUT: Final = [_user("u"), _text(), _LACKS["tool"], _text(), _call("a"), _result("a"), _text(), _stop()]
"""Events of a run among events of none: a projector that miscounts leaves one out."""

_AFTERWARDS: Final = [
    _user("u"),
    _text(),
    _call("a"),
    _stop(),
    _result("a"),
    _text(),
    _stop("error"),
    _user("v"),
    _stop(),
]

_NATIVE: Final = {"type": "native"}
_AGAIN: Final = [
    *(event for reason in get_args(StopReason) for number in range(2) for event in (
        _NATIVE, _user(f"{reason} {number}"), _NATIVE, _call("a"), _result("a"), _call("b"), _stop(reason),
    )),
]  # fmt: skip
"""Everything a second time: a fault may show only from then on."""

_Classic: TypeAlias = tuple[list[Any], Policies, list[int]]

CLASSICS: Final[tuple[_Classic, ...]] = (
    (_TOOLS, Policies(), [5, 9]),
    *((_QUEUE, Policies(*chosen), [7, 10, 15]) for chosen in product(get_args(Delivery), _FATES, _FATES)),
    *((_QUEUE[:7], Policies(queue_after_interrupted=fate), [6]) for fate in _FATES),
    *((_FAILED, Policies(queue_after_error=fate), [4]) for fate in _FATES),
    (_LONG, Policies(), [13, 40, 66]),
    (_ANOMALIES, Policies(), [5, 13, 20]),
    *((_ANOMALIES[:end], Policies(), []) for end in (1, 2, 3, 4, 10, 12, 13)),
    (_INCOMPLETE, Policies(), [4, 11]),
    *((_INCOMPLETE[:end], Policies(), []) for end in (3, 4, 6)),
    (_LEFT_OUT, Policies(), [1, 5]),
    (_AFTERWARDS, Policies(), [4, 5]),
    *((_AGAIN, Policies(queue_after_interrupted=fate, queue_after_error=fate), [10, 30]) for fate in _FATES),
    *((log, Policies(), [len(log) // 2]) for log in near_logs()),
    ([], Policies(), []),
)
"""(log, policies, cuts) of each."""
