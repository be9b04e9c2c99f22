"""Suspended rules of all workers: a rule that one worker finds false is suspended by all, and each gives
back the requests that it suppressed by the rule.

A worker that starts later may read the rule book of before or after the suspension: both are rules of this crawl.
"""

from __future__ import annotations

import time
from contextlib import suppress

from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider

from scrapy_dust.crawl.components import listen
from scrapy_dust.crawl.job_rules import RulesInForce
from scrapy_dust.crawl.proving import Proving
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.redis.server import Gone, Server
from scrapy_dust.rule_book.book import RuleBook
from scrapy_dust.rule_book.entries import Entry

#: In seconds: how often a worker asks what the others have found, while it is at work.
_EVERY = 5.0


class SharedSuspensions:
    """The suspended rules that all workers know, as one worker reads and writes them."""

    def __init__(self, crawler: Crawler, server: Server, rules: CrawlRules, proving: Proving) -> None:
        self._crawler, self._server = crawler, server
        self._rules, self._proving = rules, proving
        self._again_at = 0.0
        proving.suspension.announced.append(self._publish)
        listen(crawler, self._spider_opened, self._response_received, self._spider_idle)

    def _publish(self, site: str, identity: str) -> None:
        """Tell all workers that the rule *identity* of *site* is suspended."""
        with suppress(Gone):
            self._server.ask("hset", self._server.key("suspended"), identity, site)
            self._server.ask("sadd", self._server.key("versions"), _version_of(self._rules))

    def _spider_opened(self) -> None:
        self._take_suspended()

    def _response_received(self) -> None:
        if time.monotonic() >= self._again_at:
            self._take_suspended()

    def _spider_idle(self) -> None:
        if self._take_suspended():
            raise DontCloseSpider

    def _take_suspended(self) -> bool:
        """Suspend the rules that other workers have found to be false. Returns whether any is new."""
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
