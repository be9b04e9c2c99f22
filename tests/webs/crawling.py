"""Crawls of a `Web` by Scrapy's own engine, of which only the network is missing."""

from __future__ import annotations

import asyncio
import html
import logging
import random
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from scrapy import Request, Spider
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import CloseSpider, DownloadConnectionRefusedError, DownloadTimeoutError, IgnoreRequest
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.settings import Settings

from scrapy_dust.dust.canonization import Canonizer
from scrapy_dust.dust.rules import Rule
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status
from scrapy_dust.sites import site_of
from tests.webs.model import ROOT, SITE, Answer, Failure, Page, Redirect, Web

SETTINGS: dict[str, Any] = {
    "TWISTED_REACTOR_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "ADDONS": {"scrapy_dust.Addon": 900},
    "DUST_LOG_ENABLED": False,
    "RETRY_TIMES": 1,
    "RETRY_HTTP_CODES": [503],
    "LOG_ENABLED": False,
    "DOWNLOAD_DELAY": 0,
    "METAREFRESH_MAXDELAY": 100,
    "DOWNLOAD_HANDLERS": {"http": "tests.webs.crawling.NoNetwork", "https": None},
    "DOWNLOADER_MIDDLEWARES": {"tests.webs.crawling.Refusals": 700},
    # Scrapy's engine makes so many tasks for each answer.
    "CONCURRENT_ITEMS": 1,
    "DUST_JOURNAL": False,
}
#: What takes as long to start as such a crawl takes, and has no part in it.
_LEFT_OUT = {
    "EXTENSIONS": "memusage.MemoryUsage memdebug.MemoryDebugger feedexport.FeedExporter logstats.LogStats throttle.AutoThrottle",
    "DOWNLOADER_MIDDLEWARES": (
        "httpauth.HttpAuthMiddleware downloadtimeout.DownloadTimeoutMiddleware defaultheaders.DefaultHeadersMiddleware "
        "useragent.UserAgentMiddleware httpcompression.HttpCompressionMiddleware httpproxy.HttpProxyMiddleware"
    ),
}
for _setting, _names in _LEFT_OUT.items():
    _room = "scrapy." + ("extensions." if _setting == "EXTENSIONS" else "downloadermiddlewares.")
    SETTINGS[_setting] = {**SETTINGS.get(_setting, {}), **{_room + name: None for name in _names.split()}}
#: In memory, where there is such a place: a thousand crawls wait for no disk.
_SHARED_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


@dataclass
class Crawled:
    contents: set[str] = field(default_factory=set)
    asked: Counter[str] = field(default_factory=Counter)  #: URLs
    pages: int = 0
    reason: str = ""
    refuted: tuple[Rule, ...] = ()  #: rules that this crawl found to be false


class NoNetwork(BaseDownloadHandler):
    """Answers as the web of the spider does."""

    async def download_request(self, request: Request) -> Response:
        spider = self.crawler.spider
        assert isinstance(spider, Walker)
        web, asked = spider.web, spider.crawled.asked
        if request.url.endswith("/robots.txt"):
            lines = ["User-agent: *", *(f"Disallow: {begin}" for begin in web.manner.disallowed)]
            return TextResponse(request.url, body="\n".join(lines).encode())
        asked[request.url] += 1
        for _ in range(web.delays.get(request.url, 0)):
            await asyncio.sleep(0)
        answer = web.answers.get(request.url, Failure(404))
        if isinstance(answer, Failure) and answer.then and asked[request.url] > (answer.times or 0):
            answer = answer.then
        return _response(request.url, answer, asked.total())


def _response(url: str, answer: Answer, requests: int) -> Response:
    match answer:
        case Failure("silence"):
            raise DownloadConnectionRefusedError("nobody there")
        case Failure("timeout"):
            raise DownloadTimeoutError("nobody in time")
        case Failure("refused"):
            return HtmlResponse(url, headers={"X-Refused": "1"}, body=b"of no use")
        case Failure(int(status)):
            return HtmlResponse(url, status=status, body=b"failed")
        case Redirect(to, refresh=True):
            head = f'<meta http-equiv="refresh" content="0; url={html.escape(to)}">'
            return HtmlResponse(url, body=f"<html><head>{head}</head></html>".encode())
        case Redirect(to):
            return HtmlResponse(url, status=302, headers={"Location": to})
        case Page(content, turns_after):
            shown = content if requests > turns_after else answer.taken_for
            # Whoever has asked for it has had its content, whatever it showed by then.
            return HtmlResponse(url, headers={"X-Content": content}, body=_body(shown))
    raise AssertionError(answer)


