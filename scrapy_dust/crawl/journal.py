"""What rules suppress in a crawl: told to the journal, and kept so that it can be offered again.

A request that cannot be kept is let through: fetching a page twice is allowed, losing it is not. The journal, which
is for people and for later crawls, hinders nothing: where it cannot be written, that is said once and counted.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.asyncio import run_in_thread

from scrapy_dust.crawl.freezing import frozen, shown
from scrapy_dust.crawl.victims import Victims
from scrapy_dust.crawl_log.places import log_dir
from scrapy_dust.crawl_log.retention import Keep
from scrapy_dust.crawl_log.upkeep import hider
from scrapy_dust.errors import CrawlLogError
from scrapy_dust.journal.events import Event, What, now
from scrapy_dust.journal.places import journal_dir
from scrapy_dust.journal.writer import Journal
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_dust.settings import DustSettings

logger = logging.getLogger(__name__)


class Suppressions:
    """Of one crawl."""

    def __init__(self, crawler: Crawler, settings: DustSettings, jobdir: str | None) -> None:
        self._crawler = crawler
        self._settings = settings
        self._victims = Victims(log_dir(settings.dir).parent, jobdir)
        self._journal: Journal | None = None
        self._said = self._is_closed = False
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    def add(
        self,
        request: Request,
        key: str,
        rules: tuple[str, ...],
        keeper: str | None,
        also: tuple[str, ...] = (),
    ) -> bool:
        """*rules*, by their ids, suppress *request*. False: it cannot be kept, and should be let through.

        *also*: what else it can be found by in `suppressed_by`.
        """
        assert self._crawler.spider is not None
        try:
            at_rest = frozen(request, self._crawler.spider)
        except ValueError:
            at_rest = None
        try:
            if not self._victims.keep(request, rules + also, at_rest):
                return False
        except OSError as error:
            self._failed(error)
            return False
        if self._settings.journal:
            said, lacks = shown(request, at_rest)
            self.tell(
                Event(What.SUPPRESSED, now(), request.url, rules, key, keeper, request=said, lacks=lacks)
            )
        return True

    def fetched_after_all(self, url: str) -> None:
        self._victims.leave_out(url)
        self.tell(Event(What.RETURNED, now(), url, note="what was fetched instead brought no page"))

    def given_back(self, url: str, rules: tuple[str, ...], why: str) -> None:
        self.tell(Event(What.RETURNED, now(), url, rules, note=why))

    def suppressed_by(self, rule: str) -> Iterator[tuple[tuple[str, ...], Request]]:
        """What *rule* suppressed, the newest first, with all rules that did."""
        assert self._crawler.spider is not None
        return self._victims.of(rule, self._crawler.spider)

    def tell(self, event: Event) -> None:
        if not self._settings.journal or self._is_closed:
            return
        try:
            self._open().write(event)
        except (OSError, ValueError, TypeError, CrawlLogError) as error:
            self._failed(error)

    async def _spider_closed(self, spider: Spider) -> None:
        self._is_closed = True
        self._victims.close()
        if self._journal is not None:
            settings = self._settings
            keep = Keep(settings.log_keep_days, settings.log_keep_crawls, settings.journal_keep_bytes)
            try:
                await run_in_thread(self._journal.close, keep)
            except OSError as error:
                self._failed(error)

    def _open(self) -> Journal:
        if self._journal is None:
            assert self._crawler.spider is not None
            settings = self._settings
            folder = journal_dir(settings.dir, self._crawler.spider.name)
            self._journal = Journal(folder, lambda: hider(settings.dir, settings.log_hide))
        return self._journal

    def _failed(self, error: Exception) -> None:
        self._crawler.stats.inc_value(Stat.JOURNAL_ERRORS.value)
        if not self._said:
            self._said = True
            logger.error(
                "Could not write down what rules suppress: %(why)s. The crawl goes on; what else fails is "
                "counted in the stat %(stat)s.",
                {"why": repr(error), "stat": Stat.JOURNAL_ERRORS.value},
                extra={"spider": self._crawler.spider},
            )
