"""The base of references whose machine takes events with a payload (``Heard``): ``engine`` and ``event_flow``."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from turncheck.model.core.stimuli import Abort, ModelFail, ModelOutput, Stimulus, Text, ToolCall, ToolFail, User

from .driven import Driven, unsupported
from .usable import usable


class Hearing(Driven):
    """``words`` maps user message, abort, delta, failed model and failed tool to the machine's own names."""

    words: ClassVar[Mapping[str, str]]

    @abstractmethod
    def hear(self, event: str, **fields: Any) -> None:
        """Pass an event to the machine, and perform its outputs."""

    def take(self, stimulus: Stimulus) -> None:
        """Pass the stimulus to the machine as its events; a text streams in two deltas."""
        match stimulus:
            case User(content=None, delivery=None):
                self.hear(self.words["user"], id=stimulus.id, text=stimulus.text)
            case Abort():
                self.hear(self.words["abort"])
            case ModelOutput(item=Text(text=text)):
                middle = len(text) // 2
                self.hear(self.words["delta"], text=text[:middle], begins=1)
                self.hear(self.words["delta"], text=text[middle:])
            case ModelOutput(item=ToolCall() as call):
                arguments, why = usable(call, {tool["name"] for tool in self.options.tools})
                event = "tool-call" if why is None else "broken-call"
                self.hear(event, call_id=call.call_id, tool=call.tool, arguments=arguments, message=why)
            case ModelFail(failure=failure):
                self.hear(self.words["model-failure"], message=f"the model failed: {failure}")
            case ToolFail(call_id=name, message=message):
                self.hear(self.words["tool-failure"], call_id=name, message=message)
            case _:
                raise unsupported(type(stimulus).__name__)
