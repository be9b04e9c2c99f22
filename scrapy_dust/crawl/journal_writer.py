"""The journal of one crawl: a file for people and later crawls, begun with the first event.

If the file cannot be written, the crawl goes on; the error is logged once and counted.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import run_in_thread

from scrapy_dust.crawl.components import listen
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.plain_requests import Manner, manner_of
from scrapy_dust.crawl_log.log_upkeep import hider
from scrapy_dust.crawl_log.retention import Keep
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.journal.events import Event, What, now
from scrapy_dust.journal.journal_places import journal_dir
from scrapy_dust.journal.writer import Journal
from scrapy_dust.settings import DustSettings
from scrapy_dust.stats import Stat

#: Bytes of journals that are kept of each spider, the latest ones.
_MOST_BYTES = 256 << 20


class CrawlJournal:
    """Writes the journal of one crawl."""

    def __init__(self, crawler: Crawler, settings: DustSettings) -> None:
        self._crawler, self._settings = crawler, settings
        self._journal: Journal | None = None
        self._is_closed = False
        self._faults = Faults(crawler, Stat.JOURNAL_ERRORS)
        listen(crawler, self._spider_closed)

    def write_request_event(
        self,
        what: What,
        request: Request,
        ids: tuple[str, ...],
        key: str,
        keeper: str | None = None,
        manner: Manner | None = None,
    ) -> None:
        """Write that *what* happened to *request*, with all that is needed to make the request again."""
        if self._settings.journal:
            if manner is None:
                manner = manner_of(request, self._crawler.spider, shows=True)
            said, lacks = manner.said, manner.lacks
            self.write_event(Event(what, now(), request.url, ids, key, keeper, None, said, lacks))

    def write_event(self, event: Event) -> None:
        """Write *event*."""
        if not self._settings.journal or self._is_closed:
            return
        try:
            self._open().write(event)
        except (OSError, ValueError, TypeError, RecursionError, CrawlLogError) as error:
            self._faults.note("Could not write down what is not fetched", error, trace=False)

    async def _spider_closed(self) -> None:
        self._is_closed = True
        if self._journal is not None:
            settings = self._settings
            keep = Keep(settings.log_keep_days, settings.log_keep_crawls, _MOST_BYTES)
            try:
                await run_in_thread(self._journal.close, keep)
            except OSError as error:
                self._faults.note("Could not write down what is not fetched", error, trace=False)

    def _open(self) -> Journal:
        if self._journal is None:
            settings, spider = self._settings, self._crawler.spider
            folder = journal_dir(settings.dir, "" if spider is None else spider.name)
            self._journal = Journal(folder, lambda: hider(settings.dir, settings.log_hide))
        return self._journal
