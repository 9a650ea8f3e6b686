"""Serve a Python projector, a collator or a runtime's adapter.

``python -m turncheck.adapters.targets.worker MODULE:ATTRIBUTE``.

``reference`` in place of ``MODULE:ATTRIBUTE`` serves the reference projector, ``reference:MACHINE`` a reference
runtime. The working directory is importable, before everything except the imports of this module. The served code
prints to stderr, and its stdin is empty: stdin and stdout belong to the protocol.
"""

import importlib
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Final

import msgspec
from msgspec import Raw

from turncheck.model.core.stimuli import Step, Stimulus

from ..protocol import input_guard
from ..protocol.input_guard import watched
from ..protocol.messages import (
    Answer,
    Apply,
    Collate,
    Feed,
    Hello,
    HelloAnswer,
    Message,
    Project,
    Reset,
    Run,
    Stop,
    encode,
)
from ..protocol.protocol_server import failed, greeting, serve_lines, stepped, unsupported
from ..protocol.runtime import RuntimeTarget
from ..references.registry import REFERENCES, reference_runtime

if TYPE_CHECKING:
    from ..protocol.loading import Loaded, LoadedCollator

_DETAIL: Final = 8000  # characters of a traceback: its end, where the error is
_OURS: Final = (__file__, input_guard.__file__)
# A value other than JSON is shown by its repr, and refused.
_encode_result: Final = msgspec.json.Encoder(enc_hook=repr).encode


def main(arguments: Sequence[str]) -> int:
    """Serve until ``stop`` or the end of stdin; return the exit code, 2 if the projector can't be loaded."""
    if len(arguments) != 1:
        print("usage: python -m turncheck.adapters.targets.worker MODULE:ATTRIBUTE | reference", file=sys.stderr)
        return 2
    text = arguments[0]
    requests, answers = _take_pipes()
    kind, _, machine = text.partition(":")
    if kind == "reference" and machine in REFERENCES:
        sys.path.insert(0, str(Path.cwd()))
        with reference_runtime(machine) as runtime:
            return _serve(text, partial(_drive, runtime), requests, answers)
    return _serve_code(text, requests, answers)


def _serve_code(text: str, requests: BinaryIO, answers: int) -> int:
    """Import and serve what the user wrote; return the exit code."""
    # A reference needs neither of these; with asyncio, which they import, they were a third of its start, and each kill
    # is followed by one. They come before the user's own modules may shadow them.
    from ..kit import turncheck_kit  # noqa: PLC0415
    from ..protocol.loading import Loaded, LoadedCollator, load  # noqa: PLC0415

    sys.path.insert(0, str(Path.cwd()))
    # An adapter's ``import turncheck_kit`` must be the one that serves it: a second copy has exceptions of its own.
    sys.modules[turncheck_kit.__name__.rpartition(".")[2]] = turncheck_kit
    try:
        loaded = load(text)
    except Exception as error:  # noqa: BLE001 - importing runs code of the user
        print(_users_traceback(error) + f"turncheck: cannot load {text}: {error}", file=sys.stderr)
        return 2
    if isinstance(loaded, Loaded):
        return _serve(text, partial(_project, loaded), requests, answers)
    if isinstance(loaded, LoadedCollator):
        return _serve(text, partial(_collate, loaded), requests, answers)
    os.dup2(requests.fileno(), 0)  # the helper library takes them itself
    os.dup2(answers, 1)
    turncheck_kit.serve(loaded)
    return 0


def _serve(text: str, answer: Callable[[Message], Answer | HelloAnswer], requests: BinaryIO, answers: int) -> int:
    """Answer messages to the end; return the exit code. An error that *answer* lets through is a defect of ours."""
    try:
        serve_lines(answer, requests, answers)
    except BrokenPipeError:  # nobody listens any more
        return 0
    except Exception as error:  # noqa: BLE001 - it is told whose fault it is
        what = "".join(traceback.format_exception_only(error)).strip()
        print(
            f"{_told(error, None)}turncheck: a bug in turncheck's worker, and no fault of {text}: {what}",
            file=sys.stderr,
        )
        return 2
    return 0


