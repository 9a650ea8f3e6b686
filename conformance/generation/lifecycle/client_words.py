"""Words on clients: one leaves at each moment of a run and comes back, another joins late, beside all that may happen.

What happens is an abort, a failure of the model or of a tool, a message; it comes while the client is away, or right
behind its return. Kills come from the laws on restarts, which kill behind and within the last stimulus of a word.
"""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from turncheck.model.core.stimuli import (
    Abort,
    Approve,
    Client,
    ModelFail,
    ModelOutput,
    ModelStop,
    Stimulus,
    Text,
    ToolCall,
    ToolFail,
    ToolReturn,
    User,
)

from ..situations import PAY
from .decision_words import Situation


class _Moment(NamedTuple):
    """A moment at which a client leaves or joins: what it needs, and the stimuli that lead to it and on."""

    name: str
    needs: tuple[str, ...]
    before: tuple[Stimulus, ...]
    after: tuple[Stimulus, ...]


def _joins(name: str) -> Client:
    return Client(client_id=name, action="join")


def _leaves(name: str) -> Client:
    return Client(client_id=name, action="leave")


def _later(stimulus: Stimulus) -> Stimulus:
    """Return what a second run has in place of a stimulus of the first."""
    return next((later for one, later in _LATER if one is stimulus), stimulus)


_STAYS, _GOES, _LATE = "k1", "k2", "k3"
_CAN: Final = ("clients",)
_BOTH: Final = (_joins(_STAYS), _joins(_GOES))
_FIRST, _SECOND = User(id="u1", text="say 1 red"), User(id="u7", text="say 7 blue")
_THIRD: Final = User(id="u9", text="say 9 red")
_TEXT, _OTHER = (ModelOutput(item=Text(text=text)) for text in ("answer 2 red.", "answer 3 blue."))
_LAST: Final = ModelOutput(item=Text(text="answer 4 red."))
_STOP, _CALLED = ModelStop(reason="end-turn"), ModelStop(reason="tool-use")
_CALL: Final = ModelOutput(item=ToolCall(call_id="c5", tool="read", arguments={"path": "5"}))
_PAY: Final = ModelOutput(item=ToolCall(call_id="c6", tool=str(PAY["name"]), arguments={"path": "6"}))
_BACK, _BROKEN = ToolReturn(call_id="c5", output="result 5 red"), ToolFail(call_id="c5", message="failure 5")
_PAID: Final = (Approve(call_id="c6"), ToolReturn(call_id="c6", output="result 6 red"))
_MOMENTS: Final = (
    _Moment("the first message", (), (), (_FIRST, _TEXT, _STOP)),
    _Moment("the request", (), (_FIRST,), (_TEXT, _STOP)),
    _Moment("a text", (), (_FIRST, _TEXT), (_OTHER, _STOP)),
    _Moment("a call", ("tools",), (_FIRST, _TEXT, _CALL), (_CALLED, _BACK, _OTHER, _STOP)),
    _Moment("a tool's run", ("tools",), (_FIRST, _CALL, _CALLED), (_BACK, _OTHER, _STOP)),
    _Moment("a result", ("tools",), (_FIRST, _CALL, _CALLED, _BACK), (_OTHER, _STOP)),
    _Moment("a question", ("approval",), (_FIRST, _PAY, _CALLED), (*_PAID, _OTHER, _STOP)),
    _Moment("an end", (), (_FIRST, _TEXT, _STOP), (_SECOND, _OTHER, _STOP)),
)
_LATER: Final[Sequence[tuple[Stimulus, Stimulus]]] = (
    (_FIRST, _SECOND),
    (_TEXT, ModelOutput(item=Text(text="answer 8 blue."))),
    (_CALL, ModelOutput(item=ToolCall(call_id="c8", tool="read", arguments={"path": "8"}))),
    (_PAY, ModelOutput(item=ToolCall(call_id="c9", tool=str(PAY["name"]), arguments={"path": "9"}))),
    (_BACK, ToolReturn(call_id="c8", output="result 8 red")),
)
"""Stimuli that lead to a moment once more, in a run that follows: where leaving is an abort, its row is taken twice.

Each is a stimulus of a first run, and that of the second in its place.
"""
_AMID_A_TOOL: Final = (_FIRST, _CALL, _CALLED)
_EVENTS: Final[tuple[tuple[str, tuple[str, ...], tuple[Stimulus, ...], tuple[Stimulus, ...]], ...]] = (
    ("an abort", ("abort",), (_FIRST, _TEXT), (Abort(),)),
    ("an abort amid a tool", ("abort", "tools"), _AMID_A_TOOL, (Abort(),)),
    ("a retryable failure of the model", ("model-failure",), (_FIRST,), (ModelFail(failure="retryable"),)),
    ("a fatal failure of the model", ("model-failure",), (_FIRST,), (ModelFail(failure="fatal"),)),
    ("a broken stream", ("model-failure",), (_FIRST, _TEXT), (ModelFail(failure="stream"),)),
    ("a tool's failure", ("tools", "tool-failure"), _AMID_A_TOOL, (_BROKEN,)),
    ("a message", (), (_FIRST, _TEXT), (_SECOND,)),
    ("a steer", ("steer",), _AMID_A_TOOL, (User(id="u8", text="say 8 red", delivery="steer"), _BACK)),
    ("a follow-up", ("follow-up",), (_FIRST, _TEXT), (User(id="u8", text="say 8 red", delivery="followUp"), _STOP)),
)
"""An event: its name, what it needs, the word before it, and the event."""


def client_words() -> Iterator[Situation]:
    """Yield the situations with what each needs."""
    for name, needs, before, after in _MOMENTS:
        can: Sequence[str] = (*_CAN, *needs)
        yield tuple(can), f"a client that joins at {name}", (*before, _joins(_LATE), *after)
        gone = (_leaves(_GOES), *after[:1], _joins(_GOES), *after[1:])
        yield tuple(can), f"a client that leaves at {name} for a moment", (*_BOTH, *before, *gone)
        ended = (_leaves(_GOES), *after, _joins(_GOES), _joins(_LATE))
        yield tuple(can), f"a client that leaves at {name} and misses the end", (*_BOTH, *before, *ended)
        alone = (_joins(_STAYS), *before, _leaves(_STAYS))
        yield tuple(can), f"the only client leaves at {name}", (*alone, *after)
        later = (_joins(_STAYS), *map(_later, before), _leaves(_STAYS))
        yield tuple(can), f"the only client leaves at {name}, and again", (*alone, *later, _THIRD, _OTHER, _STOP)
    for name, needs, before, event in _EVENTS:
        can = (*_CAN, *needs)
        away = (_leaves(_GOES), *event, _joins(_GOES), _joins(_LATE))
        yield tuple(can), f"{name} while a client is away", (*_BOTH, *before, *away)
        yield tuple(can), f"{name} behind a client's leaving", (*_BOTH, *before, _leaves(_STAYS), *event)
        again = (_leaves(_GOES), _joins(_GOES), _joins(_LATE), *event)
        yield tuple(can), f"{name} behind a client's return", (*_BOTH, *before, *again)
    twice = (_leaves(_GOES), _TEXT, _joins(_GOES), _leaves(_GOES), _OTHER, _LAST, _joins(_GOES), _STOP)
    yield _CAN, "a client that leaves twice", (*_BOTH, _FIRST, *twice)
    idle = (_FIRST, _TEXT, _STOP, _leaves(_GOES), _joins(_GOES), _SECOND, _OTHER, _STOP)
    yield _CAN, "a client that misses nothing", (*_BOTH, *idle)
