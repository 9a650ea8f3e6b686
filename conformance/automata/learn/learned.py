"""Results of learning, for reports: a machine with its assumptions, and the comparison of two machines."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import Any, Final, Literal, TypeAlias

import msgspec

from turncheck.adapters.protocol.messages import Implementation
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.model.automata.mealy import Mealy
from turncheck.model.search import reached

from .abstraction import LOCAL, Abstracted, Bounds, Letter
from .learning import PUMPED, STIMULI, Figures, learn
from .output_abstraction import Awaits

Share: TypeAlias = Literal["agreed", "missing", "extra"]
"""A transition's owner: both machines, only the reference, or only the target."""
LOCAL_TEXTS: Final = frozenset(map(str, LOCAL))


class State(msgspec.Struct, frozen=True):
    """A state: the shortest letters that lead to it, and what is awaited in it."""

    access: tuple[str, ...]
    awaits: str


class Transition(msgspec.Struct, frozen=True):
    """A transition between states, given by their index."""

    source: int
    letter: str
    output: str
    dest: int


class Learned(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A learned machine. States are numbered breadth first in the letters' order; 0 is the initial one.

    ``cut`` says why it is only a conjecture; without it, ``claim`` holds. ``extra`` counts the additional states that
    the test of the last conjecture allowed for.
    """

    turncheck: str
    target: str
    implementation: Implementation
    bounds: Bounds
    policies: dict[str, Any]
    limits: dict[str, int]
    extra: int
    letters: tuple[str, ...]
    states: tuple[State, ...]
    transitions: tuple[Transition, ...]
    figures: Figures
    claim: str | None
    cut: str | None = None

    @property
    def table(self) -> list[dict[str, Transition]]:
        """State → letter → its transition."""
        found: list[dict[str, Transition]] = [{} for _ in self.states]
        for one in self.transitions:
            found[one.source][one.letter] = one
        return found


class Edge(msgspec.Struct, frozen=True):
    """A transition in the comparison of two machines, between nodes given by their index."""

    source: int
    letter: str
    output: str
    dest: int
    share: Share


class Node(msgspec.Struct, frozen=True):
    """A pair of states, or a state that only differing steps reach: None in the other machine."""

    target: int | None
    reference: int | None


class Difference(msgspec.Struct, frozen=True):
    """A shortest word on whose last letter the two machines differ, with the output of each."""

    word: tuple[str, ...]
    expected: str
    observed: str


class Comparison(msgspec.Struct, frozen=True, rename="camel"):
    """The target's machine over the reference's. The two are not compared beyond a difference."""

    target: Learned
    reference: Learned
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    differences: tuple[Difference, ...]
    counts: dict[Share, int]


class Conflict(msgspec.Struct, frozen=True):
    """A word that had two answers: the two outputs of its last letter, in order."""

    target: str
    word: tuple[str, ...]
    first: str
    then: str


def learn_runtime(
    runtime: RuntimeTarget,
    letters: Sequence[Letter],
    *,
    bounds: Bounds,
    policies: Mapping[str, Any],
    limits: Mapping[str, int],
    extra: int,
    stimuli: int = STIMULI,
    seconds: float | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Learned:
    """Learn the machine of *runtime* over *letters*, started with *policies* and *limits*. Raises as ``learn``."""
    system = Abstracted(runtime, bounds, policies=policies, limits=limits)
    result = learn(system, letters, extra=extra, stimuli=stimuli, seconds=seconds, progress=progress)
    machine = result.machine
    size = len(machine.table)
    claim = (
        f"the implementation's own machine over these letters, within these bounds, if it is deterministic, can be "
        f"reset, and has at most {size + extra} states; cycles were gone {PUMPED} times"
    )
    return Learned(
        turncheck=version("turncheck"),
        target=runtime.name,
        implementation=runtime.implementation,
        bounds=bounds,
        policies=dict(policies),
        limits=dict(limits),
        extra=extra,
        letters=tuple(map(str, machine.letters)),
        states=tuple(State(tuple(_names(machine, word)), _awaits(machine, word)) for word in machine.cover),
        transitions=tuple(
            Transition(source, str(machine.letters[letter]), str(output), dest)
            for source, row in enumerate(machine.table)
            for letter, (dest, output) in enumerate(row)
        ),
        figures=result.figures,
        claim=None if result.cut else claim,
        cut=result.cut,
    )


def compare(target: Learned, reference: Learned) -> Comparison:
    """Compare *target* with *reference* over the pairs of states that agreeing steps reach, breadth first.

    Raises ValueError where the letters are not the same.
    """
    if target.letters != reference.letters:
        raise ValueError("two machines over different letters cannot be compared")
    ours, theirs = target.table, reference.table

    def steps(pair: tuple[int, int]) -> Iterator[tuple[str, Transition, Transition]]:
        return ((letter, ours[pair[0]][letter], theirs[pair[1]][letter]) for letter in target.letters)

    def onward(pair: tuple[int, int]) -> Iterator[tuple[str, tuple[int, int]]]:
        return ((letter, (one.dest, other.dest)) for letter, one, other in steps(pair) if one.output == other.output)

    nodes: list[Node] = []
    edges: list[tuple[Node, str, str, Node, Share]] = []
    differences: list[Difference] = []
    for pair, word in reached([((0, 0), ())], onward):
        nodes.append(node := Node(*pair))
        for letter, one, other in steps(pair):
            found: Sequence[tuple[str, Node, Share]] = [(one.output, Node(one.dest, other.dest), "agreed")]
            if one.output != other.output:
                differences.append(Difference((*word, letter), other.output, one.output))
                found = [(one.output, Node(one.dest, None), "extra"), (other.output, Node(None, other.dest), "missing")]
            for said, dest, share in found:
                if said not in LOCAL_TEXTS:
                    edges.append((node, letter, said, dest, share))
    return _placed(target, reference, nodes, edges, differences)


def _placed(
    target: Learned,
    reference: Learned,
    nodes: list[Node],
    edges: list[tuple[Node, str, str, Node, Share]],
    differences: list[Difference],
) -> Comparison:
    """Number the nodes: a step that differs leads to the first pair with its state, or to a node of its own."""
    pairs = [*nodes]

    def place(node: Node) -> int:
        for number, pair in enumerate(pairs):
            if node == pair or (None in (node.target, node.reference) and _meets(node, pair)):
                return number
        if node not in nodes:
            nodes.append(node)
        return nodes.index(node)

    placed = tuple(Edge(place(one), letter, output, place(dest), share) for one, letter, output, dest, share in edges)
    shares: tuple[Share, ...] = ("agreed", "missing", "extra")
    counts: dict[Share, int] = {share: sum(edge.share == share for edge in placed) for share in shares}
    return Comparison(target, reference, tuple(nodes), placed, tuple(differences), counts)


def _meets(one: Node, pair: Node) -> bool:
    return one.target == pair.target if one.reference is None else one.reference == pair.reference


def _names(machine: Mealy, word: Sequence[int]) -> list[str]:
    return [str(machine.letters[letter]) for letter in word]


def _awaits(machine: Mealy, word: tuple[int, ...]) -> str:
    """Return what is awaited after the last step before a state."""
    return str(machine.run(word)[-1].awaits if word else Awaits())