def _project(loaded: "Loaded", message: Message) -> Answer | HelloAnswer:
    match message:
        case Project(seq=seq, events=events, policies=None):
            return _called(seq, loaded.project, events)
        case Project(seq=seq, events=events, policies=policies) if loaded.profile.can("policies"):
            return _called(seq, partial(loaded.project, policies=msgspec.to_builtins(policies)), events)
        case Feed(seq=seq, events=events, start=start) if loaded.feed is not None:
            return _called(seq, loaded.feeding(start), events, "")
        case Reset(seq=seq):
            return _reset(seq, loaded)
        case Hello():
            return greeting(loaded.implementation, loaded.profile)
        case Project(seq=seq):
            return unsupported(seq, "policies: `project` takes no parameter of that name")
        case Feed(seq=seq):
            return unsupported(seq, "feed: there is no such method")
        case Apply(seq=seq) | Run(seq=seq) | Collate(seq=seq):
            return unsupported(seq, "a projector projects: there are project and feed")
        case Stop():
            raise AssertionError(message)


def _collate(loaded: "LoadedCollator", message: Message) -> Answer | HelloAnswer:
    assert not isinstance(message, Stop)
    match message:
        case Collate(seq=seq, frames=frames):
            return _called(seq, loaded.collate, frames, "blocks")
        case Reset(seq=seq):
            return Answer(seq, ok=True)
        case Hello():
            return greeting(loaded.implementation, loaded.profile)
        case _:
            return unsupported(message.seq, "a collator collates: there is collate")


def _called(seq: int, function: Callable[..., Any], raw: Raw, name: str = "projection") -> Answer:
    """Answer with the result of *function* as the field *name*; without a name, with nothing."""
    events = msgspec.json.decode(raw)
    try:
        result, changed = watched(function, events)
    except Exception as error:  # noqa: BLE001 - any error of it is the finding
        return _failed(seq, error)
    if not name:
        return Answer(seq, ok=True, input_changed=changed)
    try:
        said = Raw(_encode_result(result))
    except (TypeError, ValueError, RecursionError) as error:  # e.g. a key that is no string
        said = Raw(encode(f"{error}: {result!r}"))
    return msgspec.structs.replace(Answer(seq, ok=True, input_changed=changed), **{name: said})


def _reset(seq: int, loaded: "Loaded") -> Answer:
    try:
        loaded.reset()
    except Exception as error:  # noqa: BLE001 - as above
        return _failed(seq, error)
    return Answer(seq, ok=True)


def _failed(seq: int, error: Exception) -> Answer:
    message = "".join(traceback.format_exception_only(error)).strip()
    skip = error.__traceback__
    while skip and skip.tb_frame.f_code.co_filename in _OURS:  # the first frames are not the user's
        skip = skip.tb_next
    return failed(seq, message, _told(error, skip))


def _drive(runtime: RuntimeTarget, message: Message) -> Answer | HelloAnswer:
    if isinstance(message, Hello):
        return greeting(runtime.implementation, runtime.profile)
    assert not isinstance(message, Stop)
    try:
        match message:
            case Reset(seq=seq, options=options):
                return stepped(seq, runtime.reset(options))
            case Apply(seq=seq, stimulus=stimulus):
                return stepped(seq, runtime.apply(stimulus))
            case Run(seq=seq, word=word):
                return Answer(seq, ok=True, steps=_run(runtime, word))
            case _:
                return unsupported(message.seq, "a runtime is driven: there are apply and run")
    except Exception as error:  # noqa: BLE001 - the harness says whose fault it is
        return failed(message.seq, f"{type(error).__name__}: {error}", "".join(traceback.format_exception(error)))


def _run(runtime: RuntimeTarget, word: Sequence[Stimulus]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for stimulus in word:
        steps.append(runtime.apply(stimulus))
        if steps[-1].unsettled:
            break
    return tuple(steps)


def _told(error: Exception, skip: TracebackType | None) -> str:
    return "".join(traceback.format_exception(error.with_traceback(skip or error.__traceback__)))[-_DETAIL:]


def _users_traceback(error: Exception) -> str:
    """Return the traceback of *error* if it shows the user's code, else nothing: the message is enough."""
    from ..protocol import loading  # noqa: PLC0415 - as above

    ours = (__file__, loading.__file__, importlib.__file__, "<frozen importlib")
    frames = traceback.extract_tb(error.__traceback__)
    theirs = isinstance(error, SyntaxError) or not all(frame.filename.startswith(ours) for frame in frames)
    return f"{_told(error, skip=None)}\n" if theirs else ""


def _take_pipes() -> tuple[BinaryIO, int]:
    """Keep stdin and stdout for the protocol, out of reach of the projector and of its child processes."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(requests, "rb"), answers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
