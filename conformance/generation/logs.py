"""Generation of logs: templates of events, and a context that turns a list of them into a log.

A log is a list of templates. A template describes an event briefly; its open choices (which call a result answers,
which id is used again) are filled in from the events before. Shrinking removes and simplifies templates, so that the
rest still reads as a log. *Well-formed* logs do only what the machine permits; *wild* ones anything in any order, with
fields that do not fit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, TypeAlias, cast

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from turncheck.model.core.decode import judge
from turncheck.model.core.events import symbol_of
from turncheck.model.core.policies import Policies
from turncheck.model.declaration.stepping import Stepper
from turncheck.model.declaration.vocabulary import ANSWERED
from turncheck.model.machines.request_cycle import SPEC, tables

from .near_misses import near_events, near_tools

Json: TypeAlias = Any

_TOOLS: Final = ("read", "bash", "grep", "edit", "deploy", "write", "ls", "find", "constructor")
_TEXTS: Final = ("red", "blue", "run-stop", "[cancelled]")
"""Two colours of payload, and words that look like control (X-8)."""


@dataclass(frozen=True)
class Template:
    """A future event: its fixed fields, and the choices that the context fills in."""

    fields: Mapping[str, Json]
    call: str | None = None  # new, used, open, answered, unknown, earlier, alike: in another case
    response: str | None = None  # same, new


def _user(**fields: Json) -> Template:
    return Template({"type": "user-message", **fields})


def _text(kind: str, text: str, response: str | None) -> Template:
    return Template({"type": "agent-output", "kind": kind, "text": text}, response=response)


def _call(tool: str, call: str, response: str | None, **fields: Json) -> Template:
    return Template({"type": "agent-output", "kind": "tool-call", "tool": tool, **fields}, call, response)


def _result(call: str, **fields: Json) -> Template:
    return Template({"type": "tool-result", **fields}, call)


def _stop(reason: str, **fields: Json) -> Template:
    return Template({"type": "run-stop", "reason": reason, **fields})


_ROOTS: Final = (_user(text="red"), _user(text="blue", id="m"), _user(content=[{"type": "text", "text": "red"}]))
_STEERS: Final = (_user(text="red", delivery="steer"), _user(text="blue", delivery="steer"))
_FOLLOW_UPS: Final = (_user(text="red", delivery="followUp"), _user(text="blue", delivery="followUp"))
_OUTPUTS: Final = tuple(
    _text(kind, text, response)
    for response in ("same", None, "new")
    for kind, text in (("assistant", "red"), ("reasoning", "blue"), ("assistant", _TEXTS[2]), ("assistant", _TEXTS[3]))
)
_CALLS: Final = tuple(
    _call(tool, "new", response, arguments={}) for response in ("same", None, "new") for tool in _TOOLS
)
_RESULTS: Final = (
    _result("open", output="ok"),
    _result("open", output="no", isError=True),
    _result("open", output=None, synthetic=True),
    _result("open"),
)
_STOPS: Final = (_stop("completed"), _stop("interrupted"), _stop("error", detail="timeout"), _stop("completed"))
_OBSERVATIONS: Final = (
    Template({"type": "model-request", "requestId": "q", "input": []}),
    Template({"type": "fault", "message": "run-stop"}),
    Template({"type": "native"}),
)
_MISPLACED: Final = (
    _result("alike"),
    _call("read", "alike", "same"),
    _call("read", "used", "same"),
    _call("bash", "earlier", None),
    _result("answered"),
    _result("answered", output="again"),
    _result("unknown"),
    _result("earlier"),
    Template({"unreadable": None}),
    Template({"type": "heartbeat"}),
)

_MISFITS: Final[Mapping[str, Sequence[Mapping[str, Json]]]] = {
    "user-message": (
        {}, {"text": 5}, {"text": None}, {"text": "x", "content": []}, {"content": "x"}, {"content": {}},
        {"text": "x", "id": 5}, {"text": "x", "delivery": "nextTurn"}, {"text": "x", "delivery": 5},
    ),
    "agent-output": (
        {}, {"text": "x"}, {"kind": "image", "text": "x"}, {"kind": 5, "text": "x"}, {"kind": "assistant"},
        {"kind": "assistant", "text": 5}, {"kind": "reasoning", "text": None}, {"kind": "tool-call", "callId": "a"},
        {"kind": "tool-call", "tool": "read"}, {"kind": "tool-call", "callId": 5, "tool": "read"},
        {"kind": "tool-call", "callId": "a", "tool": []}, {"kind": "assistant", "text": "x", "responseId": 5},
    ),
    "tool-result": (
        {}, {"callId": 5}, {"callId": None}, {"callId": "a", "isError": "no"}, {"callId": "a", "synthetic": 1},
    ),
    "run-stop": ({}, {"reason": "cancelled"}, {"reason": None}, {"reason": 5}, {"reason": "error", "detail": 5}),
}  # fmt: skip
"""RC-D5: faults that make an event of each type malformed."""
_FITTING: Final = (
    _user(text="", color="red", usage={"input": 5}, type_="run-stop"),
    Template({"type": "agent-output", "kind": "assistant", "text": "", "logprobs": []}, response="same"),
    _call("read", "new", "same", display="red", arguments=[5]),
    _result("open", exitCode=1, durationMs=5, output={"type": "run-stop"}),
    _stop("completed", cost=0.5, usage=None),
    _user(text="red", content=None, delivery=None, id=None, sessionId=5, timestamp=[], seq={}),
    _user(text="red", callId=5, reason=5, kind=5),
    Template({"type": "agent-output", "kind": "assistant", "text": "red", "callId": 5, "tool": [], "responseId": None}),
    Template({"type": "agent-output", "kind": "tool-call", "tool": "read", "text": 5}, "new"),
    _result("open", isError=None, synthetic=None, text=5),
    _stop("completed", detail=None, text=[]),
    Template({"type": "native", "kind": 5, "text": 5, "reason": 5}),
)
"""Fields that look malformed and are not: unknown ones, null for absent, and fields of another type of event."""
_NO_TYPES: Final[tuple[Json, ...]] = (None, 5, [])
_STRANGE: Final = (
    *(Template({"type": name, **fields}) for name, some in _MISFITS.items() for fields in some),
    *_FITTING,
    *(Template({"type": name}) for name in ("heartbeat", "user_message", "")),
    *(Template({"type": name}) for name in _NO_TYPES),
    Template({}),
)
_NEAR: Final = (*map(Template, near_events()), *(_call(tool, "new", "same") for tool in near_tools()[::2]))
"""At most 127: beyond, Hypothesis mixes constants of loaded modules into the choice, so that one seed would vary."""

_KINDS: Final = (
    _ROOTS,
    _STEERS,
    _FOLLOW_UPS,
    _OUTPUTS,
    _CALLS,
    _RESULTS,
    _STOPS,
    _OBSERVATIONS,
    _MISPLACED,
    _STRANGE,
    _NEAR,
)
_TEMPERS: Final[Mapping[str, tuple[int, ...]]] = {
    #           root steer follow output call result stop observe misplaced strange near
    "even": (1, 2, 2, 5, 5, 5, 2, 0, 0, 0, 0),
    "steered": (0, 4, 1, 4, 2, 2, 1, 0, 0, 0, 0),
    "queued": (1, 1, 6, 2, 2, 1, 4, 0, 0, 0, 0),
    "many cycles": (1, 1, 2, 3, 3, 2, 6, 0, 0, 0, 0),
    "busy": (0, 0, 1, 1, 12, 4, 0, 1, 0, 0, 0),
    "misplaced": (3, 1, 1, 2, 5, 4, 2, 0, 6, 0, 0),
    "wild": (3, 2, 2, 4, 5, 4, 3, 1, 7, 2, 1),
    "strange": (3, 1, 1, 2, 3, 2, 2, 1, 3, 8, 4),
}
"""Temper of a log → the weights of the kinds of template in it."""


@cache
def _template(temper: str) -> SearchStrategy[Template]:
    weighted = zip(_KINDS, _TEMPERS[temper], strict=True)
    return st.sampled_from([kind for kind, weight in weighted for _ in range(weight)]).flatmap(st.sampled_from)


class _Log:
    """A log under construction. ``request_cycle`` is stepped beside it, and supplies the open choices."""

    def __init__(self, policies: Policies, *, well_formed: bool) -> None:
        self.events: Final[list[Json]] = []
        self._cycle: Final = Stepper(SPEC, tables(policies))
        self._well_formed = well_formed
        self._named: Final[dict[str, None]] = {}  # all ids of calls, the newest last
        self._responses = 0

    def add(self, template: Template) -> None:
        """Append the event that *template* yields here."""
        fields = self._filled(template)
        event = judge(fields)
        self._cycle.take(symbol_of(event), event, len(self.events))
        self.events.append(fields)

    def _filled(self, template: Template) -> Json:
        fields = dict(template.fields)
        if "unreadable" in fields:
            return None
        if self._well_formed:
            fields, template = self._permitted(fields, template)
        if template.call is not None:
            fields["callId"] = self._call(template.call, fields["type"])
        if template.response is not None:
            self._responses += template.response == "new"
            fields["responseId"] = f"r{self._responses}"
        return fields

    @property
    def _calls(self) -> Mapping[str, int]:
        return cast("Mapping[str, int]", self._cycle.context.registers["calls"])

    @property
    def _open(self) -> list[str]:
        return [name for name, at in self._calls.items() if at != ANSWERED]

    def _permitted(self, fields: dict[str, Json], template: Template) -> tuple[dict[str, Json], Template]:
        """Replace an event that the machine does not permit by a permitted one."""
        name = fields.get("type")
        if self._cycle.state == "idle" and name not in ("user-message", "model-request", "fault", "native"):
            return {"type": "user-message", "text": "red"}, Template({})
        if name == "tool-result" and not self._open:
            return {"type": "agent-output", "kind": "assistant", "text": "red"}, Template({})
        if name == "run-stop" and self._open:
            return {"type": "tool-result", "output": "ok"}, Template({}, "open")
        return fields, template

    def _call(self, wanted: str, name: Json) -> str:
        """Return an id: the ids of one cycle are used again in the next, so that they recur across cycles."""
        calls, unanswered = self._calls, self._open
        answered = [one for one in calls if one not in unanswered]
        if name == "tool-result" and unanswered and (wanted == "open" or (wanted == "answered" and not answered)):
            return unanswered[len(unanswered) // 2]
        pool = {
            "alike": [one.swapcase() for one in calls],
            "open": unanswered,
            "answered": answered,
            "earlier": [one for one in self._named if one not in calls],  # of closed cycles, or rejected
            "used": unanswered + answered,
        }
        if found := pool.get(wanted):
            return found[-1]
        if wanted == "unknown" or name == "tool-result":
            return "unknown"
        made = f"c{len(calls) + 1}"
        self._named.pop(made, None)
        self._named[made] = None
        return made


@dataclass(frozen=True)
class Case:
    """One generated experiment: a log of one session, the policies of its projection, and the positions of its cuts."""

    log: list[Json]
    policies: Policies
    cuts: list[int]


_FATES: Final = ("promote", "hold", "drop")


@st.composite
def cases(draw: st.DrawFn, *, policies: Policies | None = None) -> Case:
    """Logs of up to about sixty events under all policies, or under the given ones.

    Short logs find most faults; long ones find those that show late (after the third cycle, the fourth steer).
    """
    chosen = policies or Policies(
        draw(st.sampled_from(("followUp", "steer"))), draw(st.sampled_from(_FATES)), draw(st.sampled_from(_FATES))
    )
    temper = draw(st.sampled_from(sorted(_TEMPERS)))
    least = draw(st.sampled_from((0, 10, 30, 50)))
    made = _Log(chosen, well_formed=temper not in ("misplaced", "wild", "strange"))
    for template in draw(st.lists(_template(temper), min_size=least, max_size=60)):
        made.add(template)
    log = made.events
    # Not st.integers: Hypothesis mixes constants of loaded modules into numbers, so that one seed would vary.
    cuts = sorted(draw(st.sets(st.sampled_from(range(len(log) + 1)), max_size=3)))
    return Case(log, chosen, cuts)
