"""Feeds a crawl the requests that ``scrapy dustrules requeue`` has listed for its spider.

Each request has its callback if the spider still has such a method. If the rule that suppressed a request is still in
force, the rule does not apply to that request. The list is removed when the crawl has come to its end.
"""

from __future__ import annotations

from collections.abc import Iterator

from scrapy import Request, Spider
from scrapy.crawler import Crawler

from scrapy_dust.crawl.components import CrawlLogger, listen
from scrapy_dust.crawl.plain_requests import from_journal
from scrapy_dust.crawl.requests import OPT_OUT
from scrapy_dust.crawl.returned_requests import Returning
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl_log.log_upkeep import hider
from scrapy_dust.journal.events import Event, What, now
from scrapy_dust.journal.journal_places import journal_dir, requeue_dir
from scrapy_dust.journal.requeue import Waiting
from scrapy_dust.journal.writer import Journal
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.stats import Stat


class Requeued:
    """Feeds one crawl the list of requeued requests."""

    def __init__(self, crawler: Crawler, rules: CrawlRules) -> None:
        self._crawler, self._rules = crawler, rules
        self._fresh = Returning(crawler, is_new=True)
        self._waiting: Waiting | None = None
        self._journal: Journal | None = None
        self._in_force: dict[str, set[str]] = {}  #: ids of rules, of the sites that came up
        listen(crawler, self._spider_opened, self._spider_closed)

    def _spider_opened(self, spider: Spider) -> None:
        # `scrapy shell` does not crawl; `fetch` and `parse` ask for one URL and want no other.
        if not self._crawler.crawling or type(spider).start.__module__.startswith("scrapy.commands."):
            return
        settings = self._rules.settings
        waiting = Waiting(requeue_dir(settings.dir, spider.name))
        if not waiting:
            return
        self._waiting = waiting
        folder = journal_dir(settings.dir, spider.name)
        self._journal = Journal(folder, lambda: hider(settings.dir, settings.log_hide))
        self._fresh.queue_later(self._requeued_requests(waiting, spider))

    def _requeued_requests(self, waiting: Waiting, spider: Spider) -> Iterator[Request]:
        """The requests of the lists in *waiting*. A rule that is still in force does not apply to them."""
        assert self._journal is not None
        for event in waiting.events():
            request = from_journal(event.url, event.request or {}, spider)
            if self._is_in_force(event):
                request.meta[OPT_OUT] = False
            if event.lacks:
                log = CrawlLogger(__name__, self._crawler)
                log.debug("%s comes again without its %s.", request, ", ".join(event.lacks))
            self._crawler.stats.inc_value(Stat.REQUEUED.value)
            self._journal.write(
                Event(What.RETURNED, now(), event.url, event.rules, note="`dustrules requeue` asked for it")
            )
            yield request

    def _is_in_force(self, event: Event) -> bool:
        site = self._rules.site_of(event.url) or ""
        if site not in self._in_force:
            self._in_force[site] = {rule_id(site, rule) for rule in self._rules.canonizer.rules(site)}
        return not self._in_force[site].isdisjoint(event.rules)

    def _spider_closed(self, reason: str) -> None:
        if self._waiting is not None:
            self._waiting.close(done=reason == "finished")
        if self._journal is not None:
            self._journal.close()
