"""`DustExtension`: shows a crawl while it runs, says at its end what rules saved, and learns new rules, as settings ask."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_dust.crawl.closing_summary import summary
from scrapy_dust.crawl.metrics import metrics_file
from scrapy_dust.crawl.outdated_rules import Staleness
from scrapy_dust.crawl.requeued_requests import Requeued
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

    from scrapy_dust.live_report import LiveReport

logger = logging.getLogger(__name__)


class DustExtension:
    """Extension that logs what rules saved and learns new ones. Goes into ``EXTENSIONS``."""

    def __init__(self, crawler: Crawler) -> None:
        self._rules = rules_of(crawler)
        if not self._rules.settings.enabled:
            raise NotConfigured
        self._crawler = crawler
        self._requeued = Requeued(crawler, self._rules)
        path = self._rules.settings.metrics_file
        self._metrics = None if path is None else metrics_file(path, crawler)
        self._live: LiveReport | None = None
        self._staleness = Staleness(crawler, self._rules) if self._rules.sites else None
        self._reason: str | None = None  #: why the spider was closed
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)
        # Not when the spider closes: then the crawl log is just being closed too.
        crawler.signals.connect(self._engine_stopped, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _spider_opened(self, spider: Spider) -> None:
        """Publish the number of rules, and start the metrics and the live report if the settings ask for them."""
        self._crawler.stats.set_value(Stat.RULES.value, self._rules.count)
        if self._metrics is not None:
            self._metrics.start()
        # `scrapy shell` opens a spider, and crawls nothing.
        if self._rules.settings.live_report is not None and self._crawler.crawling:
            self._show_live_report(self._rules.settings.live_report)

    def _show_live_report(self, path: str) -> None:
        """Write the live report to the file *path*, and go on writing it while the crawl runs."""
        # Not loaded by a crawl that nobody watches.
        from scrapy_dust.live_report import LiveReport  # noqa: PLC0415

        self._live = LiveReport(path, self._crawler, self._rules)
        self._live.file.write()
        self._live.file.start()
        if self._live.file.path.exists():
            logger.info("Live report: %s", self._live.file.path.resolve().as_uri())

    def _spider_closed(self, spider: Spider, reason: str) -> None:
        """Log what the rules saved in this crawl, and warn if they are out of date."""
        self._reason = reason
        said = summary(self._rules, spider.name, self._crawler.stats.get_stats())
        logger.info("%s", said, extra={"spider": spider})
        if self._staleness is not None:
            self._staleness.warn()
        if self._metrics is not None:
            self._metrics.stop()

    async def _engine_stopped(self) -> None:
        """Show the last numbers of the crawl, and learn new rules from its log if the settings ask for that."""
        settings = self._rules.settings
        if self._live is not None:
            self._live.show_ended(self._reason or "it did not begin")
        # One who stops a crawl, or pauses it, does not want to wait for another.
        if settings.learn == "off" or not settings.log_enabled or self._reason in (None, "shutdown"):
            return
        # Not loaded before: it brings all of mining.
        from scrapy_dust.crawl.learning_at_close import learn  # noqa: PLC0415

        assert self._crawler.spider is not None
        # What a crawl has learned while it went on costs no fetches after it.
        if settings.learn == "online":
            settings = replace(settings, validation_budget=0)
        await learn(self._crawler, settings)
