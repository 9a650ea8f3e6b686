"""Text of an implementation, made fit to be shown: no character is hidden, and none is obeyed."""

from typing import Final
from unicodedata import category, east_asian_width

WIDEST: Final = 36
"""Columns that a text of a log gets in a picture; wide characters take two."""
_HIDDEN: Final = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode's categories of characters that print nothing: controls, bidi marks, surrogates, private use and such."""


def spelled(text: object) -> str:
    r"""Spell every non-printing character except line feeds as ⟨U+XXXX⟩.

    >>> spelled("a\u202eb")
    'a⟨U+202E⟩b'
    """
    return str(text).translate(_SPELLING)


class _Spelling(dict[int, str]):
    """Code point → how it is shown, worked out once: texts can be long."""

    def __missing__(self, code: int) -> str:
        hidden = code != ord("\n") and category(chr(code)) in _HIDDEN
        self[code] = f"⟨U+{code:04X}⟩" if hidden else chr(code)
        return self[code]


_SPELLING: Final = _Spelling()


def shown(text: str) -> str:
    """Fit *text* in one line of ``WIDEST`` columns, spelled."""
    return cut(" ".join(text.split()), WIDEST)


def cut(text: str, wide: int) -> str:
    """Spell *text*, and cut it where it takes more than *wide* columns."""
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
