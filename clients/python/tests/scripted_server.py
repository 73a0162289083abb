"""An HTTP server on a free port that gives scripted answers."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple


class Answer(NamedTuple):
    status: int
    body: bytes
    headers: Mapping[str, str] = {}
    #: Bytes that the header promises and that do not come.
    missing: int = 0


class ScriptedServer:
    """Gives each answer once, and the last one for ever."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[str] = []


@contextmanager
def scripted_server(*answers: Answer) -> Iterator[ScriptedServer]:
    """Serve the answers in this order."""
    rest = list(answers)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            scripted.requests.append(f"{self.command} {self.path}")
            status, body, headers, missing = rest.pop(0) if len(rest) > 1 else rest[0]
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body) + missing))
            self.end_headers()
            self.wfile.write(body)
            self.close_connection = True

        do_POST = do_DELETE = do_GET  # noqa: N815

        def log_message(self, *args: object) -> None:
            """Log nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    scripted = ScriptedServer(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield scripted
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
