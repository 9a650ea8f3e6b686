"""A copy of a runtime's environment, in which one file at a time is mutated; the user's own is never written."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from turncheck.adapters.protocol.connection import Connection
from turncheck.adapters.protocol.errors import TargetError
from turncheck.adapters.protocol.runtime import RuntimeTarget
from turncheck.adapters.targets.environments import KIT
from turncheck.adapters.targets.remote_runtime import RemoteRuntime
from turncheck.adapters.targets.runtime_catalog import known
from turncheck.conformance.verify.verification import verify_runtime
from turncheck.model.core.stimuli import ResetOptions, Step, Stimulus
from wild.forking import Forks

HERE = Path(__file__).parent
TIMEOUT = 20.0
"""Seconds for an answer: a busy machine takes some, and a mutant that hangs costs as many."""
START_SECONDS = 120.0
"""Seconds for a start: LangGraph took over 30 beside seven others on two cores, which is no fault of a mutant."""
GENERATED = 30
"""Generated words among those by which a mutant is observed, besides all directed ones: what ``--quick`` has."""
_PI = "node_modules/@earendil-works/pi-agent-core/dist"
_PYDANTIC = "lib/python3.11/site-packages/pydantic_ai"
_OLD_PI = "node_modules/@mariozechner/pi-agent-core/dist"
_PACKAGES = "lib/python3.11/site-packages"
_OPENAI = f"{_PACKAGES}/agents/run_internal"
LOOPS: Mapping[str, Sequence[str]] = {
    "pi@0.87.1": (f"{_PI}/agent-loop.js", f"{_PI}/agent.js"),
    "pi@0.73.1": (f"{_OLD_PI}/agent-loop.js", f"{_OLD_PI}/agent.js"),
    "pi-harness@0.87.1": (
        *(f"{_PI}/harness/runtime/{name}.js" for name in ("harness", "lane", "reducer")),
        *(f"{_PI}/harness/runtime/drive/{name}.js" for name in ("response", "generation", "tools", "structural")),
        f"{_PI}/harness/compaction/compaction.js",
    ),
    "ai-sdk@6.0.326": ("node_modules/ai/dist/index.mjs",),
    "ai-sdk-resumable@6.0.326": ("node_modules/resumable-stream/dist/runtime.js",),
    "pydantic-ai@2.68.0": (f"{_PYDANTIC}/_agent_graph.py", f"{_PYDANTIC}/tool_manager.py"),
    "pydantic-ai-ag-ui@2.68.0": (
        f"{_PYDANTIC}/_agent_graph.py",
        *(f"{_PYDANTIC}/ui/{name}.py" for name in ("_event_stream", "ag_ui/_event_stream", "ag_ui/_adapter")),
    ),
    "openai-agents@0.24.0": (
        *(f"{_OPENAI}/{name}.py" for name in ("run_loop", "turn_resolution", "tool_execution", "tool_planning")),
    ),
    "langgraph@1.2.22": (
        f"{_PACKAGES}/langchain/agents/factory.py",
        *(f"{_PACKAGES}/langgraph/{name}.py" for name in ("pregel/_loop", "pregel/_runner", "prebuilt/tool_node")),
    ),
}
"""Runtime → the files of its loop."""
INDEPENDENT: Mapping[str, Sequence[str]] = {"langgraph@1.2.22": ("langgraph.prebuilt",)}
"""Runtime → modules that can be imported before all others: LangChain's factory needs LangGraph, not the reverse."""


@dataclass(frozen=True)
class Played:
    """A word as it was applied, with the answers to it."""

    options: ResetOptions
    stimuli: tuple[Stimulus, ...]
    answers: bytes


