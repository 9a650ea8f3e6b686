"""Text of an implementation, made fit to be shown: no character is hidden, and none is obeyed.

``Printable`` is the type of text that may be printed. Only ``line``, ``lines``, ``fill`` and ``joined`` make it, and
the sinks of the command line take no other type: both type checkers see raw text on its way to a terminal or CI.
"""

import re
from collections.abc import Iterable
from string import Formatter
from typing import Any, Final, LiteralString, NewType
from unicodedata import category, east_asian_width

WIDEST: Final = 36
"""Columns of a log's text in a picture; wide characters take two."""
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's categories of characters that print nothing: controls, bidi marks, surrogates, private use and such."""


def spelled(text: object) -> str:
    r"""Spell every non-printing character except line feeds as ⟨U+XXXX⟩.

    >>> spelled("a\u202eb")
    'a⟨U+202E⟩b'
    """
    return str(text).translate(_SPELLING)


class _Spelling(dict[int, str]):
    """Code point → its spelling, computed once: texts can be long."""

    def __missing__(self, code: int) -> str:
        hidden = code != ord("\n") and category(chr(code)) in _HIDDEN
        self[code] = f"⟨U+{code:04X}⟩" if hidden else chr(code)
        return self[code]


_SPELLING: Final = _Spelling()
_OBEYED: Final = re.compile(r"^([^\S\n]*):(?=:)|##(?=\w*\[)", re.MULTILINE)
"""The beginnings of commands that CI services obey in any output: ``::error::`` at the beginning of a line (GitHub
Actions); ``##[group]``, ``##vso[`` (Azure Pipelines) and ``##teamcity[`` anywhere. Those of GitLab need an escape
character."""


class Printable(str):
    """Text in which no character is hidden, nor obeyed by a terminal or a CI service, except our own colours."""

    __slots__ = ()


Document = NewType("Document", str)
"""A whole text in a format with its own escaping: JSON, a report, a picture, a log."""

NOTHING: Final = Printable()
"""An empty line."""


def line(text: object) -> Printable:
    r"""Spell *text* on one line. Text that is Printable already stays as it is.

    >>> line("::error::a\nb")
    '⟨U+003A⟩:error::a⟨U+000A⟩b'
    """
    return text if isinstance(text, Printable) else _harmless(spelled(text).replace("\n", "⟨U+000A⟩"))


def lines(text: object) -> Printable:
    """Spell *text*, and keep its line feeds."""
    return text if isinstance(text, Printable) else _harmless(spelled(text))


def fill(template: LiteralString, *values: object) -> Printable:
    r"""Write *values* into a template of ours, as ``str.format`` does; each is spelled on one line.

    The template is a literal: basedpyright refuses any other, such as an f-string with a name in it.

    >>> fill("{:8} {:,} times", "a\x1b[2J", 1234)
    'a⟨U+001B⟩[2J 1,234 times'
    """
    return _harmless(_FORMATTER.vformat(template, values, {}))


def joined(between: LiteralString, texts: Iterable[object]) -> Printable:
    """Join *texts*, each spelled on one line."""
    return _harmless(between.join(map(line, texts)))


def _harmless(text: str) -> Printable:
    """Spell one character of each command that a CI service would obey, wherever its parts came from."""
    found = "::" in text or "##" in text
    return Printable(_OBEYED.sub(_broken, text) if found else text)


def _broken(found: re.Match[str]) -> str:
    return "#⟨U+0023⟩" if found[0] == "##" else f"{found[1]}⟨U+003A⟩"


class _Lines(Formatter):
    """Spells each value before it is padded: hidden characters would take no column."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if isinstance(value, str):
            return format(line(value), format_spec)
        return line(format(value, format_spec))


_FORMATTER: Final = _Lines()


def shown(text: str) -> Printable:
    """Fit *text*, spelled, in one line of ``WIDEST`` columns; wider only if a CI service would obey it."""
    return _harmless(cut(" ".join(text.split()), WIDEST))


def cut(text: str, wide: int) -> str:
    """Spell *text*, and cut it if it takes more than *wide* columns."""
    out: list[str] = []
    left = wide - 1
    for piece in map(spelled, text):
        left -= columns(piece)
        if left < 0:
            return "".join(out).rstrip() + "…"
        out.append(piece)
    return "".join(out)


def columns(text: str) -> int:
    """Count the columns that *text* takes in a monospaced face."""
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)
