"""A word of stimuli with one option or detail less: what shrinking tries beside leaving stimuli out."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, cast

from msgspec.structs import replace

from turncheck.model.core.stimuli import (
    ModelStop,
    ResetOptions,
    Stimulus,
    Together,
    ToolReturn,
    User,
    Word,
    unnamed,
)

from ...observe.runtime_trace import flat

_DETAILS: Final[Mapping[type[Stimulus], tuple[str, ...]]] = {
    User: ("delivery", "content", "sender", "meta"),
    ModelStop: ("usage",),
    ToolReturn: ("data", "metadata"),
}
"""The fields of a stimulus that can be left out."""


def simpler(case: Word) -> Iterator[Word]:
    """Yield the word with fewer options, fewer stimuli together, a detail less, or without ids in its answers."""
    for options in _plainer(case):
        yield Word(case.stimuli, options)
    for place, stimulus in enumerate(case.stimuli):
        for some in _fewer(stimulus):
            yield Word((*case.stimuli[:place], *some, *case.stimuli[place + 1 :]), case.options)
    plain = Word(tuple(map(unnamed, case.stimuli)), case.options)
    if plain != case:
        yield plain


def _fewer(stimulus: Stimulus) -> Iterator[tuple[Stimulus, ...]]:
    """Yield what can stand in the place of a stimulus and is less."""
    if not isinstance(stimulus, Together):
        for name in _DETAILS.get(type(stimulus), ()):
            if getattr(stimulus, name) is not None:
                yield (replace(stimulus, **{name: None}),)
        return
    several = stimulus.stimuli
    yield from ((one,) for one in several)
    yield several
    for place, one in enumerate(several):
        if len(several) > 2:
            yield (replace(stimulus, stimuli=(*several[:place], *several[place + 1 :])),)
        for (less,) in _fewer(one):
            both = (*several[:place], cast(Any, less), *several[place + 1 :])
            yield (replace(stimulus, stimuli=both),)


def _plainer(case: Word) -> Iterator[ResetOptions]:
    """Yield no options but the tools, and then the options with one less, each in turn; a tool that is called stays."""
    options, called = case.options, {_tool(one) for stimulus in case.stimuli for one in flat(stimulus)}
    tools = tuple(tool for tool in options.tools if tool.get("name") in called)
    if options != ResetOptions(tools=tools):
        yield ResetOptions(tools=tools)
    for tool in options.tools:
        if tool.get("name") not in called:
            yield replace(options, tools=tuple(other for other in options.tools if other is not tool))
    for name in ResetOptions.__struct_fields__:
        value, default = getattr(options, name), getattr(ResetOptions(), name)
        if isinstance(value, dict):
            entries = cast("dict[str, Any]", value)
            for key in entries:
                yield replace(options, **{name: {other: entries[other] for other in entries if other != key}})
        elif name != "tools" and value != default:
            yield replace(options, **{name: default})


def _tool(stimulus: Any) -> str | None:
    """The tool that a stimulus calls."""
    return getattr(getattr(stimulus, "item", None), "tool", None)
