"""Initial inputs: recordings, the projection's examples, counterexamples of the matrix, and answers made here."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from msgspec import Raw

from fuzz.answers import LOG, OPTIONS, WORD
from fuzz.logs import EVERY_POLICIES
from turncheck.adapters.logs.formats.registry import FORMATS
from turncheck.adapters.logs.reading import read_values
from turncheck.adapters.protocol.messages import Answer, HelloAnswer, Implementation, Profile, encode
from turncheck.adapters.references.registry import reference_runtime
from turncheck.model.core.decode import judge
from turncheck.model.core.policies import DEFAULT
from turncheck.model.core.projection import project
from turncheck.model.core.stimuli import ModelOutput, ModelStop, Text

LONGEST: Final = 1500
"""Bytes of an input: a log needs only some lines, and libFuzzer's time grows with the length."""
_TESTS: Final = Path(__file__).parents[1]
_MATRIX: Final = _TESTS.parent / "docs" / "matrix" / "counterexamples"


def every_log() -> Iterator[bytes]:
    """Yield logs of all formats."""
    for name in FORMATS:
        yield from logs(name)
    yield b"[" + b",".join(json.dumps(event).encode() for event in LOG) + b"]"
    yield b"\n".join(json.dumps(event, indent=1).encode() for event in LOG)


def logs(name: str) -> Iterator[bytes]:
    """Yield the recordings in a format, and the projection's examples, each cut to the lines that fit."""
    for path in sorted([*(_TESTS / "recordings" / "logs").rglob("*.*"), *(_TESTS / "data" / "logs").rglob("*.*")]):
        if path.suffix in (".jsonl", ".sse"):
            with path.open("rb") as file:
                form, _ = read_values(file)
            if form.name == name:
                yield _cut(path.read_bytes())
    if name == "turncheck":
        for line in (_TESTS / "data" / "examples.jsonl").read_text("utf-8").splitlines():
            yield _cut(b"".join(json.dumps(event).encode() + b"\n" for event in json.loads(line)["log"]))


def own_logs() -> Iterator[bytes]:
    """Yield logs in turncheck's own format."""
    return logs("turncheck")


def _cut(log: bytes) -> bytes:
    return log if len(log) <= LONGEST else log[: log.rfind(b"\n", 0, LONGEST) + 1]


def logs_with_policies() -> Iterator[bytes]:
    """Yield the same after a byte that chooses the policies."""
    for number, log in enumerate(own_logs()):
        yield b"%c" % (ord("0") + number % len(EVERY_POLICIES)) + log[: LONGEST - 1]


def _hello(role: Any, *capabilities: str, **more: Any) -> bytes:
    profile = Profile((role,), capabilities, **more)
    return encode(HelloAnswer(ok=True, protocol=1, implementation=Implementation("a", "1", "python"), profile=profile))


def _script(*lines: bytes) -> bytes:
    return b"\n".join(lines)


_FAILURES: Final = (
    b'{"seq":0,"ok":false,"error":{"kind":"failed","message":"red","detail":"blue"}}',
    b'{"seq":0,"ok":false,"error":{"kind":"unsupported","message":"red"}}',
)


def projector_answers() -> Iterator[bytes]:
    """Yield right answers of a projector, with all capabilities and none, and its refusals."""
    projected = Raw(encode(project(tuple(map(judge, LOG)), DEFAULT)))
    answers = [encode(Answer(0, ok=True, projection=projected, input_changed=False))] * 2
    done = encode(Answer(0, ok=True))
    rest = [done, done, answers[0], done, done, answers[0], done, done, answers[0]]
    full = _hello("projector", "policies", "feed", "steps", "rounds", policies={"whileActive": "steer"})
    for hello in (full, _hello("projector")):
        yield _script(hello, *answers, *rest)
        yield _script(hello, answers[0], *_FAILURES, done, answers[0])
    yield b'{"ok":false,"protocol":2,"error":{"kind":"failed","message":"red"}}'


def runtime_answers() -> Iterator[bytes]:
    """Yield answers of the simplest reference to the word and its closing, as the runtime of different profiles."""
    runtime = reference_runtime("interaction")
    start = runtime.reset(OPTIONS)
    steps = runtime.run(WORD)
    closing = [runtime.apply(ModelOutput(item=Text(text="red"))), runtime.apply(ModelStop(reason="end-turn"))]
    first = encode(Answer(0, ok=True, events=start.events, awaiting=start.awaiting))
    told = encode(Answer(0, ok=True, steps=steps))
    rest = [encode(Answer(0, ok=True, events=one.events, awaiting=one.awaiting)) for one in (*steps, *closing)]
    own = runtime.profile
    for hello in (
        _hello("runtime", *own.capabilities, policies=own.policies, machine=own.machine),
        _hello("runtime", *own.capabilities, policies=own.policies),
        _hello("runtime"),
    ):
        yield _script(hello, first, told, *rest)
        yield _script(hello, first, *_FAILURES, told)


def run_streams() -> Iterator[bytes]:
    """Yield the recorded event streams of AG-UI servers."""
    return logs("ag-ui")


def counterexamples() -> Iterator[bytes]:
    """Yield the counterexamples of the matrix on one line each, and one of a projector."""
    for path in sorted(_MATRIX.glob("*.json")):
        line = json.dumps(json.loads(path.read_bytes()), separators=(",", ":")).encode()
        if len(line) <= 3 * LONGEST:
            yield line
    projected = project(tuple(map(judge, LOG)), DEFAULT)
    for law in ("equals-reference", "total", "deterministic"):
        yield encode(
            {
                "of": "log",
                "schema": 1,
                "target": "cmd:a",
                "seed": 0,
                "law": law,
                "clauses": [],
                "message": "red",
                "profile": Profile(("projector",), ("steps", "rounds")),
                "input": {"events": LOG, "policies": DEFAULT, "cuts": [1]},
                "position": 1,
                "expected": [1],
                "observed": [2],
                "projection": projected,
            }
        )


def baselines() -> Iterable[bytes]:
    """Baselines of each shape."""
    entry = b'{reason = "red", issue = "#1"}'
    dated = b'{reason = "red", issue = "#1", expires = 2026-11-01}'
    return (
        b"",
        b"# why\n[known]\ncalls-answered = " + entry + b"\n[flaky]\nrun-deterministic = " + dated + b"\n",
        b'[known]\n"calls-*" = ' + dated + b' # soon\n"input-*" = ' + entry + b"\n",
        b'known.calls-answered.reason = "red"\nknown.calls-answered.issue = """#\n1"""\n',
        b"[known.items-conserved]\nreason = 'red'\nissue = 'blue'\nexpires = 2027-01-31\n[flaky]\n",
        b'flaky = {"*" = ' + entry + b"}\n",
    )
