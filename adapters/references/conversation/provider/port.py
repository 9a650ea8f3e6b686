"""What the shell asks of a model, and what it is told: the interface of models that answer by themselves."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

from turncheck.model.core.stimuli import Item, ModelStop


class Question(NamedTuple):
    """A request: the conversation's log, the directory of its images, and the declarations of its tools.

    A declaration has ``name``, and may have ``description`` and ``schema``, the JSON Schema of the arguments.
    """

    log: tuple[Mapping[str, Any], ...]
    directory: str
    tools: tuple[Mapping[str, Any], ...]


class Failed(NamedTuple):
    """The request failed: whether it may be sent again (BED-D11), and the text for the user (BED-006g)."""

    retryable: bool
    message: str


class Answer(NamedTuple):
    """The items of a response in their order, and its end. A request that failed has no items."""

    items: tuple[Item, ...]
    end: ModelStop | Failed


class Call(Protocol):
    """A request in flight."""

    def abort(self) -> None:
        """Close the connection now. An answer that has come by then is told nevertheless."""
        ...


Answered: TypeAlias = Callable[[Answer], None]


class Provider(Protocol):
    """A model."""

    def ask(self, question: Question, answered: Answered) -> Call:
        """Send a request. *answered* is called once, from any thread, unless the request is aborted first."""
        ...
