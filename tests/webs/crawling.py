"""Crawls of a `Web` by Scrapy's own engine, of which only the network is missing."""

from __future__ import annotations

import asyncio
import html
import logging
import random
import resource
import tempfile
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.exceptions import DownloadConnectionRefusedError, DownloadTimeoutError
from scrapy.http import HtmlResponse, Response, TextResponse
from scrapy.settings import Settings

from scrapy_dust.crawl.canary_draw import KEY_FILE
from scrapy_dust.rule_book import Entry, Evidence, RuleBook, Status
from scrapy_dust.rules.canonizer import Canonizer
from scrapy_dust.sites import site_of
from tests.webs.model import ROOT, SITE, Answer, Failure, Page, Redirect, Soft, Web
from tests.webs.spiders import BugOfTheSpiders, Crawled, RuleWalker, Walker

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
    "DOWNLOADER_MIDDLEWARES": {
        "tests.webs.spiders.Refusals": 700,
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
        "tests.webs.spiders.PatientRobots": 100,
    },
    "SPIDER_MIDDLEWARES": {"tests.webs.spiders.KeepingBack": 990},
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
        language = request.headers.get("Accept-Language", b"").decode()
        answered = spider.crawled.answered
        answered[request.url, language] += 1
        if (
            isinstance(answer, Failure | Soft)
            and answer.then
            and answered[request.url, language] > (answer.times or 0)
        ):
            answer = answer.then
        return _response(request.url, answer, asked.total(), language)


def _response(url: str, answer: Answer, requests: int, language: str) -> Response:
    match answer:
        case Soft():
            return _soft(url, answer)
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
            return HtmlResponse(url, headers={"X-Content": content}, body=_body(shown + language))
    raise AssertionError(answer)


def _soft(url: str, answer: Soft) -> Response:
    match answer.what:
        case "empty":
            return HtmlResponse(url)
        case "partial":
            return HtmlResponse(url, body=_body(url)[:30], flags=["partial"])
        case "unlike":
            return HtmlResponse(url, body=_body(f"{url} has expired"))
        case "wait":
            return HtmlResponse(url, headers={"X-Wait": "1"}, body=_body("wait for a while"))
        case int(status):
            return HtmlResponse(url, status=status, body=b"" if status == 204 else b"not yet")
        case _:
            return HtmlResponse(url, body=_body(str(answer.what)))


@lru_cache(maxsize=256)
def _body(content: str) -> bytes:
    """The same whoever asks, and no two that are alike."""
    chance = random.Random(content)
    words = " ".join("".join(chance.choices("abcdefghij", k=5)) for _ in range(40))
    return f"<title>{html.escape(content)}</title><p>{words}</p>".encode()


def crawl(
    web: Web, *, blind_to: frozenset[str] = frozenset(), status: Status = Status.VALID, **more: Any
) -> Crawled:
    """With the web's rules, or as *more* says: to its end, over its pauses.

    *blind_to*: contents that the spider takes nothing of; *status*: of the rules when the crawl begins.
    """
    crawled = Crawled()
    with tempfile.TemporaryDirectory(dir=_SHARED_MEMORY) as name, _listening(crawled):
        folder = Path(name)
        book = folder / "rules.json"
        _write_rules(book, web, status)
        (folder / KEY_FILE).write_bytes(bytes(32))  # or canaries would be others each time
        settings = _settings(web, folder) | {"DUST_RULES": [str(book)]} | more
        for until in (*sorted(web.manner.pauses), None):
            with _disk(is_full=web.manner.is_disk_full):
                asyncio.run(_run(web, crawled, until, settings, blind_to))
            if crawled.reason == "finished":
                break
            _damage(folder, web.manner.damage)
        entries = RuleBook.load([str(book)]).entries(SITE)
        crawled.refuted = tuple(
            entry.rule
            for entry in entries
            if entry.status is Status.REFUTED and (entry.reason or "").startswith("refuted")
        )
    return crawled


class _Listening(logging.Handler):
    """Notes the exceptions that came out of our code."""

    def __init__(self, crawled: Crawled) -> None:
        super().__init__(logging.WARNING)
        self.crawled = crawled

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[0] not in _MEANT:
            frames = [frame.filename for frame in traceback.extract_tb(record.exc_info[2])]
            if any("/scrapy_dust/" in name for name in frames):
                self.crawled.faults.append(repr(record.exc_info[1]))


#: Exceptions that pass through our code, and are not ours.
_MEANT = {BugOfTheSpiders, DownloadConnectionRefusedError, DownloadTimeoutError}


@contextmanager
def _listening(crawled: Crawled) -> Iterator[None]:
    handler = _Listening(crawled)
    logging.getLogger().addHandler(handler)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(handler)


@contextmanager
def _disk(*, is_full: bool) -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    if is_full:
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


#: What Scrapy itself keeps in the folder of a job, and what is no state.
_NOT_OURS = {"requests.seen", "spider.state", "requests.queue", "rules.json", "cache", KEY_FILE}


def _damage(folder: Path, how: str) -> None:
    """To all files of ours."""
    for path in folder.rglob("*") if how else ():
        if path.is_file() and not _NOT_OURS & set(path.parts):
            content = path.read_bytes()
            damaged = {"emptied": b"", "torn": content[: len(content) // 2], "noise": bytes(range(251))}
            path.write_bytes(damaged[how])


class _ForOneCrawl(Settings):
    """Scrapy copies settings for each crawl, which takes a sixth of its time here."""

    def copy(self) -> Self:
        return self


async def _run(
    web: Web, crawled: Crawled, until: int | None, settings: dict[str, Any], blind_to: frozenset[str]
) -> None:
    spider = RuleWalker if web.manner.by_rules else Walker
    crawler = Crawler(spider, _ForOneCrawl(settings))
    await crawler.crawl_async(web=web, crawled=crawled, until=until, blind_to=blind_to)


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
        "DEPTH_LIMIT": manner.depth_limit,
    }
    if manner.named:
        chosen["DUST_CLASS_BY"] = ["callback", manner.named]
    if manner.inner:
        chosen["DUPEFILTER_CLASS"] = _INNER[manner.inner]
    if manner.languages != ("",):
        chosen["REQUEST_FINGERPRINTER_CLASS"] = "tests.webs.spiders.LanguageFingerprinter"
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


_INNER = {"window": "tests.webs.spiders.Window", "base": "tests.webs.spiders.NoFilter"}


def _write_rules(path: Path, web: Web, status: Status) -> None:
    canonizer = Canonizer({SITE: web.rules}, site_of)
    known = tuple((url, canonizer.canonize(url)) for url in (f"{ROOT}/p0", *web.answers))[:3]
    evidence = Evidence(examples=known, last_validated="2020-01-01" if web.manner.stale else None)
    RuleBook().with_site(SITE, [Entry(rule, status, evidence) for rule in web.rules]).save(path)


# Only what has a traceback is of interest.
logging.getLogger("scrapy").setLevel(logging.ERROR)
