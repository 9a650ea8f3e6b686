"""The options of the worker: the endpoint's address and the model's port, from a target's text or a command line.

A target is the endpoint's URL, with options in its fragment, which a client never sends to a server:
``http://127.0.0.1:8000/agent#model-port=9000&patience=5``.
"""

import argparse
import ipaddress
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NoReturn
from urllib.parse import parse_qsl, urlsplit

MODEL_PORT: Final = 8790
RETRIES: Final = 2
"""Retries of a failed request by OpenAI's clients, with which most servers ask the model."""
PATIENCE: Final = 2.0
"""Seconds to quiet, as in the helper libraries; a server with slower tools or retries needs more."""
LULL: Final = 0.02
"""Seconds without an event that count as quiet while the model is awaited. On two busy cores, half of 2,000 steps of a
pydantic-ai server contained a silence of over 2 ms, 1 % one of over 19 ms (the longest: 105 ms). ``computing``
distinguishes such a silence from quiet: with it, 80 words of 18 stimuli gave the same log each time."""

_MODULE: Final = "turncheck.adapters.targets.http"


@dataclass(frozen=True)
class Options:
    """The address of the endpoint, and the settings of its driver.

    ``retries`` is the endpoint's highest number of repeated model requests; ``patience`` and ``lull`` are seconds.
    """

    url: str
    model_port: int = MODEL_PORT
    retries: int = RETRIES
    patience: float = PATIENCE
    lull: float = LULL

    @property
    def address(self) -> tuple[str, int]:
        """The endpoint's host and port."""
        parts = urlsplit(self.url)
        return parts.hostname or "", parts.port or {"https": 443}.get(parts.scheme, 80)


def worker_command(target: str) -> tuple[str, ...]:
    """Return the command line of the worker for a target's text. Raises ValueError for an invalid one."""
    url, _, fragment = target.partition("#")
    given = parse_qsl(fragment, keep_blank_values=True)
    names = (*_VALUES, _REMOTE)
    unknown = [name for name, _ in given if name not in names]
    if unknown:
        raise ValueError(f"no option {unknown[0]!r} of an http target; there are {', '.join(names)}")
    flags = [f"--{name}" if name == _REMOTE else f"--{name}={value}" for name, value in given]
    parse([url, *flags])
    return (sys.executable, "-P", "-m", _MODULE, url, *flags)


def parse(arguments: Sequence[str]) -> Options:
    """Parse a command line. Raises ValueError, whose text says what was expected."""
    found: dict[str, Any] = vars(_parser().parse_args(arguments))
    _check(found["url"], allow_remote=found.pop("allow_remote"))
    return Options(**found)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ValueError(f"{message}\n{self.format_usage().strip()}")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog=f"python -m {_MODULE}", description="Drive an AG-UI endpoint over the adapter protocol.")
    parser.add_argument("url", metavar="URL", help="the endpoint, as in http://127.0.0.1:8000/agent")
    for name, (kind, default, metavar, what) in _VALUES.items():
        parser.add_argument(f"--{name}", type=kind, default=default, metavar=metavar, help=what)
    parser.add_argument(f"--{_REMOTE}", action="store_true", help="the endpoint may be on another machine")
    return parser


def _port(text: str) -> int:
    if text.isascii() and text.isdigit() and int(text) < 65536:
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no port: expected a number from 0 to 65535")


def _count(text: str) -> int:
    if text.isascii() and text.isdigit():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is no number of retries: expected 0 or more")


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if 0 < seconds < float("inf"):
        return seconds
    raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds above 0")


_VALUES: Final[Mapping[str, tuple[Callable[[str], float], float, str, str]]] = {
    "model-port": (
        _port,
        MODEL_PORT,
        "PORT",
        "where the model is served: its base URL is http://127.0.0.1:PORT/SECRET/v1 (default %(default)s)",
    ),
    "retries": (_count, RETRIES, "N", "how often the server retries a model's request, at most (default %(default)s)"),
    "patience": (_seconds, PATIENCE, "SECONDS", "seconds to quiet"),
    "lull": (_seconds, LULL, "SECONDS", "silence that counts as quiet"),
}
_REMOTE: Final = "allow-remote"


def _check(url: str, *, allow_remote: bool) -> None:
    parts = urlsplit(url)
    try:
        port = parts.port or 1
    except ValueError as error:
        raise ValueError(f"{url!r} is no endpoint: {error}") from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or not port:
        raise ValueError(f"{url!r} is no endpoint: expected a URL like http://127.0.0.1:8000/agent")
    if not allow_remote and not _loopback(parts.hostname):
        raise ValueError(
            f"{parts.hostname!r} is another machine: turncheck sends made-up messages to whatever is there."
            " Where you mean that, allow it: #allow-remote in a target, --allow-remote on the command line"
        )


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
