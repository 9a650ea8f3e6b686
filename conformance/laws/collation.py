"""Laws on a UI's collation: frames in, blocks out (EF-5 to EF-12, X-2). A whole flow of frames determines the blocks.

`verify` judges a collator by them; a function of Python can be judged directly, with
``law.judge(Collation(frames, function))`` for each ``law`` of ``registry.selected(["collator"])``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import Any, Final, TypeAlias

from msgspec.structs import replace

from turncheck.model.machines.blocks import Block, Status

from .law import WITNESS, Finding, Judgement, LawsOn

Frame: TypeAlias = Mapping[str, Any]

Collate: TypeAlias = Callable[[Sequence[Frame]], Sequence[Block]]

_TRIO: Final = ("delta", "llm_response", "message_complete")
_TOOLS: Final = ("tool_call_start", "tool_call_result")


@dataclass(frozen=True)
class Collation:
    """One request's frames, from its first to its last, and the function of the UI under test that collates them.

    ``elsewhere`` collates in another process with another hash seed, where there is one.
    """

    frames: tuple[Frame, ...]
    collate: Collate
    elsewhere: Collate | None = None

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks that the UI shows of the frames."""
        return tuple(self.collate(self.frames))

    @cached_property
    def responses(self) -> Mapping[int, Frame]:
        """Iteration → its ``llm_response``."""
        return {frame["iteration"]: frame for frame in self.frames if frame["type"] == "llm_response"}

    @cached_property
    def results(self) -> Mapping[str, Any]:
        """Call id → the result of its tool."""
        return {frame["id"]: frame["content"] for frame in self.frames if frame["type"] == "tool_call_result"}

    def answered(self) -> Iterator[tuple[int, Frame, Block]]:
        """Each response that has a block, with its iteration and the first of its blocks."""
        shown = {block.iteration: block for block in reversed(self.blocks)}
        return ((at, response, shown[at]) for at, response in self.responses.items() if at in shown)

    def parts(self) -> Iterator[tuple[list[Frame], list[Frame]]]:
        """The frames of each iteration: those of the model, and those of its tools."""
        said: list[Frame] = []
        used: list[Frame] = []
        for frame in self.frames:
            if frame["type"] in _TOOLS:
                used.append(frame)
                continue
            if used:
                yield said, used
                said, used = [], []
            said.append(frame)
        yield said, used


collation_law: Final = LawsOn[Collation]("collator", "relation")


@collation_law("X-2", evidence="a flow collated twice")
def blocks_same_again(collation: Collation) -> Judgement:
    """The same flow twice gives the same blocks twice."""
    yield WITNESS
    yield from _equal("collated again", collation.blocks, collation.collate(collation.frames))


@collation_law("X-2", evidence="a flow collated in two processes")
def blocks_hash_seed(collation: Collation) -> Judgement:
    """A new process under another hash seed gives the same blocks."""
    if collation.elsewhere is not None:
        yield WITNESS
        yield from _equal("collated in another process", collation.blocks, collation.elsewhere(collation.frames))


@collation_law("EF-5", "EF-8", evidence="a flow of frames")
def one_block_per_call(collation: Collation) -> Judgement:
    """One model call is one response block, in order."""
    expected, observed = sorted(collation.responses), [block.iteration for block in collation.blocks]
    yield from (WITNESS for _ in expected)
    if observed != expected:
        yield Finding(None, "the blocks are not one for each model call", expected, observed)


@collation_law("EF-6", evidence="a flow of frames")
def blocks_described(collation: Collation) -> Judgement:
    """Each block shows provider, model and usage, in every iteration and either dialect."""
    for iteration, response, block in collation.answered():
        yield WITNESS
        expected = (response["provider"], response["model"], response["response"]["usage"])
        observed = (block.provider, block.model, block.usage)
        if observed != expected:
            yield Finding(None, f"block {iteration} does not show whose response it is", expected, observed)


