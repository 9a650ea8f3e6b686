"""An HTTP endpoint on loopback from which Prometheus reads counts."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from ..check.metrics import CONTENT_TYPE

HOST = "127.0.0.1"


@contextmanager
def serving(port: int, text: Callable[[], str]) -> Generator[str]:
    """Serve *text* at ``/metrics`` while the context lasts, on a free port where *port* is 0; yield the URL.

    Raises OSError where the port is taken.
    """

    class Handler(BaseHTTPRequestHandler):
        timeout = 10.0  # seconds for a request to arrive

        def do_GET(self) -> None:
            known = self.path.partition("?")[0] == "/metrics"
            body = (text() if known else "see /metrics\n").encode()
            self.send_response(HTTPStatus.OK if known else HTTPStatus.NOT_FOUND)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called there
            """Say nothing: standard error is the command's."""

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, request: object, client_address: object) -> None:
            """Say nothing of a client that went away."""

    with Server((HOST, port), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://{HOST}:{server.server_port}/metrics"
        finally:
            server.shutdown()
            thread.join()
