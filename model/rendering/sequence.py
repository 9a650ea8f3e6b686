"""One cycle as a sequence picture: who says what to whom, the InferenceLoop view left, the ResolutionStep view right.

What is laid out here are rows, one an event and one wherever the model is asked; ``to_mermaid`` writes them as text and
``sequence_svg.to_svg`` draws them. What a log says is shown, never obeyed: controls and bidi marks are spelled out.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, cast
from unicodedata import category, east_asian_width

from ..core.cycles import AiBlock, CycleViews, Round, SteerStep, Step

LIFELINES: Final = ("user", "agent", "model", "tools")
WIDEST: Final = 36
"""Columns that a text of the log gets; wide characters take two."""
UNPRINTABLE: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


@dataclass(frozen=True)
class Arrow:
    """One row: an arrow between two lifelines, or, where they are the same, a line across all of them.

    ``at`` is the event's position; None where a round asks the model, which the log says nothing of. ``ours`` is False
    for an event that is no part of the cycle, ``marked`` True for the one to point at.
    """

    at: int | None
    source: int
    dest: int
    caption: str
    text: str
    ours: bool = True
    marked: bool = False


@dataclass(frozen=True)
class Span:
    """A round, a step or a group: its rows (``inputs`` and ``outputs`` tell them apart in a round) and its parts."""

    label: str
    outputs: tuple[int, ...]
    inputs: tuple[int, ...] = ()
    parts: "tuple[Span, ...]" = ()

    @property
    def first(self) -> int:
        """The topmost row."""
        return min(self.inputs + self.outputs)

    @property
    def last(self) -> int:
        """The lowest row."""
        return max(self.inputs + self.outputs)


@dataclass(frozen=True)
class Scene:
    """The picture before it is drawn. Spans name rows by their index; ``attached`` says a result's row and its call."""

    title: str
    arrows: tuple[Arrow, ...]
    rounds: tuple[Span, ...]
    steps: tuple[Span, ...]
    attached: Mapping[int, int]


def layout(log: Sequence[object], cycle: CycleViews, mark: int | None = None) -> Scene:
    """Lay out *cycle*, whose positions index *log*: the JSON values of its session.

    Events between the cycle's that are no part of it are shown too. *mark* is a position to point at, in the cycle or
    not.
    """
    blocks = [step for step in cycle.steps if isinstance(step, AiBlock)]
    results = {call.at: call.result for block in blocks for group in block.groups for call in group.calls}
    asked = {item.outputs[0]: item for item in cycle.rounds if item.outputs}
    members = _members(cycle)
    arrows: list[Arrow] = []
    row_of: dict[int, int] = {}
    for at in _shown_positions(cycle, members, len(log), mark):
        if at in asked:
            arrows.append(_asking(asked[at]))
        row_of[at] = len(arrows)
        unanswered = at in results and results[at] is None
        arrows.append(_arrow(log[at], at, cycle, ours=at in members, marked=at == mark, unanswered=unanswered))
    rounds = tuple(
        Span(f"round {number}", _rows(item.outputs, row_of), _rows(item.inputs, row_of))
        for number, item in enumerate(cycle.rounds, 1)
    )
    return Scene(
        title=f"{'Direct' if cycle.kind == 'direct' else 'Follow-up'} cycle, {cycle.reason or 'still open'}",
        arrows=tuple(arrows),
        rounds=rounds,
        steps=tuple(step_span(step, row_of) for step in cycle.steps),
        attached={row_of[result]: call for call, result in results.items() if result is not None},
    )


def _members(cycle: CycleViews) -> set[int]:
    """Collect every position that the views name: all accepted events are in the rounds."""
    members = {at for item in cycle.rounds for at in (*item.inputs, *item.outputs)}
    return members | {cycle.root} | ({cycle.stop} if cycle.stop is not None else set())


def _shown_positions(cycle: CycleViews, members: set[int], size: int, mark: int | None) -> list[int]:
    """List the cycle's positions, those between them, and the mark; a promoted root may lie far before its cycle."""
    inner = members - {cycle.root} if cycle.kind == "followUp" else members
    last = size - 1 if cycle.stop is None else cycle.stop
    between = range(min(inner, default=last), last + 1)
    return sorted({*members, *between, *([] if mark is None else [mark])})