@collation_law("EF-7", evidence="a flow of frames")
def tools_on_their_response(collation: Collation) -> Judgement:
    """A tool use hangs on the response that made it, with its result, and on no other."""
    expected = {
        call["id"]: (iteration, collation.results.get(call["id"]))
        for iteration, response in collation.responses.items()
        for call in response["response"]["tool_calls"]
    }
    observed = [(use.call_id, (block.iteration, use.result)) for block in collation.blocks for use in block.calls]
    yield from (WITNESS for _ in expected)
    if sorted(observed) != sorted(expected.items()):
        yield Finding(None, "tool uses do not hang on the response that made them", expected, observed)


@collation_law("EF-8", evidence="a flow of frames")
def any_order_same_blocks(collation: Collation) -> Judgement:
    """The blocks are the same in whatever order delta, llm_response and message_complete come."""
    for order in permutations(_TRIO):
        frames: list[Frame] = []
        for said, used in collation.parts():
            frames += [frame for frame in said if frame["type"] not in _TRIO]
            frames += [frame for kind in order for frame in said if frame["type"] == kind]
            frames += used
        if frames != list(collation.frames):
            yield WITNESS
            yield from _same(collation, frames, ", ".join(order))


@collation_law("EF-9", evidence="a flow of frames")
def no_empty_twin(collation: Collation) -> Judgement:
    """No empty block stands beside its full twin."""
    for block in collation.blocks:
        response = collation.responses.get(block.iteration)
        if response is None or not (response["response"]["content"] or response["response"]["tool_calls"]):
            continue
        yield WITNESS
        if not block.text and not block.calls:
            yield Finding(None, f"block {block.iteration} is empty, and its response is not", response, block)


@collation_law("EF-10", evidence="a flow of frames")
def never_poorer(collation: Collation) -> Judgement:
    """A message_complete never makes a block poorer than it was."""
    for place, frame in enumerate(collation.frames):
        if frame["type"] != "message_complete":
            continue
        after = {block.iteration: block for block in collation.collate(collation.frames[: place + 1])}
        for before in collation.collate(collation.frames[:place]):
            yield WITNESS
            lost = sorted(_known(before) - _known(after.get(before.iteration)))
            if lost:
                yield Finding(place, f"message_complete takes {', '.join(lost)} from block {before.iteration}", before)


@collation_law("EF-12", evidence="a flow of frames")
def own_record(collation: Collation) -> Judgement:
    """A block takes its own iteration's record of those that message_complete accumulates."""
    for place, frame in enumerate(collation.frames):
        records = frame.get("llmApiCalls", [])
        if frame["type"] != "message_complete" or len(records) < 2:
            continue
        shown = {block.iteration: block for block in collation.collate(collation.frames[: place + 1])}
        for iteration, record in enumerate(records, 1):
            block = shown.get(iteration)
            response = record["response"]
            if block is None or iteration not in collation.responses:
                continue
            yield WITNESS
            expected, observed = (response["usage"], response["finish_reason"]), (block.usage, block.finish_reason)
            if observed != expected:
                yield Finding(place, f"block {iteration} does not show its own record", expected, observed)


@collation_law("EF-D2", evidence="a flow of frames")
def text_is_the_responses(collation: Collation) -> Judgement:
    """Deltas accumulate, equal ones too, until the response replaces them."""
    said = ""
    for place, frame in enumerate(collation.frames):
        if frame["type"] == "delta":
            said += frame["content"]
            yield WITNESS
            shown = collation.collate(collation.frames[: place + 1])
            if not shown or shown[-1].text != said:
                yield Finding(place, "the newest block does not show what was streamed", said, shown[-1:])
        elif frame["type"] == "llm_response":
            said = ""
    for iteration, response, block in collation.answered():
        if block.text != response["response"]["content"]:
            yield Finding(None, f"block {iteration} has another text", response["response"]["content"], block.text)


@collation_law("EF-D5", evidence="a delta, or a response behind one", needs=("streaming",), since="0.2")
def streams_until_its_response(collation: Collation) -> Judgement:
    """The newest block streams from its first delta until its response is there, and no other block does."""
    for place, frame in enumerate(collation.frames):
        kind = frame["type"]
        shown = collation.collate(collation.frames[: place + 1]) if kind in _TRIO else ()
        if shown:
            yield WITNESS
            expected = [False] * (len(shown) - 1) + [kind == "delta"]
            observed = [block.streaming for block in shown]
            if observed != expected:
                yield Finding(place, f"after {kind}, other blocks stream than the newest", expected, observed)


