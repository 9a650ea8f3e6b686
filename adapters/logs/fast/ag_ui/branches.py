"""The fast loop of AG-UI, made from its parts.

Each branch does to the mapper what its handlers do with an event that nothing is wrong with, and no more: where a
branch is not sure, it leaves the line to the mapper. The mapper's own state is used: both can take turns at any line.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from ...formats.ag_ui_parts import ITEMS, SPANS, STEP, Item, Part
from .shapes import NAMES

_SETTLE: Final = "if results:\n    mapper.settle_results(last=False)\n"
_NEXT: Final = "at += 1\ncontinue\n"
_FREE: Final = "free = calls.get(name) is None and messages.get({}) is None  # of no sub-agent\n"
_CURRENT: Final = {item: item.family.split("_")[0].lower() for item in ITEMS}
"""Item → its register: the id whose deltas change nothing any more, None where there is none."""
_FORGET: Final = f"{' = '.join(_CURRENT.values())} = None\n"


def generate() -> str:
    """Return the text of the loop."""
    branches = dict(_branches())
    assert branches.keys() == set(NAMES)
    lines = [f"{_head('struct is ' + _class(name), 1)}{_in(text)}" for name, text in branches.items()]
    wholes = [_head(f'kind == "{item.family}"', n) + _in(_whole(item)) for n, item in enumerate(ITEMS)]
    return _FRAME.format(
        structures="".join(f'{_class(name)} = STRUCTURES["{name}"]\n' for name in sorted(NAMES)),
        forget=_FORGET.strip(),
        body=_in("".join(lines), 2),
        wholes=_in("".join(wholes), 3),
    )


def _head(condition: str, number: int) -> str:
    return f"{'elif' if number else 'if'} {condition}:\n"


def _class(name: str) -> str:
    return "".join(word.title() for word in name.split("_"))


def _in(text: str, levels: int = 1) -> str:
    return "".join(f"{'    ' * levels}{line}\n" for line in text.splitlines())


def _rule(part: Part) -> str:
    return f'("{part.begin}", {"(None, name)" if part is STEP else "name"})'


def _branches() -> Iterator[tuple[str, str]]:
    """The types with their branches, the most frequent first."""
    for item in ITEMS:
        named = f"name = event.{item.part.field}\n"
        keys = f'key, rule = ("{item.family}", name), {_rule(item.part)}\n'
        yield item.delta, f"{named}if name == {_CURRENT[item]}:\n{_in(_NEXT)}{_delta(item)}"
        free = _FREE.format("event.parentMessageId") if item.kind == "tool-call" else ""
        yield item.part.begin, f"{named}{keys}{free}if {_may_begin(item)}:\n{_in(_begin(item) + _NEXT)}"
        yield item.part.ends[0], f"{named}{keys}if calm and rule in begun and key in opened:\n{_in(_end(item) + _NEXT)}"
    for part in SPANS:
        if part.begin in NAMES:
            yield from _span(part)
    yield from _RUN.items()


def _delta(item: Item) -> str:
    """A delta that may change more than a text: the first of its item with a text, or the first since a result."""
    first = "item.slot = items.hold(at)\n"
    own = f"outputs.said, outputs.silent = True, False\n{_CURRENT[item]} = name\n"
    some = (
        f"if item.slot is None:\n{_in(first)}item.pieces.append(event.delta)\n"
        f'if ("{item.family}", name) not in others:  # what the user says is kept\n{_in(own)}'
    )
    known = f"{_SETTLE}if event.delta:\n{_in(some)}{_NEXT}"
    return f'item = opened.get(("{item.family}", name)) if calm else None\nif item is not None:\n{_in(known)}'


def _may_begin(item: Item) -> str:
    fresh = "rule not in used" if item.part.once else "rule not in begun"  # what is begun is used
    free = " and free" if item.kind == "tool-call" else ""
    return f"calm and {fresh} and (not opened or key not in opened){free}"


def _noted(item: Item) -> str:
    """Return the code by which an item's beginning is noted, whatever its place."""
    if item.kind == "tool-call":
        return (
            f"{_SETTLE}used.add(rule)\n"
            "calls[name] = None\n"
            "outputs.calls.add(name)\n"
            "outputs.unanswered.add(name)\n"
            "outputs.said = outputs.called = True\n"
            "outputs.silent = False\n"
        )
    return f"{_SETTLE}used.add(rule)\n{item.part.owned}s.setdefault(name, None)\nif others:\n    others.discard(key)\n"


