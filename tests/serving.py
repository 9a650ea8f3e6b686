"""A web application served from a thread on a port of its own, for as long as a test needs it."""

import contextlib
import secrets
import socket
import threading
from collections.abc import Iterator

import uvicorn
from starlette.types import ASGIApp

SECRET = secrets.token_hex()
"""The secret in the model's base URL, which the worker gets from its environment."""


def listen() -> socket.socket:
    """A socket on a free port; its protocol is named so that asyncio sets TCP_NODELAY on its connections."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    return listener


def free_port() -> int:
    with listen() as listener:
        return int(listener.getsockname()[1])


@contextlib.contextmanager
def serve(application: ASGIApp) -> Iterator[str]:
    """Serve *application*; its address, without a slash at the end."""
    config = uvicorn.Config(application, lifespan="off", log_config=None, log_level="critical")
    config.timeout_graceful_shutdown = 0
    server = uvicorn.Server(config)
    with listen() as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = server.force_exit = True
        thread.join(timeout=10)  # a connection that was left open can keep it; it is a daemon
