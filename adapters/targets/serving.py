"""Serve a runtime of this process over the adapter protocol, as the worker does with our own reference runtimes."""

import traceback
from functools import partial
from typing import BinaryIO

from turncheck.model.core.stimuli import Step, Stimulus

from ..protocol.messages import VERSION, Answer, Apply, ErrorBody, Hello, HelloAnswer, Message, Reset, Run, Stop
from ..protocol.protocol_server import serve_lines, stepped, unsupported
from ..protocol.runtime import RuntimeTarget


def serve_runtime(runtime: RuntimeTarget, requests: BinaryIO, answers: int) -> None:
    """Answer each line of *requests* on the descriptor *answers* until ``stop`` or the end."""
    serve_lines(partial(_answer, runtime), requests, answers)
    runtime.close()


def _answer(runtime: RuntimeTarget, message: Message) -> Answer | HelloAnswer:
    if isinstance(message, Hello):
        return HelloAnswer(ok=True, protocol=VERSION, implementation=runtime.implementation, profile=runtime.profile)
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
        detail = "".join(traceback.format_exception(error))
        return Answer(message.seq, ok=False, error=ErrorBody("failed", f"{type(error).__name__}: {error}", detail))


def _run(runtime: RuntimeTarget, word: tuple[Stimulus, ...]) -> tuple[Step, ...]:
    steps: list[Step] = []
    for stimulus in word:
        steps.append(runtime.apply(stimulus))
        if steps[-1].unsettled:
            break
    return tuple(steps)
