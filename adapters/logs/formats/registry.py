"""The registry of log formats, and the detection of a log's format."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from .ag_ui import AG_UI
from .ai_sdk import AI_SDK
from .mapping import Format
from .own import OWN
from .pi import PI
from .pi_session import PI_SESSION

FORMATS: Final[Mapping[str, Format]] = {form.name: form for form in (AG_UI, AI_SDK, PI, PI_SESSION, OWN)}
"""Name → format, in the order of detection; the last recognises everything."""


class UnsupportedFormatError(ValueError):
    """The log is in a format that is known but not supported."""


def detect(values: Sequence[dict[str, Any]]) -> Format:
    """Return the format of a log that begins with *values*, its first objects (at least one).

    Raises UnsupportedFormatError.
    """
    match values[0]:
        case {"kind": "header", "v": 4, "storageVersion": _}:
            raise UnsupportedFormatError("the session storage of pi's agent harness (version 4) is not read")
        case _:
            return next(form for form in FORMATS.values() if form.recognises(values))


def named(name: str, values: Sequence[dict[str, Any]]) -> Format:
    """Return the format that a user names; ``pi`` means pi's agent events and its session files alike.

    Raises KeyError.
    """
    if name == PI.name and not PI.recognises(values) and PI_SESSION.recognises(values):
        return PI_SESSION
    return FORMATS[name]
