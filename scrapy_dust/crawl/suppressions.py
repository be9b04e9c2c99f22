"""Suppresses requests: keeps each one so that it can still be fetched, counts it, and writes it to the journal.

A request that cannot be kept is fetched: fetching a page twice is allowed, losing it is not.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_dust.crawl.class_names import MergingRules, Naming
from scrapy_dust.crawl.class_store import LocalStore
from scrapy_dust.crawl.journal_writer import CrawlJournal
from scrapy_dust.crawl.life import Class
from scrapy_dust.crawl.plain_requests import Manners
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.journal.events import Event, What, now
from scrapy_dust.stats import Stat

#: Among the ids of rules: the request was not filtered, and its canonical URL was fetched in its place.
REPLACED = "replaced"


def any_rule_of(site: str) -> str:
    """The text that the journal has in the place of a rule's id where any rule of *site* may be meant."""
    return f"any {site}"


class Suppressions:
    """Keeps, counts and reports the requests that rules suppress in one crawl."""

    def __init__(self, crawler: Crawler, rules: CrawlRules, naming: Naming, store: LocalStore) -> None:
        self._crawler, self._rules, self._naming, self._store = crawler, rules, naming, store
        #: Takes out the requests that a rule suppressed, the newest first, each with all rules that suppressed it.
        self.take_suppressed_by = store.take_of_rule
        self.journal = CrawlJournal(crawler, rules.settings)
        self._manners = Manners(shows=rules.settings.journal)

    def suppress(
        self, request: Request, class_key: bytes, known: Class, behind: MergingRules, *, is_waiting: bool
    ) -> bool:
        """Suppress *request* by the rules *behind*, for good or (*is_waiting*) for now. False if it cannot be kept."""
        naming, ids, own = self._naming, behind.ids, self._naming.own(request)
        # Of a keeper that is not known nobody can say which rules made its key: any of the site's.
        also = () if known.keeper else (any_rule_of(self._rules.site_of(request.url) or ""),)
        manner = self._manners.manner_of(request, self._crawler.spider)
        if not self._store.keep(class_key, own, ids + also, request, is_waiting=is_waiting, manner=manner):
            return False
        keeper = partial(naming.keeper, class_key, known)
        naming.count(request, keeper, behind)
        if self._rules.settings.journal:
            key = self._rules.canonize(request.url)
            self.journal.write_request_event(What.SUPPRESSED, request, ids, key, keeper(), manner)
        return True

    def replace(self, written: Request, class_key: bytes) -> bool:
        """Keep the request *written* while the canonical URL is fetched in its place. False if it cannot be kept."""
        known, own = self._store.get(class_key), self._naming.own(written)
        ids = self._naming.merging_rules(written.url, known).ids
        if not self._store.keep(class_key, own, (*ids, REPLACED), written, is_waiting=True):
            return False
        key, keeper = self._rules.canonize(written.url), self._naming.keeper(class_key, known)
        self.journal.write_request_event(What.SUPPRESSED, written, ids, key, keeper)
        return True

    def note_fetched_after_all(self, request: Request) -> None:
        """Count that *request*, which had waited, is fetched now: the URL that stood for its class brought no page."""
        self._note_returned(Stat.HEIRS, request, (), "what was fetched instead brought no page")

    def note_returned_by_redirect(self, request: Request) -> None:
        """Count that *request*, which was suppressed, is fetched: the URL fetched in its place redirects to it."""
        self._naming.uncount(self._naming.rule_ids(request.url))
        self._note_returned(Stat.RETURNED, request, (), "what was fetched instead redirects here")

    def note_given_back(self, request: Request, by: Sequence[str], why: str) -> None:
        """Count and write down that *request*, which the rules *by* suppressed, is offered again, and *why*."""
        ids = tuple(one for one in by if one != REPLACED and not one.startswith("any "))
        if REPLACED not in by:
            self._naming.uncount(ids)
        self._note_returned(Stat.RETURNED, request, ids, why)

    def _note_returned(self, stat: Stat, request: Request, ids: tuple[str, ...], why: str) -> None:
        """Count in *stat*, and write to the journal, that *request* comes back, and *why*."""
        self._crawler.stats.inc_value(stat.value)
        self.journal.write_event(Event(What.RETURNED, now(), request.url, ids, note=why))
