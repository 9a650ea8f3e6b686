"""The interface between a reference and a model that answers by itself: its questions and answers."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeAlias

from turncheck.model.core.stimuli import Item, ModelStop


class Settings(NamedTuple):
    """The settings that every request gives besides the conversation; None leaves the provider's own value."""

    model: str
    temperature: float | None = None
    max_tokens: int | None = None
    provider: str = "openai"


class Question(NamedTuple):
    """A request: the chat's log, the directory of its images, and the declarations of its tools.

    A declaration has ``name``, and may have ``description`` and ``schema``, the JSON Schema of the arguments.
    """

    log: tuple[Mapping[str, Any], ...]
    directory: str
    tools: tuple[Mapping[str, Any], ...]


class Failed(NamedTuple):
    """The request failed: whether it may be sent again (BED-D11), and the text for the user (BED-006g)."""

    retryable: bool
    message: str


class Http(NamedTuple):
    """The head of a response: its status and its headers, in small letters and without cookies."""

    status: int
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """The items of a response in their order, its end, and its head. A request that failed has no items.

    ``http`` is None where no head came.
    """

    items: tuple[Item, ...]
    end: ModelStop | Failed
    http: Http | None = None


class Call(Protocol):
    """A request in flight."""

    def abort(self) -> None:
        """Close the connection now. An answer that has come by then is told nevertheless."""
        ...


Answered: TypeAlias = Callable[[Answer], None]


class Provider(Protocol):
    """A model."""

    @property
    def settings(self) -> Settings:
        """The settings of its requests."""
        ...

    def ask(self, question: Question, answered: Answered) -> Call:
        """Send a request. *answered* is called once, from any thread, unless the request is aborted first."""
        ...
