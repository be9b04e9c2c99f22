"""`KnownMiddleware`: does not fetch pages again that an earlier crawl of the spider has taken (``DUST_KNOWN``).

It stands next to the spider, and drops the requests of callbacks for known pages before other middlewares see them.
Start requests, redirects, ``dont_filter`` and ``meta={"dust": False}`` are always fetched. Pages are known by the
keys of their classes, so that each URL of a known page is known.

A page becomes known when its callback came to its end, every item that the callback yielded came out of the
pipelines, and its crawl ended with ``finished``. A paused job remembers its pages in the JOBDIR. Any error here means
that the page is fetched.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import astuple, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from scrapy import Request, Spider, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.utils.job import job_dir
from xxhash import xxh3_128_digest

from scrapy_dust.crawl.class_names import Naming
from scrapy_dust.crawl.components import Component, CrawlLogger, listen
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.requests import OPT_OUT, is_plain
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.crawl.spider_answers import shows_page
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.errors import DustError
from scrapy_dust.signatures.taken_pages import KnownPages, TakenPage
from scrapy_dust.stats import Stat

#: In DUST_DIR, and in a JOBDIR.
FILE, IN_JOB = "known.sqlite", "dust-known.jsonl"


@dataclass(slots=True)
class _Page:
    """A page that came in this crawl, and the fate of its items so far."""

    taken: TakenPage
    yielded: int = 0  #: items
    is_done: bool = False  #: the callback came to its end
    lost: int = 0  #: items that were dropped or failed in a pipeline

    @property
    def is_taken(self) -> bool:
        """Whether the callback has ended and all its items came out of the pipelines."""
        return self.is_done and not self.lost and self.taken.items == self.yielded


class KnownMiddleware(Component):
    """Spider middleware that drops requests for pages that an earlier crawl has taken. ``SPIDER_MIDDLEWARES``, at 9_990."""

    def __init__(self, crawler: Crawler) -> None:
        self._rules = rules_of(crawler)
        settings = self._rules.settings
        if not settings.enabled or settings.known == "off":
            raise NotConfigured
        self._mode, days = settings.known, settings.known_days
        self._since = 0 if days is None else int(time.time()) - int(timedelta(days=days).total_seconds())
        super().__init__(crawler)
        self._faults = Faults(crawler, Stat.KNOWN_ERRORS, "The crawl goes on and fetches")
        self._naming = Naming(crawler, self._rules)
        self._pages: dict[bytes, _Page] = {}
        self._of: WeakKeyDictionary[Request, _Page] = WeakKeyDictionary()
        self._lead_on: set[str] = set()
        self._known: KnownPages | None = None
        listen(crawler, self._spider_opened, self._item_scraped, self._spider_closed)
        for lost in (signals.item_dropped, signals.item_error):
            crawler.signals.connect(self._item_lost, signal=lost)
        self._rules.changed.append(self._keys_changed)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        page = self._begin_page(response)
        async for one in result:
            if self._lets_through(page, one):
                yield one
        if page is not None:
            page.is_done = True

    # -- what is known

    def _lets_through(self, page: _Page | None, one: Any) -> bool:
        """Whether *one*, yielded from *page*, goes on: all but requests for known pages. Counts *one* for *page*."""
        if not isinstance(one, Request):
            if page is not None and one is not None:
                page.yielded += 1
            return True
        if page is not None:
            page.taken = replace(page.taken, requests=page.taken.requests + 1)
            self._lead_on.add(page.taken.handled)
        if not self._is_known(one):
            return True
        self._crawler.stats.inc_value(Stat.KNOWN_SKIPPED.value)
        return False

    def _is_known(self, request: Request) -> bool:
        """Whether *request* asks for a page that an earlier crawl has taken, and need not be fetched."""
        if self._known is None or request.dont_filter or request.meta.get(OPT_OUT) is False:
            return False
        try:
            self._naming.asking.note_digest(request)
            handled = self._handling_name(request)
            if handled is None:
                return False
            if self._mode == "skip" and (handled in self._lead_on or self._known.leads_on(handled)):
                return False
            found = self._known.of_class(self._class_key(request, handled), self._since)
            return any(map(self._counts_as_taken, found))
        except Exception as error:  # noqa: BLE001  Whatever a request of the project's, or the disk, has against it.
            self._faults.note("Could not look up a page", error)
            return False

    def _counts_as_taken(self, page: TakenPage) -> bool:
        """Whether *page* brought what ``DUST_KNOWN`` demands of a page that is not fetched again."""
        if self._mode == "skip":
            return page.items == 1 and not page.requests
        return self._mode == "skip-all" or page.items > 0

    # -- what becomes known

    def _begin_page(self, response: Response) -> _Page | None:
        """The page of *response*, whose items and requests are counted from now on; None if the page cannot become known."""
        request = response.request
        if request is None or not shows_page(response) or request.meta.get(OPT_OUT) is False:
            return None
        try:
            handled = self._handling_name(request)
            if handled is None:
                return None
            own, key = _digest(self._naming.own(request), handled), self._class_key(request, handled)
        except Exception as error:  # noqa: BLE001  as above
            self._faults.note("Could not name a page", error)
            return None
        taken = TakenPage(own, key, request.url, handled, is_plain(request), 0, 0, int(time.time()))
        page = self._pages[own] = self._of[request] = _Page(taken)
        return page

    def _page_of(self, response: Response | None) -> _Page | None:
        """The page of *response* whose items are still counted; None if there is none."""
        return None if response is None or response.request is None else self._of.get(response.request)

    def _item_scraped(self, response: Response | None) -> None:
        if (page := self._page_of(response)) is not None:
            page.taken = replace(page.taken, items=page.taken.items + 1)

    def _item_lost(self, response: Response | None) -> None:
        if (page := self._page_of(response)) is not None:
            page.lost += 1

    # -- names

    def _handling_name(self, request: Request) -> str | None:
        """A name for how the spider handles *request*, valid in other crawls too; None if there is none."""
        handled = self._naming.handling_name(request)
        return None if handled is None or "function " in handled else handled

    def _class_key(self, request: Request, handled: str) -> bytes:
        return _digest(self._naming.key(request), handled)

    def _keys_changed(self) -> None:
        """Make the known keys anew after rules have changed during the crawl."""
        if self._known is not None:
            self._update_keys(self._known, f"{self._rules.version} {id(self)} {int(time.time())}")

    def _update_keys(self, known: KnownPages, version: str) -> None:
        """Rename the stored keys if other rules than those of *version* made them. If that fails, go on without known pages."""
        try:
            known.rename_keys(version, lambda url, handled: self._class_key(Request(url), handled))
        except DustError as error:
            self._faults.note("Could not make keys anew", error)
            self._known = None

    # -- the crawl

    def _spider_opened(self, spider: Spider) -> None:
        try:
            self._known = KnownPages(log_dir(self._rules.settings.dir).parent / FILE, spider.name)
            self._known.forget_before(self._since)
            self._update_keys(self._known, self._rules.version)
            before = self._pages_of_job()
            self._pages |= {one.own: _Page(one, yielded=one.items, is_done=True) for one in before}
        except DustError as error:
            self._faults.note("Could not read what is known", error)
            self._known = None

    def _pages_of_job(self) -> list[TakenPage]:
        """The pages that this job took before it was paused, read from the JOBDIR."""
        path = self._job_file()
        if path is None or not path.is_file():
            return []
        try:
            return [_from_line(line) for line in path.read_text(encoding="utf-8").splitlines()]
        except (OSError, ValueError, TypeError) as error:
            self._faults.note(f"Could not read {path}", error)
            return []

    def _job_file(self) -> Path | None:
        folder = job_dir(self._crawler.settings)
        return None if folder is None else Path(folder, IN_JOB)

    def _spider_closed(self, spider: Spider, reason: str) -> None:
        known, self._known = self._known, None
        if known is None:
            return
        taken = [page.taken for page in self._pages.values() if page.is_taken]
        try:
            with closing(known):
                known.save_leads_on(self._lead_on)
                if reason == "finished":
                    self._save_taken(known, taken)
                elif (path := self._job_file()) is not None:
                    path.write_text("".join(_as_line(page) for page in taken), encoding="utf-8")
        except (DustError, OSError) as error:
            self._faults.note("Could not keep what is known", error)
        self._log_summary(reason, len(taken))

    def _save_taken(self, known: KnownPages, taken: list[TakenPage]) -> None:
        # Of a job the rules may have changed since a page was taken.
        now = {one.own: self._class_key(Request(one.url), one.handled) for one in taken if one.is_plain}
        known.add([replace(one, key=now.get(one.own, one.key)) for one in taken])
        if (path := self._job_file()) is not None:
            path.unlink(missing_ok=True)

    def _log_summary(self, reason: str, taken: int) -> None:
        has_ended, stats = reason == "finished", self._crawler.stats
        stats.set_value(Stat.KNOWN_TAKEN.value, taken if has_ended else 0)
        early = f"will be fetched again, since it ended early ({reason})"
        CrawlLogger(__name__, self._crawler).info(
            "DUST_KNOWN spared %d requests for pages that an earlier crawl has taken; %d pages of this crawl %s.",
            stats.get_value(Stat.KNOWN_SKIPPED.value, 0),
            taken,
            "are known from now on" if has_ended else early,
        )


def _digest(fingerprint: bytes, handled: str) -> bytes:
    return xxh3_128_digest(fingerprint + handled.encode("utf-8", "surrogatepass"))


def _as_line(page: TakenPage) -> str:
    own, key, *others = astuple(page)
    return json.dumps([own.hex(), key.hex(), *others]) + "\n"


def _from_line(line: str) -> TakenPage:
    own, key, *others = json.loads(line)
    return TakenPage(bytes.fromhex(own), bytes.fromhex(key), *others)