@lru_cache(maxsize=256)
def _body(content: str) -> bytes:
    """The same whoever asks, and no two that are alike."""
    chance = random.Random(content)
    words = " ".join("".join(chance.choices("abcdefghij", k=5)) for _ in range(40))
    return f"<title>{html.escape(content)}</title><p>{words}</p>".encode()


class Refusals:
    """A project's own middleware, which has no use for some answers."""

    def process_response(self, request: Request, response: Response) -> Response:
        if "X-Refused" in response.headers:
            raise IgnoreRequest("of no use")
        return response


class Walker(Spider):
    name = "walker"
    allowed_domains = (SITE,)

    def __init__(self, web: Web, crawled: Crawled, until: int | None, **_: Any) -> None:
        super().__init__()
        self.web, self.crawled, self.until = web, crawled, until

    async def start(self) -> AsyncIterator[Any]:
        for url in self.web.start:
            yield Request(url, dont_filter=self.web.manner.start_unfiltered)

    def parse(self, response: Response) -> Any:
        assert isinstance(response, TextResponse)
        content = response.headers.get("X-Content", b"").decode()
        is_new = content not in self.crawled.contents
        self.crawled.contents.add(content)
        self.crawled.pages += 1
        for link in self.web.links.get(content, ()):
            # What is not filtered would be asked for each time that it is linked.
            if is_new or not link.unfiltered:
                yield Request(link.url, priority=link.priority, dont_filter=link.unfiltered)
        if self.until is not None and self.crawled.pages >= self.until:
            raise CloseSpider("paused")

    def closed(self, reason: str) -> None:
        self.crawled.reason = reason


def crawl(web: Web, **more: Any) -> Crawled:
    """With the web's rules, or as *more* says: to its end, over its pauses."""
    crawled = Crawled()
    with tempfile.TemporaryDirectory(dir=_SHARED_MEMORY) as name:
        folder = Path(name)
        book = folder / "rules.json"
        _write_rules(book, web)
        settings = _settings(web, folder) | {"DUST_RULES": [str(book)]} | more
        for until in (*sorted(web.manner.pauses), None):
            asyncio.run(_run(web, crawled, until, settings))
            if crawled.reason == "finished":
                break
        entries = RuleBook.load([str(book)]).entries(SITE)
        crawled.refuted = tuple(
            entry.rule
            for entry in entries
            if entry.status is Status.SUSPENDED and (entry.reason or "").startswith("refuted")
        )
    return crawled


class _ForOneCrawl(Settings):
    """Scrapy copies settings for each crawl, which takes a sixth of its time here."""

    def copy(self) -> Self:
        return self


async def _run(web: Web, crawled: Crawled, until: int | None, settings: dict[str, Any]) -> None:
    await Crawler(Walker, _ForOneCrawl(settings)).crawl_async(web=web, crawled=crawled, until=until)


def _settings(web: Web, folder: Path) -> dict[str, Any]:
    manner = web.manner
    chosen = SETTINGS | {
        "DUST_DIR": str(folder),
        "DUST_MODE": manner.mode,
        "DUST_CANARY_RATE": manner.canary_rate,
        "DUST_CONTENT_DEDUP": manner.content_dedup,
        "DUST_REWRITE": manner.rewrite,
        "CONCURRENT_REQUESTS": manner.concurrency,
        "CONCURRENT_REQUESTS_PER_DOMAIN": manner.concurrency,
        "RETRY_ENABLED": manner.retries,
        "ROBOTSTXT_OBEY": bool(manner.disallowed),
    }
    if manner.breadth_first:
        chosen |= {
            "DEPTH_PRIORITY": 1,
            "SCHEDULER_DISK_QUEUE": "scrapy.squeues.PickleFifoDiskQueue",
            "SCHEDULER_MEMORY_QUEUE": "scrapy.squeues.FifoMemoryQueue",
        }
    if manner.pauses:
        chosen["JOBDIR"] = str(folder / "job")
    if manner.cache:
        chosen |= {
            "HTTPCACHE_ENABLED": True,
            "HTTPCACHE_DIR": str(folder / "cache"),
            "HTTPCACHE_IGNORE_HTTP_CODES": [503],
        }
    return chosen


def _write_rules(path: Path, web: Web) -> None:
    canonizer = Canonizer({SITE: web.rules}, site_of)
    known = tuple((url, canonizer.canonize(url)) for url in (f"{ROOT}/p0", *web.answers))[:3]
    evidence = Evidence(examples=known, last_validated="2020-01-01" if web.manner.stale else None)
    RuleBook().with_site(SITE, [Entry(rule, evidence=evidence) for rule in web.rules]).save(path)


logging.getLogger("scrapy").setLevel(logging.CRITICAL)
