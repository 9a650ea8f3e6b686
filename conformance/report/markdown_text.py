"""Text of an implementation in a line of Markdown, where it means nothing: entities in the place of marks."""

import re
from typing import Final

from .law_summary import line

_MARKUP: Final = re.compile(r"[\\`*_{}\[\]()<>#|~&!@:$]")
"""Characters with a meaning in a line of GitHub's Markdown, those of links and mentions included."""
_SOMEWHERE: Final = re.compile(r"[\\`*<>|~&$]|\](?=[(\[])|(?<!\w)[_@#]|_(?!\w)|:(?=//)|(?<=www)\.")
"""The same where they have it: a table on a terminal can be read, with names such as ``pi@0.87.1`` as they are."""


def inline(text: object) -> str:
    """Write *text* as ``line`` does, without any mark of Markdown."""
    return _entities(_MARKUP, text)


def readable(text: object) -> str:
    """The same, for a text that people read as it is too: a mark stays where Markdown does not look for it."""
    return _entities(_SOMEWHERE, text)


def _entities(marks: re.Pattern[str], text: object) -> str:
    return marks.sub(lambda match: f"&#{ord(match[0])};", line(text))