def _begin(item: Item) -> str:
    if item.kind == "tool-call":
        call = 'call = AgentOutput(kind="tool-call", call_id=name, tool=event.toolCallName)\n'
        opened = f"{call}opened[key] = Item(Whole(call), items.hold(at))\n{_CURRENT[item]} = name\n"
    else:
        opened = f'opened[key] = Item(SAID["{item.kind}"], None)\n'
    return f"{_noted(item)}begun[rule] = None\n{opened}"


def _end(item: Item) -> str:
    current = _CURRENT[item]
    return f"{_SETTLE}del begun[rule]\nitems.finish(key)\nif name == {current}:\n    {current} = None\n"


def _whole(item: Item) -> str:
    """All that the lines of an item do together: it is begun and ended, and has its place where it takes one."""
    names = f'name = found["{item.family}_id"].decode()\nkey, rule = (kind, name), {_rule(item.part)}\n'
    if item.kind == "tool-call":
        names += 'parent = None if found["parent"] is None else found["parent"].decode()\n' + _FREE.format("parent")
        put = 'items.put(at, AgentOutput(kind="tool-call", call_id=name, tool=found["tool"].decode()))\n'
    else:
        put = f'outputs.said, outputs.silent = True, False\nitems.put(at + 1, _SOME["{item.kind}"])\n'
    return f"{names}if {_may_begin(item)}:\n{_in(_noted(item) + put)}    at = behind\n    continue\n"


def _span(part: Part) -> Iterator[tuple[str, str]]:
    named = f"name = event.{part.field}\nrule = {_rule(part)}\n"
    own = f"{part.owned}s.setdefault(name, None)\n" if part.owned else ""
    begin = _in(f"{_SETTLE}begun[rule] = None\nused.add(rule)\n{own}{_NEXT}")
    yield part.begin, f"{named}if calm and rule not in begun{' and rule not in used' if part.once else ''}:\n{begin}"
    end = _in(f"{_SETTLE}del begun[rule]\n{_NEXT}")
    yield from ((name, f"{named}if calm and rule in begun:\n{end}") for name in part.ends)


_RUN: Final[Mapping[str, str]] = {
    "TOOL_CALL_RESULT": "name = event.toolCallId\nif calm and name in outputs.calls:\n"
    + _in(
        "messages[event.messageId] = None\n"
        "results.append(Result(items.hold(at), name, event.messageId))\n"
        "outputs.unanswered.discard(name)\n"
        f"outputs.given()\n{_FORGET}{_NEXT}"
    ),
    "RUN_STARTED": "if not (mapper.running or mapper.paused or outputs.chunk):\n"
    + _in(f"{_SETTLE}mapper.run_started(at, {{}})\ncalm = True\n{_NEXT}"),
    "RUN_FINISHED": "if calm and not begun:\n"
    + _in(
        "mapper.settle_results(last=True)\n"
        "mapper.run_finished(at, {} if event.outcome is UNSET else SUCCESS)\n"
        f"calm = False\n{_FORGET}{_NEXT}"
    ),
}
"""Types that belong to no part → the code for them."""

_FRAME: Final = '''"""The fast loop of AG-UI, generated from its parts: run `make generate`, do not edit."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from msgspec import UNSET

from turncheck.model.core.events import AgentOutput

from ...formats.ag_ui import AgUiMapper, Result
from ...formats.ag_ui_items import SAID
from ...formats.items import Item, Whole
from ..ag_ui.shapes import DECODER, STRUCTURES, SUCCESS, item_pattern
from ..fast_loop import FastLoop

{structures}
_SOME: Final = {{kind: AgentOutput(kind=kind, text="…") for kind in SAID}}
"""Kind → an output of which nothing is known but that it has a text."""


def feed(mapper: AgUiMapper, events: Iterable[Any], at: int, hand: Callable[[int], bool]) -> int:
    """Take events from number *at* on, and return the number behind them (``FastLoop``)."""
    items, outputs, results = mapper.items, mapper.outputs, mapper.results
    opened, others = items.open, outputs.others
    begun, used, owners = mapper.rules.open, mapper.rules.used, mapper.rules.owners.of
    messages, calls, reasonings = owners["message"], owners["call"], owners["reasoning"]
    calm = mapper.running and outputs.chunk is None  # a run is open, and no item that came in chunks
    {forget}
    for event in events:
        struct = type(event)  # pyright: ignore[reportUnknownVariableType]
        behind = at + 1
        if struct is tuple:
            found, behind = event
            kind, behind = found.lastgroup, at + behind
{wholes}{body}        while at < behind:
            hand(at)
            at += 1
        calm = mapper.running and outputs.chunk is None
        {forget}
    return at


LOOP = FastLoop(DECODER.decode, item_pattern, feed)
'''
