"""``reference:event_flow``: the backend's loop as a runtime under the harness, with the UI's blocks beside it."""

import queue
from collections.abc import Sequence
from typing import Any, Final, Self

from turncheck.model.core.stimuli import (
    Advance,
    ModelAwaited,
    ModelFail,
    ModelOutput,
    ModelStop,
    Reasoning,
    Refusal,
    Step,
    Stimulus,
    ToolCall,
    ToolReturn,
    User,
)
from turncheck.model.declaration.vocabulary import Output
from turncheck.model.machines.blocks import Block, collate
from turncheck.model.machines.chat_log import Heard, response_id

from ...protocol.messages import Profile
from ..driven import Refused, not_awaited
from ..hearing import Hearing
from ..provider.port import Answer, Call, Failed, Provider
from .backend import PLAYED, Backend

ITERATIONS: Final = 8
PROFILE: Final = Profile(
    ("runtime",),
    (
        *("abort", "tools", "tool-failure", "model-failure", "model-input", "terminal-events"),
        *("raw-arguments", "call-ids", "together", "limits", "deaf", "clock", "usage"),
    ),
    "event_flow",
    {"busy": "reject", "tools": "serial", "abortEnds": "at-once", "retries": 0, "maxRounds": ITERATIONS},
)


class EventFlowRuntime(Hearing):
    """The backend, with stimuli for user, model and tools; ``blocks`` are those that the UI shows.

    A *model*, such as ``provider.client.HttpModel``, answers by itself (``wait``); without one the harness
    plays it. The caller closes the model. Frames bear the time ``now``, in seconds since 1970 on a virtual clock.
    """

    name = "reference:event_flow"
    profile = PROFILE
    words = {  # noqa: RUF012 - never written
        "user": "chat",
        "abort": "abort",
        "delta": "delta",
        "model-failure": "provider-failure",
        "tool-failure": "tool-failure",
    }

    def __init__(self, *, model: Provider | None = None) -> None:
        self._model = model
        self._sent: Call | None = None
        super().__init__()

    def begin(self) -> None:
        """A new chat."""
        self.close()
        self.now = 0.0
        self.backend = Backend(
            max_tool_iterations=self.options.limits.get("maxRounds", ITERATIONS),
            settings=PLAYED if self._model is None else self._model.settings,
            tools=self.options.tools,
            now=lambda: self.now,
        )
        self._arrived: queue.SimpleQueue[tuple[str, Answer]] = queue.SimpleQueue()
        self._calls: dict[str, ToolCall] = {}
        self._request_began = 0

    @property
    def log(self) -> Sequence[dict[str, Any]]:
        """The core's log."""
        return self.backend.log

    @property
    def blocks(self) -> tuple[Block, ...]:
        """The blocks of the current or last request."""
        return collate(self.backend.frames[self._request_began :])

    def wait(self, seconds: float | None = None) -> Step:
        """Wait until the model answers, at most *seconds* if given, and pass its answer on."""
        try:
            asked, answer = self._arrived.get(timeout=seconds)
        except queue.Empty:
            return self.step()
        if self.request is not None and self.request.request_id == asked:  # else it was aborted in the meantime
            for item in answer.items:
                if not isinstance(item, Reasoning):
                    super().take(ModelOutput(item=item))
            self._end(answer)
        return self.step()

    def again(self, hash_seed: int) -> Self:  # noqa: ARG002 - this process has its seed
        """Return another instance, in this process."""
        return type(self)(model=self._model)

    def close(self) -> None:
        """Abort the request in flight."""
        sent, self._sent = self._sent, None
        if sent is not None:
            sent.abort()

    def leave(self) -> None:
        """Await the open call and request no longer, and abort the request in flight."""
        self.close()
        if self._model is not None:
            self.request = None  # a closed connection is not heard: nothing of it is late
        super().leave()

    def give(self, stimulus: Stimulus, waits: Any) -> None:
        """Take the stimulus; where there is a model, nobody else answers in its place."""
        if self._model is not None and isinstance(stimulus, ModelOutput | ModelStop | ModelFail):
            raise not_awaited(stimulus)
        super().give(stimulus, waits)

    def take(self, stimulus: Stimulus) -> None:
        """Pass the stimulus to the backend as an event of its machine."""
        before = len(self.backend.frames)
        match stimulus:
            case ModelStop():
                self._end(Answer((), stimulus))
            case Advance(seconds=seconds):
                self.now += seconds
            case ToolReturn(call_id=name, output=output):
                self.hear("tool-result", call_id=name, output=output)
            case _:
                super().take(stimulus)
        if isinstance(stimulus, User):
            self._request_began = before

    def hear(self, event: str, **fields: Any) -> None:
        """Pass an event to the backend, and play the model and the tools."""
        for output in self.backend.hear(event, Heard(**fields)):
            self._do(output)

    def _end(self, answer: Answer) -> None:
        """Pass the end of a response, or of a request that failed."""
        match answer.end:
            case ModelStop(reason=reason, usage=usage):
                self.backend.came(answer.http)
                self.hear("response-end", finish_reason=reason, usage=usage)
            case Failed(message=message):
                self.hear(self.words["model-failure"], message=message)

    def _do(self, output: Output) -> None:
        match output.name, output.arguments:
            case "refuse", _:
                raise Refused(Refusal("rejected", "a request of this chat runs"))
            case "request", (asked,):
                name = response_id(asked)
                self.request = ModelAwaited(request_id=name, input=self.backend.history)
                if self._model is not None:
                    arrived = self._arrived
                    self._sent = self._model.ask(self.backend.question, lambda answer: arrived.put((name, answer)))
            case "llm-response", _:
                self.request = self._sent = None
            case "call", (name, tool, arguments, _):
                self._calls[name] = ToolCall(call_id=name, tool=tool, arguments=arguments)
            case "tool-call-start", (name,):
                self.execute(self._calls[name])
            case "tool-call-result", _:
                self.tool = None
            case "end", _:
                self.leave()
            case _:
                return