class Recording:
    """A runtime that records the words that it is given."""

    def __init__(self, runtime: RuntimeTarget) -> None:
        self._runtime = runtime
        self.words: list[tuple[ResetOptions, list[Stimulus]]] = []
        self.name, self.implementation, self.profile = runtime.name, runtime.implementation, runtime.profile

    def reset(self, options: ResetOptions = ResetOptions()) -> Step:  # noqa: B008 - frozen
        self.words.append((options, []))
        return self._runtime.reset(options)

    def apply(self, stimulus: Stimulus) -> Step:
        self.words[-1][1].append(stimulus)
        return self._runtime.apply(stimulus)

    def run(self, word: Sequence[Stimulus]) -> tuple[Step, ...]:
        self.words[-1][1].extend(word)
        return self._runtime.run(word)

    @property
    def last_words(self) -> tuple[str, ...]:
        return self._runtime.last_words

    @property
    def in_process(self) -> bool:
        return self._runtime.in_process

    def kill(self, amid: Stimulus | None = None, seconds: float = 0.0) -> None:
        self._runtime.kill(amid, seconds)

    def again(self, hash_seed: int) -> RuntimeTarget:
        return self._runtime.again(hash_seed)

    def close(self) -> None:
        self._runtime.close()

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Bench:
    """A copy of the environment of the known runtime *name* in *folder*."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder / "environment"
        runtime = known()[name]
        shutil.copytree(runtime.environment.make(print), self.folder, symlinks=True)
        self._adapter = runtime.adapter
        self.files = LOOPS[name]
        self._mutated: str | None = None
        self._python = [str(self.folder / "bin" / "python"), str(self._adapter)]
        self._environment = {"PYTHONPATH": str(KIT), "PYTHONDONTWRITEBYTECODE": "1"}
        self._forks = Forks(self._python, self._environment, folder, INDEPENDENT.get(name, ()))

    def open(self, **environment: str) -> RemoteRuntime:
        """Start the copy, with a mutated file of Python by a fork. Raises TargetError."""
        if self._adapter.suffix == ".py":
            command = self._python if self._mutated is None else self._forks.command(self._mutated)
            environment = {**self._environment, **environment}
        else:
            command = ["node", str(self._adapter)]
            environment = {"TURNCHECK_ENVIRONMENT": str(self.folder), **environment}
        return RemoteRuntime(
            Connection(
                self.name, command=command, environment=environment, timeout=TIMEOUT, start_seconds=START_SECONDS
            )
        )

    def source(self, file: str) -> str:
        """The text of a file of the copy."""
        return (self.folder / file).read_text("utf-8")

    @contextmanager
    def mutated(self, file: str, text: str) -> Iterator[None]:
        """Put *text* in the place of a file for the time of the context."""
        path = self.folder / file
        before = path.read_bytes()
        for compiled in path.parent.glob(f"__pycache__/{path.stem}.*"):
            compiled.unlink()  # its key is time and size alone
        path.write_text(text, "utf-8")
        self._mutated = str(path)
        try:
            yield
        finally:
            self._mutated = None
            path.write_bytes(before)

    def close(self) -> None:
        """End what waits for the next mutant."""
        self._forks.close()

    def recorded(self, seed: int) -> list[Played]:
        """The words by which a mutant is observed: those that are answered by the same bytes twice."""
        with self.open() as opened:
            recording = Recording(opened)
            verify_runtime(recording, [], words=GENERATED, seed=seed)
        words = [(options, tuple(stimuli)) for options, stimuli in recording.words if stimuli]
        with self.open() as one, self.open() as other:
            pairs = [(word, answers(one, *word), answers(other, *word)) for word in words]
        return [Played(*word, first) for word, first, second in pairs if first == second]

    def lines(self, words: Sequence[Played], folder: Path) -> Mapping[str, Mapping[int, Sequence[int]]]:
        """File → the lines that the words come by → the numbers of these words.

        All words, where no single one is known: in JavaScript, for what comes before the first word, and where one
        breaks the process.
        """
        folder.mkdir()
        python = self._adapter.suffix == ".py"
        full = {str(self.folder / file): file for file in self.files}
        places = os.pathsep.join([str(HERE / "tracing"), str(KIT)])
        traced = {"PYTHONPATH": places, "WILD_FILES": json.dumps([*full]), "WILD_LINES": str(folder)}
        with self.open(**(traced if python else {"NODE_V8_COVERAGE": str(folder)})) as opened:
            for word in words:
                answers(opened, word.options, word.stimuli)
        found: dict[str, dict[int, set[int]]] = {file: {} for file in self.files}
        for path in folder.iterdir():
            each = [*_of_python(path)] if python else [_of_v8(path, full)]
            apart = len(each) == 2 * len(words) + 2  # hello, a reset and a run per word, and stop
            for number, seen in enumerate(each):
                of = [number // 2 - 1] if apart and number > 1 else range(len(words))
                for name, line in seen:
                    found[full[name]].setdefault(line, set()).update(of)
        return {file: {line: sorted(every) for line, every in lines.items()} for file, lines in found.items()}


def answers(runtime: RuntimeTarget, options: ResetOptions, stimuli: Sequence[Stimulus]) -> bytes:
    """Everything that the adapter answers to a word, as bytes; the kind of error where it breaks.

    Left out is what no clause speaks of: ``native`` events, and the free text of ``detail``.
    """
    try:
        return msgspec.json.encode([judged(step) for step in (runtime.reset(options), *runtime.run(stimuli))])
    except TargetError as error:
        return f"broke: {type(error).__name__}".encode()


def judged(step: Step) -> Step:
    """The part of an answer that clauses speak of."""
    events = [
        {name: value for name, value in event.items() if name != "detail"} if isinstance(event, dict) else event
        for event in step.events
        if not (isinstance(event, dict) and event.get("type") == "native")
    ]
    return msgspec.structs.replace(step, events=tuple(events))


def _of_python(path: Path) -> Iterator[Sequence[tuple[str, int]]]:
    """The lines that an adapter came by before each message: what tracing/sitecustomize.py wrote."""
    yield from map(json.loads, path.read_text("utf-8").splitlines())


def _of_v8(path: Path, full: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """The lines that Node came by: those in which a character is in no range that was never entered."""
    for script in json.loads(path.read_bytes())["result"]:
        name = script["url"].removeprefix("file://")
        if name not in full:
            continue
        source = Path(name).read_text("utf-8")
        counts = [0] * (len(source) + 1)
        for function in sorted(script["functions"], key=lambda one: one["ranges"][0]["startOffset"]):
            for span in function["ranges"]:  # the inner ones come later, and count
                counts[span["startOffset"] : span["endOffset"]] = [span["count"]] * (
                    min(span["endOffset"], len(source)) - span["startOffset"]
                )
        at = 0
        for line, text in enumerate(source.splitlines(keepends=True), 1):
            if any(counts[at + place] for place, character in enumerate(text) if not character.isspace()):
                yield name, line
            at += len(text)
