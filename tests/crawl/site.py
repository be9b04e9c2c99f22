"""A web that is a function from a path to an answer, on a port of this machine, which counts what it is asked."""

from __future__ import annotations

import socket
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    is_sized: bool = True  #: False: its end is the connection's, as it was with HTTP/1.0


def page(*links: str, words: str = "some words of a page") -> Answer:
    anchors = "".join(f'<a href="{link}">x</a>' for link in links)
    html = f"<html><head><title>t</title></head><body><p>{words}</p>{anchors}</body></html>"
    return Answer(html.encode(), 200, {"Content-Type": "text/html; charset=utf-8"})


def redirect(location: str, status: int = 302, **headers: str) -> Answer:
    return Answer(b"", status, {"Location": location, **headers})


def error(status: int) -> Answer:
    return Answer(b"no", status, {"Content-Type": "text/plain"})


#: Closes the connection without a word.
HANG_UP = Answer(status=0)

Web = Callable[[str], Answer]


@dataclass
class Site:
    port: int
    asked: list[str] = field(default_factory=list)  #: paths with queries, in the order they were asked for
    referers: list[str] = field(default_factory=list)  #: what requests said that they came from

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    @property
    def name(self) -> str:
        """As `sites.site_of` has it."""
        return f"127.0.0.1:{self.port}"

    def times(self) -> Counter[str]:
        return Counter(self.asked)


def free_port() -> int:
    """One that nothing listens on, for a program that must be told its port."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


@contextmanager
def serving(web: Web) -> Iterator[Site]:
    site = Site(port=0)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each answer waits 40 ms for an ACK

        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            site.asked.append(self.path)
            site.referers += self.headers.get_all("Referer", [])
            answer = web(self.path)
            if not answer.status:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.is_sized:
                self.send_header("Content-Length", str(len(answer.body)))
            else:
                self.send_header("Connection", "close")
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)

        do_HEAD = do_POST = do_GET

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        site.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()
