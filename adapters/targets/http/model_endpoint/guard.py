"""Guard the model's port: only programs that know the secret may use it, and no page in a browser.

Any other request is answered 403 before it is read or reported: it leaves no trace, and changes no verdict.
"""

import re
from typing import Final

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from .secret import HEADER, VARIABLE, Secret

CONTROL: Final = "/turncheck/"
"""The beginning of the paths of control routes."""
RELEASE: Final = f"{CONTROL}release"
"""The path for asking the holder of the port to release it (POST); it answers when its runs are over."""
CLOSE: Final = {"connection": "close"}
"""Headers of each answer. A kept connection would still reach us after another worker took the port."""
_HOST: Final = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.IGNORECASE)  # a forwarded port is another
_BROWSER: Final = {b"origin", b"sec-fetch-site"}  # headers that a page can't leave out; fetch() of Node sends neither
_REFUSED: Final = (
    "refused this request: the model's base URL is http://127.0.0.1:PORT/SECRET/v1 with the secret of"
    f" {VARIABLE}, for programs of this machine alone (docs/http.md)"
)


def error(status: int, message: str) -> JSONResponse:
    """Return an error in the form that OpenAI's clients read."""
    body = {"error": {"message": message, "type": "invalid_request_error", "param": None}}
    return JSONResponse(body, status, CLOSE)


class Guard:
    """Let requests with the secret through: it is in the base path to *model*, in a header to *control* routes."""

    def __init__(self, model: ASGIApp, control: ASGIApp, secret: Secret) -> None:
        self._model, self._control, self._secret = model, control, secret

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Speak ASGI."""
        application: ASGIApp
        path: str = scope["path"]
        if not _local(scope):
            application, given = _refused, ""
        elif path.startswith(CONTROL):
            application, given = self._control, _header(scope, HEADER)
        else:
            application = self._model
            given, _, path = path.removeprefix("/").partition("/")
            path = f"/{path}"
        if not self._secret.fits(given.encode()):
            application = _refused
        await application({**scope, "path": path, "raw_path": path.encode()}, receive, send)


def _local(scope: Scope) -> bool:
    """Return whether a program of this machine asks. A page sends its origin, or the host name that led it here."""
    names = [name for name, _ in scope["headers"]]
    return names.count(b"host") == 1 and not _BROWSER & set(names) and bool(_HOST.fullmatch(_header(scope, "host")))


def _header(scope: Scope, wanted: str) -> str:
    return next((value.decode("latin-1") for name, value in scope["headers"] if name == wanted.encode()), "")


async def _refused(scope: Scope, receive: Receive, send: Send) -> None:
    await error(403, _REFUSED)(scope, receive, send)
