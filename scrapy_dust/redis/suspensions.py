"""Suspended rules of all workers: a rule that one worker finds false is suspended by all, and each gives
back what it suppressed.

A worker that comes later may have the rule book from before or after: both are the rules of this crawl.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DontCloseSpider

from scrapy_dust.crawl.job_rules import RulesInForce
from scrapy_dust.redis.server import Gone, Server
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Entry

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_dust.crawl.proving import Proving
    from scrapy_dust.crawl.rules import CrawlRules

logger = logging.getLogger(__name__)

#: In seconds: how often a worker asks what the others have found, while it is at work.
_EVERY = 5.0


class SharedSuspensions:
    """The suspended rules that all workers know, as one worker reads and writes them."""

    def __init__(self, crawler: Crawler, server: Server, rules: CrawlRules, proving: Proving) -> None:
        self._crawler, self._server = crawler, server
        self._rules, self._proving = rules, proving
        self._again_at = 0.0
        proving.suspension.announced.append(self._publish)
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self._response_received, signal=signals.response_received)
        crawler.signals.connect(self._spider_idle, signal=signals.spider_idle)

    def _publish(self, site: str, identity: str) -> None:
        with suppress(Gone):
            self._server.ask("hset", self._server.key("suspended"), identity, site)
            self._server.ask("sadd", self._server.key("versions"), _version_of(self._rules))

    def _spider_opened(self, spider: Spider) -> None:
        self._take_suspended()

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        if time.monotonic() >= self._again_at:
            self._take_suspended()

    def _spider_idle(self, spider: Spider) -> None:
        if self._take_suspended():
            raise DontCloseSpider

    def _take_suspended(self) -> bool:
        """Whether another worker has found a false rule."""
        self._again_at = time.monotonic() + _EVERY
        try:
            found = self._server.ask("hgetall", self._server.key("suspended"))
        except Gone:
            return False
        return self._proving.suspended_elsewhere({key.decode(): site.decode() for key, site in found.items()})


def _version_of(rules: CrawlRules) -> str:
    """The version of the rules in force."""
    book = RuleBook()
    for site in sorted(rules.sites):
        book = book.with_site(site, [Entry(rule) for rule in rules.canonizer.rules(site)])
    return RulesInForce(book, rules.settings).version
