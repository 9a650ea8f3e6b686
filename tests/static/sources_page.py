"""docs/sources.md: each source's own order beside the picture in which its machine plays it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from turncheck.model.rendering.scene import Arrow, Band, Row
from turncheck.model.rendering.stories.paths import PATHS

PAGE: Final = Path(__file__).parents[2] / "docs" / "sources.md"


class Source(NamedTuple):
    """A source: its number and subject, the form of its order, and a list of what differs in the picture."""

    number: str
    subject: str
    form: str
    differs: str


SOURCES: Final = {
    "request_cycle": Source(
        "000",
        "from events to cycles",
        "five numbered points, without a picture",
        """\
- Its two views of a cycle, InferenceLoop and ResolutionStep, stand beside a recorded run in [another
  picture](../diagrams/sequence.svg).
- What becomes of a queue after an interruption or an error is a policy (RC-D6): the source promotes it, as the
  picture does.""",
    ),
    "turn": Source(
        "001",
        "the single-chat turn",
        "six numbered steps with their points, without a picture",
        """\
- The source emits the terminal in step 5 and records it in step 6; it also demands that the record succeeds before
  the turn closes. So step 5 decides on the terminal, and it is sent behind the record.
- The journal gets each event before it is shown, not in step 6 alone; the picture leaves these lines out, and
  [another one](../diagrams/turn_sequence.svg) has them, with recovery.
- Messages that come amid a turn, and a restart, are no step: see the [machine](../diagrams/turn.svg).""",
    ),
    "event_flow": Source(
        "002",
        "from backend to UI",
        "the loop of an endpoint and the handlers of a UI, in words, without a picture",
        """\
- The source says of `message_complete` that each iteration has one, and that it comes if there are tool calls.
  Both are values of a policy (EF-3); the picture has the second.
- Its root causes and its plan are no part of the picture. The UI that it asks for, one block per model call, is
  [drawn frame by frame](../diagrams/event_flow_sequence.svg).
- The light arrows are the handlers' work, which the machine `collation` does.""",
    ),
    "conversation": Source(
        "003",
        "the conversation",
        "numbered requirements, each with its cases (WHEN … THE SYSTEM SHALL …), without a picture",
        """\
- REQ-BED-001 (a pure core), 009 (isolation) and 010 (a fixed directory) are no exchange and have no arrows. Of 013
  the images are a part of the message and of the request.
- REQ-BED-007's order, state before effects, is the arrow `save` before all others of a row; what is saved goes to
  all clients too (REQ-BED-011).
- The time after which a cancel has killed a tool (REQ-BED-005), and the delays between retries (REQ-BED-006), are
  the shell's: tests hold them.""",
    ),
    "engine": Source(
        "004",
        "a server's request",
        "a sequence diagram with eight parties, numbers, loops and alternatives",
        """\
- Parties, frames and the order of the arrows are the source's. The engine's machine does not see what lies behind
  its ports: the light arrows.
- Its table of error paths is [a picture of its own](../diagrams/engine_sequence.svg).""",
    ),
}
"""Machine → its source."""
HEAD: Final = """# The five systems beside their sources

Each table has a source's own order, in its own numbers and cases, beside the arrows that show it in the picture below.
The picture is played: the machine takes the events, and what it puts out is drawn. Light arrows are hops that the
machine does not see. An empty cell is a frame whose rows are those of the frames within it. Made of the machines by
`make generate`.

"""


def page() -> str:
    """Return the page."""
    return HEAD + "\n".join("\n".join(_system(name)) for name in PATHS)


def _system(name: str) -> Iterator[str]:
    source, scene = SOURCES[name], PATHS[name].scene()
    yield f"## {source.number}: {source.subject}"
    yield ""
    yield f"The source gives {source.form}. The machine is [`{name}`](../diagrams/{name}.svg)."
    yield ""
    yield "| in the source | arrows |"
    yield "| --- | --- |"
    yield from (f"| {label} | {arrows} |" for label, arrows in outline(scene.rows))
    yield ""
    yield source.differs
    yield ""
    yield f"![{scene.title}](../diagrams/{name}_path.svg)"
    yield ""


def outline(rows: Sequence[Row]) -> list[tuple[str, str]]:
    """Return the source's parts and frames, indented, each with the numbers of the arrows right within it."""
    found: list[tuple[str, list[int]]] = []
    open_frames: list[int] = []
    part = -1
    for row in rows:
        if isinstance(row, Arrow):
            at = open_frames[-1] if open_frames else part
            if at < 0:
                part = at = len(found)
                found.append(("the request", []))
            found[at][1].append(row.at or 0)
        elif isinstance(row, Band):
            part = len(found)
            found.append((f"**{row.caption}**" + (f" {row.text}" if row.text else ""), []))
        elif row.kind == "end":
            open_frames.pop()
        else:
            if row.kind == "else":
                open_frames.pop()
            found.append(("&emsp;" * (len(open_frames) + 1) + f"{row.kind}: {row.caption}", []))
            open_frames.append(len(found) - 1)
    return [(label, _ranges(numbers)) for label, numbers in found]


def _ranges(numbers: Sequence[int]) -> str:
    """Write numbers as ranges.

    >>> _ranges([1, 2, 3, 7, 9, 10])
    '1 to 3, 7, 9, 10'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs)
