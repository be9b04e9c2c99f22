"""A web of traps, on a port of this machine: whatever makes a crawler that tells duplicates by URL lose pages.

Each trap is a folder. Its pages have aliases that differ in what `RULES` speak of, and these rules are true of it,
but for what a crawler is told to take verbatim. Which contents were sent is counted here, where it cannot be
mistaken: a content that was never sent is a page lost.
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from scrapy_dust.rule_book import Entry, RuleBook
from scrapy_dust.rule_book.entries import Evidence
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from scrapy_dust.rules.substitution import Substitute

#: True of all that follows.
RULES: tuple[Rule, ...] = (
    Rule.of(DropParameter("sid")),
    Rule.of(Substitute("/", "", end=True)),
    Rule.of(Substitute("?b=2&a", "?a")),
    Rule.of(Substitute("&b=2", "", end=True)),
)

#: Of each trap.
PAGES = range(3)

#: The first one that is seen of each page is the one that fails, where a trap has one that does.
ALIASES = "abc"

#: A port where nothing listens.
CLOSED = 1

# The smallest that image libraries take for one: one pixel.
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de"
    "0000000c49444154789c63f8cfc000000301010018dd8db00000000049454e44ae426082"
)


@dataclass(frozen=True)
class Link:
    """What the crawler is to ask for, and how: see `trap_spider`."""

    url: str
    how: str = ""


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    cookies: frozenset[str]
    body: str
    before: int  #: how often this URL was asked for before

    @property
    def trap(self) -> str:
        return self.path.split("/")[1]

    @property
    def page(self) -> str:
        return self.path.strip("/")

    @property
    def sid(self) -> str:
        return dict(self.query).get("sid", "")


@dataclass(frozen=True)
class Answer:
    status: int = 200
    content: str | None = None  #: what is counted
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 0  #: until it comes


def page(content: str) -> Answer:
    body = f"<html><body><p>The page {content} and nothing else.</p></body></html>"
    return Answer(200, content, body.encode(), (("Content-Type", "text/html; charset=utf-8"),))


def to(url: str, *headers: tuple[str, str], status: int = 302) -> Answer:
    return Answer(status, headers=(("Location", url), *headers))


def failing_first(failure: Answer) -> Callable[[Asked], Answer]:
    return lambda asked: failure if asked.sid == ALIASES[0] else page(asked.page)


def slash_missing(asked: Asked) -> Answer:
    return page(asked.page) if asked.path.endswith("/") else to(f"{asked.path}/", status=301)


def session_added(asked: Asked) -> Answer:
    return page(asked.page) if asked.sid else to(f"{asked.path}?sid=7")


def parameters_ordered(asked: Asked) -> Answer:
    values = dict(asked.query)
    ordered = [name for name, _ in asked.query] == ["a", "b"]
    return page(f"order/{values['a']}") if ordered else to(f"/order?a={values['a']}&b=2", status=301)


def loop(asked: Asked) -> Answer:
    return (
        page(asked.page) if asked.sid == "c" else to(f"{asked.path}?sid={'b' if asked.sid == 'a' else 'a'}")
    )


def endless(asked: Asked) -> Answer:
    return page(asked.page) if asked.sid == "c" else to(f"{asked.path}?sid=a{asked.sid}")


def private(asked: Asked) -> Answer:
    """A login of its own for each page, that leads back to the very URL."""
    if "in=1" in asked.cookies:
        return page(asked.page)
    return to(f"/login?to={asked.path}?sid={asked.sid}")


def login(asked: Asked) -> Answer:
    return to(dict(asked.query)["to"], ("Set-Cookie", "in=1; Path=/"))


def members(asked: Asked) -> Answer:
    """One login for all, that leads nowhere."""
    return page(asked.page) if "member=1" in asked.cookies else to("/signin")


def signin(asked: Asked) -> Answer:
    return Answer(
        200, None, b"<p>signed in</p>", (("Set-Cookie", "member=1; Path=/"), ("Content-Type", "text/html"))
    )


def refresh(asked: Asked) -> Answer:
    if asked.sid:
        return page(asked.page)
    body = f'<html><head><meta http-equiv="refresh" content="0; url={asked.path}?sid=9"></head></html>'
    return Answer(200, None, body.encode(), (("Content-Type", "text/html"),))


def posted(asked: Asked) -> Answer:
    return page(f"{asked.page}:{asked.body}") if asked.method == "POST" else Answer(405)


def by_session(asked: Asked) -> Answer:
    """Not true of the rules: these are to be asked for as they are."""
    return page(f"{asked.page}?{asked.sid}")


def image(asked: Asked) -> Answer:
    return Answer(200, f"{asked.page}?{asked.sid}", _PIXEL, (("Content-Type", "image/png"),))


def needs_session(asked: Asked) -> Answer:
    return page(asked.page) if asked.sid else Answer(404)


def same_parameters(asked: Asked) -> Answer:
    return page("same/" + ",".join(sorted(value for name, value in asked.query if name == "x")))


@dataclass(frozen=True)
class Trap:
    answer: Callable[[Asked], Answer]
    links: tuple[Link, ...]
    contents: frozenset[str]


def _aliases(name: str, answer: Callable[[Asked], Answer], first: str = "") -> Trap:
    """Pages with three aliases each, the first of which is asked for in the way *first*."""
    links = [Link(f"/{name}/{n}?sid={sid}", first if sid == "a" else "") for sid in ALIASES for n in PAGES]
    return Trap(answer, tuple(links), frozenset(f"{name}/{n}" for n in PAGES))


def _pages(name: str, answer: Callable[[Asked], Answer], url: str = "/{name}/{n}", how: str = "") -> Trap:
    links = tuple(Link(url.format(name=name, n=n), how.format(n=n)) for n in PAGES)
    return Trap(answer, links, frozenset(f"{name}/{n}" for n in PAGES))


def _as_asked(name: str, answer: Callable[[Asked], Answer], how: str) -> Trap:
    links = tuple(Link(f"/{name}/1?sid={sid}", how) for sid in ALIASES)
    return Trap(answer, links, frozenset(f"{name}/1?{sid}" for sid in ALIASES))


def _traps(port: int) -> dict[str, Trap]:
    return {
        "slash": _pages("slash", slash_missing),
        "session": _pages("session", session_added),
        "order": _pages("order", parameters_ordered, "/{name}?b=2&a={n}"),
        "gone": _aliases("gone", failing_first(Answer(404))),
        "broken": _aliases("broken", failing_first(Answer(500))),
        "slow": _aliases("slow", failing_first(Answer(seconds=3)), "timeout"),
        "hangup": _aliases("hangup", failing_first(Answer(status=0))),
        "refused": _aliases("refused", failing_first(to(f"http://127.0.0.1:{CLOSED}/"))),
        "offsite": _aliases("offsite", failing_first(to(f"http://localhost:{port}/elsewhere"))),
        "scheme": _aliases("scheme", failing_first(to("ftp://127.0.0.1/"))),
        "loop": _aliases("loop", loop),
        "endless": _aliases("endless", endless),
        "private": _aliases("private", private),
        "members": _aliases("members", members),
        "refresh": _pages("refresh", refresh),
        "flaky": _aliases("flaky", lambda asked: page(asked.page) if asked.before else Answer(503)),
        "forbidden": _aliases("forbidden", lambda asked: page(asked.page)),
        "dropped": _aliases("dropped", lambda asked: page(asked.page)),
        "undelivered": _aliases("undelivered", lambda asked: page(asked.page)),
        "only": _aliases("only", needs_session),
        "late": _aliases("late", failing_first(Answer(404)), "late"),
        "case": Trap(
            lambda asked: page(asked.page),
            (Link("/case/A"), Link("/case/a"), Link("/case/a?sid=b")),
            frozenset({"case/A", "case/a"}),
        ),
        "app": Trap(
            lambda asked: page("app"), (Link("/app#/a"), Link("/app#/b"), Link("/app#!c")), frozenset({"app"})
        ),
        "same": Trap(
            same_parameters,
            (Link("/same?x=1&x=2"), Link("/same?x=1&sid=a&x=2&sid=b"), Link("/same?x=2"), Link("/same?x=1")),
            frozenset({"same/1,2", "same/1", "same/2"}),
        ),
        "verbatim": _as_asked("verbatim", by_session, "verbatim"),
        "unfiltered": _as_asked("unfiltered", by_session, "dont_filter"),
        "optout": _as_asked("optout", by_session, "dust_off"),
        "file": _as_asked("file", by_session, "file"),
        "image": _as_asked("image", image, "image"),
        "post": Trap(
            posted,
            tuple(Link("/post?sid=a", f"post:n={n}") for n in PAGES),
            frozenset(f"post:n={n}" for n in PAGES),
        ),
        "search": Trap(
            lambda asked: page("search/" + dict(asked.query).get("q", "")),
            (*(Link("/search", f"get:q={n}") for n in PAGES), Link("/search?sid=a&q=1")),
            frozenset(f"search/{n}" for n in PAGES),
        ),
        "form": Trap(
            posted,
            tuple(Link("/form?sid=a", f"form:n={n}") for n in PAGES),
            frozenset(f"form:n={n}" for n in PAGES),
        ),
    }


@dataclass
class TrapWeb:
    """*without*: traps that are left out."""

    port: int = 0
    without: frozenset[str] = frozenset()
    asked: Counter[str] = field(default_factory=Counter)  #: by method and URL
    sent: Counter[str] = field(default_factory=Counter)  #: by content
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def traps(self) -> dict[str, Trap]:
        return {name: trap for name, trap in _traps(self.port).items() if name not in self.without}

    @property
    def site(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def home(self) -> str:
        return f"http://{self.site}/"

    @property
    def contents(self) -> frozenset[str]:
        return frozenset().union(*(trap.contents for trap in self.traps.values()))

    @property
    def lost(self) -> set[str]:
        return set(self.contents - self.sent.keys())

    @property
    def requests(self) -> int:
        return self.asked.total()

    @property
    def twice(self) -> int:
        """Answers that had a content sent before."""
        return self.sent.total() - len(self.sent)

    def forget(self) -> None:
        self.asked.clear()
        self.sent.clear()

    def answer(self, method: str, url: str, cookies: str, body: str) -> Answer:
        parts = urlsplit(url)
        jar = SimpleCookie(cookies)
        with self._lock:
            before = self.asked[f"{method} {url}"]
            self.asked[f"{method} {url}"] += 1
        asked = Asked(
            method,
            parts.path,
            tuple(parse_qsl(parts.query)),
            frozenset(f"{name}={jar[name].value}" for name in jar),
            body,
            before,
        )
        answer = self._answer(asked)
        with self._lock:
            if answer.content is not None and not answer.seconds:
                self.sent[answer.content] += 1
        return answer

    def _answer(self, asked: Asked) -> Answer:
        if asked.path == "/robots.txt":
            refused = "".join(f"Disallow: /forbidden/{n}?sid=a\n" for n in PAGES)
            return Answer(200, None, f"User-agent: *\n{refused}".encode(), (("Content-Type", "text/plain"),))
        if asked.path == "/":
            return _index([Link(f"/hub/{name}") for name in self.traps] + [Link("/?sid=home"), Link("/")])
        if asked.trap == "hub":
            return _index(list(self.traps[asked.path.split("/")[2]].links))
        others = {"login": login, "signin": signin}
        if asked.trap in others:
            return others[asked.trap](asked)
        return self.traps[asked.trap].answer(asked) if asked.trap in self.traps else Answer(404)


def _index(links: list[Link]) -> Answer:
    anchors = "".join(
        f'<a href="{link.url.replace("&", "&amp;")}" title="{link.how}">x</a>' for link in links
    )
    html = f"<html><body>{anchors}</body></html>"
    return Answer(200, None, html.encode(), (("Content-Type", "text/html; charset=utf-8"),))


def write_rules(path: Path, web: TrapWeb) -> str:
    """A rule book of the rules that are true of *web*, with what a validation would have seen."""
    seen = Evidence(examples=((f"{web.home}page?sid=1", f"{web.home}page"),))
    RuleBook().with_site(web.site, [Entry(rule, evidence=seen) for rule in RULES]).save(path)
    return str(path)


@contextmanager
def trapping(
    without: frozenset[str] = frozenset(), *, jitter: random.Random | None = None
) -> Iterator[TrapWeb]:
    """*jitter*: answers take up to 20 ms, so that their order is another each time."""
    web = TrapWeb(without=without)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
            answer = web.answer(self.command, self.path, self.headers.get("Cookie", ""), body)
            time.sleep(answer.seconds + (jitter.random() / 50 if jitter else 0))
            if not answer.status:
                self.close_connection = True
                return
            self.send_response(answer.status)
            for name, value in answer.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body)))
            self.end_headers()
            if self.command != "HEAD":
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
        web.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield web
        finally:
            server.shutdown()
            thread.join()
