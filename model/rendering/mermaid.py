"""A scene as Mermaid text."""

import re
from collections.abc import Iterator, Sequence

from .scene import Arrow, Edge, Row, Scene, Span, Views, label


def to_mermaid(scene: Scene) -> str:
    """Write *scene* as a Mermaid sequence diagram; its views are notes at both sides."""
    first, last = _name(scene.lifelines[0]), _name(scene.lifelines[-1])
    out = ["---", f"title: {scene.title}", "---", "sequenceDiagram"]
    out += [f"    participant {_name(party)} as {_entities(party)}" for party in scene.lifelines]
    for place, row in enumerate(scene.rows):
        if scene.views is not None:
            out += [f"    Note {note}" for note in _notes(scene.views, scene.rows, place, first, last)]
        if isinstance(row, Edge):
            out.append(f"    {row.kind} {_entities(row.caption)}".rstrip())
            continue
        words = _entities(label(row, "▶"))
        if isinstance(row, Arrow):
            head = "-->>" if row.stroke else "->>"
            out.append(f"    {_name(row.source)}{head}{_name(row.dest)}: {words}")
        else:
            out.append(f"    Note over {first},{last}: {words}")
    return "\n".join(out) + "\n"


def _notes(views: Views, rows: Sequence[Row], place: int, first: str, last: str) -> Iterator[str]:
    """Write the rounds and steps that begin with the row at *place*."""
    for span in views.rounds:
        if span.first == place:
            inputs, outputs = _positions(rows, span.inputs) or "none", _positions(rows, span.outputs) or "none"
            yield f"left of {first}: InferenceLoop {span.label}<br/>inputs {inputs}<br/>outputs {outputs}"
    for span in views.steps:
        if span.first == place:
            yield f"right of {last}: ResolutionStep {_step(span, rows)}"


def _step(span: Span, rows: Sequence[Row]) -> str:
    own = [row for row in span.outputs if not any(row in part.outputs for part in span.parts)]
    parts = (f"<br/>{part.label} {_positions(rows, part.outputs)}" for part in span.parts)
    return f"{span.label} {_positions(rows, own)}".rstrip() + "".join(parts)


def _positions(rows: Sequence[Row], places: Sequence[int]) -> str:
    return ", ".join(str(row.at) for row in map(rows.__getitem__, places) if not isinstance(row, Edge))


def _name(party: str) -> str:
    return re.sub(r"\W", "_", party)


def _entities(text: str) -> str:
    """Write all characters except letters, digits and a few marks as entities: Mermaid finds nothing to obey."""
    return "".join(char if char.isalnum() or char in " ,.()?!…“”▶⟨⟩+-_" else f"#{ord(char)};" for char in text)
