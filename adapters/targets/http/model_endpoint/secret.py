"""The secret in the model's base URL: it distinguishes the server under test from others that find the port."""

import hmac
import re
from collections.abc import Mapping
from typing import Final, Self

VARIABLE: Final = "TURNCHECK_MODEL_SECRET"
"""The secret's variable: other users can see a process's command line, and results contain the target's text."""
HEADER: Final = "turncheck-model-secret"
"""The secret's header in requests to control routes; a page of another origin can't send it."""
_FORM: Final = re.compile(r"[A-Za-z0-9_-]{32,128}")  # 128 bits in hexadecimal; no URL escapes a character
_SHOWN: Final = b"<secret>"


def base_url(port: int) -> str:
    """Return the model's base URL as users write it in a shell that has the variable."""
    return f"http://127.0.0.1:{port}/${VARIABLE}/v1"


class Secret:
    """A secret of 32 to 128 letters, digits, ``-`` and ``_``. Raises ValueError for another text.

    >>> Secret("0123456789abcdef0123456789abcdef").hidden(b"GET /0123456789abcdef0123456789abcdef/v1")
    b'GET /<secret>/v1'
    """

    def __init__(self, text: str) -> None:
        if not _FORM.fullmatch(text):
            what = f"has {len(text)} characters" if text else "is not set"
            raise ValueError(
                f"{VARIABLE} {what}: expected 32 to 128 letters, digits, - and _ that nobody can guess, in the"
                " environment of turncheck and in the server's model base URL:\n"
                f"  export {VARIABLE}=$(python3 -c 'import secrets; print(secrets.token_hex())')\n"
                "docs/http.md says more"
            )
        self._text = text.encode()

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Self:
        """Return the secret in an environment. Raises ValueError if it is missing or invalid."""
        return cls(environment.get(VARIABLE, ""))

    @property
    def header(self) -> dict[str, str]:
        """Return the header that a request to a control route needs."""
        return {HEADER: self._text.decode()}

    def fits(self, given: bytes) -> bool:
        """Return whether *given* is the secret, in a time that reveals nothing about it."""
        return hmac.compare_digest(given, self._text)

    def hidden(self, text: bytes) -> bytes:
        """Return *text* without the secret, to be shown and saved: the same text for each secret."""
        return text.replace(self._text, _SHOWN)