@collation_law("EF-D5", evidence="a tool's use", needs=("tool-status",), since="0.2")
def tool_status_told(collation: Collation) -> Judgement:
    """A tool's use waits from its response on, runs from its start on, and is done or has failed with its result."""
    expected: dict[str, Status] = {}
    for place, frame in enumerate(collation.frames):
        match frame["type"]:
            case "llm_response":
                expected |= {call["id"]: "waiting" for call in frame["response"]["tool_calls"]}
            case "tool_call_start":
                expected[frame["id"]] = "running"
            case "tool_call_result":
                expected[frame["id"]] = "failed" if frame.get("is_error") else "done"
            case _:
                continue
        shown = collation.collate(collation.frames[: place + 1]) if expected else ()
        observed = {use.call_id: use.status for block in shown for use in block.calls if use.call_id in expected}
        yield from (WITNESS for _ in observed)
        if observed and observed != expected:
            yield Finding(place, f"after {frame['type']}, a tool's use has another status", dict(expected), observed)


@collation_law("EF-D2", evidence="a flow of frames")
def repeats_change_nothing(collation: Collation) -> Judgement:
    """A frame that comes again changes nothing: it is known by iteration, call id or number."""
    for end in [at for at, frame in enumerate(collation.frames, 1) if frame["type"] == "delta"]:
        yield from _repeated(Collation(collation.frames[:end], collation.collate))
    yield from _repeated(collation)


@collation_law("EF-10", evidence="a flow of frames")
def late_joiner_same_blocks(collation: Collation) -> Judgement:
    """A client that missed llm_request gets the same blocks."""
    frames = [frame for frame in collation.frames if frame["type"] != "llm_request"]
    if len(frames) < len(collation.frames):
        yield WITNESS
        yield from _same(collation, frames, "without llm_request")


@collation_law("EF-10", "EF-D1", evidence="a flow of frames")
def dialects_agree(collation: Collation) -> Judgement:
    """Call records that bear provider and model at the top, or nested, give the same blocks."""
    frames = [_other_dialect(frame) for frame in collation.frames]
    if frames != list(collation.frames):
        yield WITNESS
        yield from _same(collation, frames, "the other dialect")


def _repeated(collation: Collation) -> Judgement:
    known = [frame for frame in collation.frames if frame["type"] != "delta" or "seq" in frame]
    twice = [frame for one in collation.frames for frame in ([one, one] if one in known else [one])]
    if known:
        yield WITNESS
    yield from _same(collation, twice, "each frame twice")
    yield from _same(collation, [*collation.frames, *known], "all frames again")


def _same(collation: Collation, frames: Sequence[Frame], what: str) -> Iterator[Finding]:
    """Compare the blocks of other frames with the collation's own, except for the request to the model."""
    own, others = (
        [replace(block, request=None) for block in one] for one in (collation.blocks, collation.collate(frames))
    )
    yield from _equal(what, own, others)


def _equal(what: str, expected: Sequence[Block], observed: Sequence[Block]) -> Iterator[Finding]:
    """Compare blocks with all that they show."""
    if [*observed] != [*expected]:
        yield Finding(None, f"{what}: other blocks", [*expected], [*observed])


def _known(block: Block | None) -> set[str]:
    """The fields of a block that are not empty."""
    names = ("provider", "model", "usage", "finish_reason", "text", "calls")
    return {name for name in names if block is not None and getattr(block, name) not in (None, "", ())}


def _other_dialect(frame: Frame) -> Frame:
    records = frame.get("llmApiCalls")
    if records is not None:
        return {**frame, "llmApiCalls": [_other_record(record) for record in records]}
    return frame if "llmApiCall" not in frame else {**frame, "llmApiCall": _other_record(frame["llmApiCall"])}


def _other_record(record: Frame) -> Frame:
    """Return the record in the other dialect: provider and model in its place."""
    named = {"provider", "model"}
    if named <= record.keys():
        rest = {name: value for name, value in record.items() if name not in named}
        return {**rest, "request": {**record["request"], **{name: record[name] for name in named}}}
    request = record["request"]
    bare = {name: value for name, value in request.items() if name not in named}
    return {**{name: request[name] for name in named}, **record, "request": bare}