def _rows(positions: Sequence[int], row_of: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(row_of[at] for at in positions)


def step_span(step: Step, row_of: Mapping[int, int]) -> Span:
    """Lay out a step of the ResolutionStep view; *row_of* is position → row."""
    if not isinstance(step, AiBlock):
        return Span("steer" if isinstance(step, SteerStep) else "non-steer", (row_of[step.at],))
    parts = tuple(Span(group.type, tuple(row_of[call.at] for call in group.calls)) for group in step.groups)
    text = () if step.text is None else (row_of[step.text],)
    label = "ai-block" if step.text is not None else "ai-block, no text"
    return Span(label, (*text, *(row for part in parts for row in part.outputs)), parts=parts)


def _asking(item: Round) -> Arrow:
    given = ", ".join(map(str, item.inputs)) or "nothing new"
    return Arrow(None, 1, 2, shown(f"asked with {given}"), "")


def _arrow(value: object, at: int, cycle: CycleViews, *, ours: bool, marked: bool, unanswered: bool) -> Arrow:
    event = as_object(value)
    source, dest, caption, text = said(event, value)
    if at == cycle.root:
        caption = "root" if cycle.kind == "direct" else "root, promoted follow-up"
    elif ours and event.get("type") == "user-message":
        caption = "steer"
    elif unanswered:
        caption += ", unanswered"
    elif not ours:
        caption += ", no part of this cycle"
    return Arrow(at, source, dest, caption, shown(text), ours=ours, marked=marked)


def said(event: Mapping[str, object], value: object) -> tuple[int, int, str, str]:
    """Tell from, to, what it is, and its text."""
    kind = event.get("kind") if event.get("type") == "agent-output" else event.get("type")
    match kind:
        case "user-message":
            return 0, 1, "user message", _plain(event.get("text", event.get("content")))
        case "assistant" | "reasoning":
            return 2, 1, str(kind), _plain(event.get("text"))
        case "tool-call":
            return 2, 3, "tool call", f"{_plain(event.get('tool'))}({_arguments(event.get('arguments'))})"
        case "tool-result":
            return 3, 1, "failed result" if event.get("isError") is True else "result", _plain(event.get("output"))
        case "run-stop":
            return 1, 1, "run-stop", _plain(event.get("reason"))
        case str():
            return 1, 1, shown(kind), ""
        case _:
            return 1, 1, "no event", _plain(value)


def as_object(value: object) -> Mapping[str, object]:
    """Take a JSON object as it is, anything else as one without fields."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def _arguments(value: object) -> str:
    if named := as_object(value):
        return ", ".join(f"{name}: {_plain(given)}" for name, given in named.items())
    return "" if value is None or value == {} else _plain(value)


def _plain(value: object) -> str:
    """Take a text as it is, a list of parts as their texts, other JSON as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [as_object(part) for part in cast("list[object]", value)]
        if parts and all(isinstance(part.get("type"), str) for part in parts):
            return " ".join(str(part.get("text", f"[{part['type']}]")) for part in parts)
    return json.dumps(value, ensure_ascii=False)


def shown(text: str) -> str:
    """Fit *text* in one line of ``WIDEST`` columns; what is no visible character is spelled ⟨U+…⟩."""
    out: list[str] = []
    left = WIDEST - 1
    for piece in _pieces(text):
        left -= columns(piece)
        if left < 0:
            return "".join(out).rstrip() + "…"
        out.append(piece)
    return "".join(out)


def columns(text: str) -> int:
    """Count the columns that *text* takes in a monospaced face."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _pieces(text: str) -> Iterator[str]:
    for char in " ".join(text.split()):
        yield f"⟨U+{ord(char):04X}⟩" if category(char) in UNPRINTABLE else char


def to_mermaid(log: Sequence[object], cycle: CycleViews, mark: int | None = None) -> str:
    """Write *cycle* as Mermaid; rounds are notes on the left, steps on the right. See ``layout`` for the arguments."""
    scene = layout(log, cycle, mark)
    out = ["---", f"title: {scene.title}", "---", "sequenceDiagram", *(f"    participant {name}" for name in LIFELINES)]
    for row, arrow in enumerate(scene.arrows):
        out += [
            f"    Note left of user: InferenceLoop {_span(scene, span)}" for span in scene.rounds if span.first == row
        ]
        out += [
            f"    Note right of tools: ResolutionStep {_span(scene, span)}" for span in scene.steps if span.first == row
        ]
        out.append(f"    {_message(arrow)}")
    return "\n".join(out) + "\n"


def _span(scene: Scene, span: Span) -> str:
    def positions(rows: Sequence[int]) -> str:
        return ", ".join(str(scene.arrows[row].at) for row in rows)

    if span in scene.rounds:
        inputs, outputs = positions(span.inputs) or "none", positions(span.outputs) or "none"
        return f"{span.label}<br/>inputs {inputs}<br/>outputs {outputs}"
    own = [row for row in span.outputs if not any(row in part.outputs for part in span.parts)]
    parts = (f"<br/>{part.label} {positions(part.outputs)}" for part in span.parts)
    return f"{span.label} {positions(own)}".rstrip() + "".join(parts)


def _message(arrow: Arrow) -> str:
    words = " ".join(
        filter(None, (None if arrow.at is None else str(arrow.at), arrow.caption, arrow.text and f"“{arrow.text}”"))
    )
    label = _entities(f"▶ {words}" if arrow.marked else words)
    if arrow.source == arrow.dest:
        return f"Note over user,tools: {label}"
    head = "->>" if arrow.ours and arrow.at is not None and not arrow.caption.endswith("result") else "-->>"
    return f"{LIFELINES[arrow.source]}{head}{LIFELINES[arrow.dest]}: {label}"


def _entities(text: str) -> str:
    """Write all but letters, digits, spaces and a few marks as entities: Mermaid finds nothing to obey."""
    return "".join(char if char.isalnum() or char in " ,.()?!…“”▶⟨⟩+-" else f"#{ord(char)};" for char in text)
