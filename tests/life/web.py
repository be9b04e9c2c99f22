"""Sites on ports of this machine, each a function from what is asked to an answer."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit


@dataclass(frozen=True)
class Asked:
    method: str
    url: str  #: path and query
    headers: dict[str, str]  #: names in lower case
    body: str
    before: int  #: how often this method was used on this URL before
    number: int  #: how many requests the site had before
    homes: tuple[str, ...]  #: of all sites, without a slash at the end

    @property
    def path(self) -> str:
        return urlsplit(self.url).path

    @property
    def query(self) -> dict[str, str]:
        return dict(parse_qsl(urlsplit(self.url).query))

    @property
    def sid(self) -> str:
        return self.query.get("sid", "")

    @property
    def cookie(self) -> str:
        return self.headers.get("cookie", "")


@dataclass(frozen=True)
class Answer:
    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=lambda: {"Content-Type": "text/html; charset=utf-8"})
    seconds: float = 0  #: until it comes
    hangs_up: bool = False  #: then, without an answer
    length: int | None = None  #: what Content-Length says, where that is not true


Site = Callable[[Asked], Answer]


@lru_cache(maxsize=4096)
def words(content: str, count: int = 120) -> str:
    """The same for the same *content*; for another, no sentence of it."""
    chance = random.Random(content)
    return " ".join("".join(chance.choices("abcdefghij", k=5)) for _ in range(count))


def page(content: str, *links: str, status: int = 200, extra: str = "", **headers: str) -> Answer:
    """A page that shows *content*, for which the spider has an item, and *links*."""
    own = f"<h1>{escape(content)}</h1><p>{words(content)}</p>"
    return _html(own + _anchors(links) + extra, status, headers)


def index(*links: str, **headers: str) -> Answer:
    """A page with links and no item."""
    return _html(f"<p>{words(' '.join(links))}</p>" + _anchors(links), 200, headers)


def notice(text: str, status: int = 200, **headers: str) -> Answer:
    """A page with words and no item."""
    return _html(f"<p class=notice>{escape(text)}</p>", status, headers)


def redirect(location: str, status: int = 302, **headers: str) -> Answer:
    return Answer(b"", status, {"Location": location, **_named(headers)})


def error(status: int) -> Answer:
    return Answer(b"no", status, {"Content-Type": "text/plain"})


def _html(body: str, status: int, headers: dict[str, str]) -> Answer:
    whole = f"<html><head><title>t</title></head><body>{body}</body></html>"
    return Answer(whole.encode(), status, {"Content-Type": "text/html; charset=utf-8", **_named(headers)})


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}


def _anchors(links: Sequence[str]) -> str:
    return "".join(f'<a href="{escape(link)}">x</a>' for link in links)


@dataclass
class Served:
    homes: tuple[str, ...] = ()
    asked: list[tuple[str, str]] = field(default_factory=list)  #: methods and URLs, in their order

    @property
    def urls(self) -> list[str]:
        return [url for _, url in self.asked]

    @property
    def paths(self) -> list[str]:
        """Of URLs, what follows the host."""
        return ["/" + url.split("/", 3)[3] for url in self.urls]


@contextmanager
def serving(*sites: Site) -> Iterator[Served]:
    served = Served()
    with ExitStack() as stack:
        served.homes = tuple(stack.enter_context(_one(site, served)) for site in sites)
        yield served


@contextmanager
def _one(site: Site, served: Served) -> Iterator[str]:
    before: Counter[tuple[str, str]] = Counter()
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # or each answer waits 40 ms for an ACK

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            headers = {name.lower(): value for name, value in self.headers.items()}
            home = f"http://{headers['host']}"
            with lock:
                key = (self.command, self.path)
                asked = Asked(*key, headers, body, before[key], before.total(), served.homes)
                before[key] += 1
                served.asked.append((self.command, home + self.path))
            self._send(site(asked))

        def _send(self, answer: Answer) -> None:
            time.sleep(answer.seconds)
            if answer.hangs_up:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.length is not None:
                self.close_connection = True
            self.send_header(
                "Content-Length", str(len(answer.body) if answer.length is None else answer.length)
            )
            self.end_headers()
            if self.command != "HEAD" and answer.status not in (204, 205):
                self.wfile.write(answer.body)

        do_HEAD = do_POST = do_GET

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # a crawler that did not wait for the answer
                self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

    with Server(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
