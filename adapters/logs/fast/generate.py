"""Generate ``ag_ui_loop.py`` from the parts of AG-UI: ``make generate`` writes the file, a test holds it to its source.

Each branch does to the mapper what its handlers do with an event that nothing is wrong with, and no more: where a branch
is not sure, it leaves the line to the mapper. The mapper's own state is used, so that both can take turns at any line.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ..formats.ag_ui_parts import ITEMS, SPANS, STEP, Item, Part
from .ag_ui_wires import NAMES

LOOP: Final = Path(__file__).with_name("ag_ui_loop.py")

_SETTLE: Final = "if results:\n    mapper.settle_results(last=False)\n"
_PLACE: Final = "items.pass_by(quiet, at)\nquiet = at + 1\n"
"""What takes a place of its own: the lines before it, of which none did, pass by."""


def generate() -> str:
    """Return the text of ``ag_ui_loop.py``."""
    branches = [
        *(branch for item in ITEMS for branch in _item(item)),
        *(branch for part in SPANS if part.begin in NAMES for branch in _span(part)),
        *_RUN.items(),
    ]
    body = "".join(
        f"{'elif' if number else 'if'} struct is {_class(name)}:\n{_indented(text, 4)}"
        for number, (name, text) in enumerate(branches)
    )
    names = sorted({_class(name) for name in NAMES})
    structures = "".join(f'{_class(name)} = STRUCTURES["{name}"]\n' for name in sorted(NAMES))
    assert len(names) == len(branches)
    nothing = " = ".join(_current(item) for item in ITEMS)
    adds = "".join(
        f"add_{_current(item)}: Callable[[str], None] = _none\n" for item in ITEMS if item.kind != "tool-call"
    )
    return _FRAME.format(
        structures=structures,
        nothing=nothing,
        adds=_indented(adds, 4).lstrip(),
        body=_indented(body.replace("{nothing}", nothing), 8),
    )


def _class(name: str) -> str:
    return "".join(word.title() for word in name.split("_"))


def _current(item: Item) -> str:
    """The register of an item: the id whose deltas came last, None where a delta may change more than a text."""
    return item.family.split("_")[0].lower()


def _indented(text: str, width: int) -> str:
    return "".join(f"{' ' * width}{line}\n" if line else "\n" for line in text.splitlines())


def _key(part: Part) -> str:
    return f'"{part.begin}", {"(None, name)" if part is STEP else "name"}'


def _item(item: Item) -> Iterator[tuple[str, str]]:
    current, part = _current(item), item.part
    called = item.kind == "tool-call"
    add = "" if called else f"    add_{current}(event.delta)\n"
    gather = "" if called else "        item.pieces.append(event.delta)\n"
    remember = f"{current} = name" if called else f"{current}, add_{current} = name, item.pieces.append"
    yield (
        item.delta,
        (
            f"name = event.{part.field}\n"
            f"if name == {current}:\n{add}    continue\n"
            f'item = opened.get(("{item.family}", name)) if calm else None\n'
            "if item is not None:\n"
            f"{_indented(_SETTLE, 4)}"
            "    if event.delta:\n"
            "        if item.slot is None:\n"
            f"{_indented(_PLACE, 12)}"
            "            item.slot = items.hold(at)\n"
            f"{gather}"
            f'        if ("{item.family}", name) not in others:\n'
            "            outputs.said, outputs.silent = True, False\n"
            f"        {remember}\n"
            "    continue\n"
        ),
    )
    yield part.begin, _begin_call(item) if called else _begin_text(item)
    yield (
        part.ends[0],
        (
            f"name = event.{part.field}\n"
            f'key, rule = ("{item.family}", name), ({_key(part)})\n'
            "if calm and rule in begun and key in opened:\n"
            f"{_indented(_SETTLE, 4)}"
            "    del begun[rule]\n"
            "    items.finish(key)\n"
            f"    if name == {current}:\n"
            f"        {current} = None\n"
            "    continue\n"
        ),
    )


def _begin_text(item: Item) -> str:
    part = item.part
    fresh = " and rule not in used" if part.once else ""
    return (
        f"name = event.{part.field}\n"
        f'key, rule = ("{item.family}", name), ({_key(part)})\n'
        f"if calm and rule not in begun{fresh} and key not in opened:\n"
        f"{_indented(_SETTLE, 4)}"
        "    begun[rule] = None\n"
        "    used.add(rule)\n"
        f"    {part.owned}s_owned.setdefault(name, None)\n"
        f'    opened[key] = Item(SAID["{item.kind}"], None)\n'
        "    others.discard(key)\n"
        "    continue\n"
    )


def _begin_call(item: Item) -> str:
    part = item.part
    return (
        f"name = event.{part.field}\n"
        f'key, rule = ("{item.family}", name), ({_key(part)})\n'
        "free = calls_owned.get(name) is None and messages_owned.get(event.parentMessageId) is None\n"
        "if calm and free and rule not in begun and key not in opened:\n"
        f"{_indented(_SETTLE + _PLACE, 4)}"
        "    begun[rule] = None\n"
        "    used.add(rule)\n"
        "    calls_owned[name] = None\n"
        '    call = AgentOutput(kind="tool-call", call_id=name, tool=event.toolCallName)\n'
        "    opened[key] = Item(Whole(call), items.hold(at))\n"
        "    outputs.calls.add(name)\n"
        "    outputs.unanswered.add(name)\n"
        "    outputs.said = outputs.called = True\n"
        "    outputs.silent = False\n"
        f"    {_current(item)} = name\n"
        "    continue\n"
    )


def _span(part: Part) -> Iterator[tuple[str, str]]:
    own = f"    {part.owned}s_owned.setdefault(name, None)\n" if part.owned else ""
    fresh = " and rule not in used" if part.once else ""
    begin = f"begun[rule] = None\n    used.add(rule)\n{own}"
    ends = ((part.begin, f"not in begun{fresh}", begin), *((end, "in begun", "del begun[rule]\n") for end in part.ends))
    for name, condition, effect in ends:
        yield (
            name,
            (
                f"name = event.{part.field}\n"
                f"rule = ({_key(part)})\n"
                f"if calm and rule {condition}:\n"
                f"{_indented(_SETTLE, 4)}"
                f"    {effect}"
                "    continue\n"
            ),
        )


_RUN: Final = {
    "TOOL_CALL_RESULT": (
        "name = event.toolCallId\n"
        "if calm and name in outputs.calls:\n"
        f"{_indented(_PLACE, 4)}"
        "    messages_owned[event.messageId] = None\n"
        "    results.append(Result(items.hold(at), name, event.messageId))\n"
        "    outputs.unanswered.discard(name)\n"
        "    outputs.given()\n"
        "    {nothing} = None\n"
        "    continue\n"
    ),
    "RUN_STARTED": (
        "if not (mapper.running or mapper.paused or outputs.chunk):\n"
        f"{_indented(_SETTLE + _PLACE, 4)}"
        "    mapper.run_started(at, {})\n"
        "    calm = True\n"
        "    continue\n"
    ),
    "RUN_FINISHED": (
        "if calm and not begun:\n"
        f"{_indented(_PLACE, 4)}"
        "    mapper.settle_results(last=True)\n"
        "    mapper.run_finished(at, {})\n"
        "    calm = False\n"
        "    {nothing} = None\n"
        "    continue\n"
    ),
}
"""What does not belong to a part."""

_FRAME: Final = '''"""The fast loop of AG-UI, generated from its parts: run `make generate`, do not edit."""

from collections.abc import Callable, Sequence
from typing import Any

from turncheck.model.core.events import AgentOutput

from ..formats.ag_ui_items import SAID
from ..formats.ag_ui import AgUiMapper, Result
from ..formats.items import Item, Whole
from .ag_ui_wires import STRUCTURES

{structures}

def feed(mapper: "AgUiMapper", events: Sequence[Any], first: int, hand: Callable[[int], None]) -> None:
    """Take events at consecutive positions from *first* on, None for one that was not decoded.

    *hand* lets *mapper* read the line of a position: of what is not decoded, and wherever no branch is sure.
    """
    items, outputs, results = mapper.items, mapper.outputs, mapper.results
    opened, others = items.open, outputs.others
    begun, used, owners = mapper.rules.open, mapper.rules.used, mapper.rules.owners.of
    messages_owned, calls_owned, reasonings_owned = owners["message"], owners["call"], owners["reasoning"]
    calm = mapper.running and outputs.chunk is None  # a run is open, and no item that came in chunks
    {nothing} = None
    {adds}    quiet = first  # from here on, no line has taken a place
    for at, event in enumerate(events, first):
        struct = type(event)
{body}        items.pass_by(quiet, at)
        quiet = at + 1
        hand(at)
        calm = mapper.running and outputs.chunk is None
        {nothing} = None
    items.pass_by(quiet, first + len(events))


def _none(_: str) -> None:
    """Stand for the text of no item."""
'''


if __name__ == "__main__":
    LOOP.write_text(generate(), "utf-8")
