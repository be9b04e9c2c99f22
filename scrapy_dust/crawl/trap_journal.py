"""Keeps and reports the requests that a trap's form puts last or keeps from being fetched, and gives them back.

A request that is not fetched is kept whole. A request that cannot be kept is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.job import job_dir

from scrapy_dust.crawl.class_store import TRAPS_FILE, LocalStore
from scrapy_dust.crawl.journal_writer import CrawlJournal
from scrapy_dust.crawl.returned_requests import Returning
from scrapy_dust.journal.events import Event, What, now
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_dust.settings import DustSettings
    from scrapy_dust.traps.budget import Account

#: In a request's meta, internal: it was capped, and waits again.
GIVEN_BACK = "_dust_given_back"


class TrapJournal:
    """Keeps and reports the trap requests of one crawl."""

    def __init__(self, crawler: Crawler, settings: DustSettings) -> None:
        self._crawler = crawler
        self._journal = CrawlJournal(crawler, settings)
        self._returning = Returning(crawler, is_new=True)
        self._store = LocalStore(
            job_dir(crawler.settings), lambda: crawler.spider, self._store_failed, TRAPS_FILE
        )
        self._is_open = False
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)

    def put_last(self, request: Request, form: str, identity: str, *, is_new: bool) -> None:
        """Report that *request* is fetched after all others. *is_new*: it was not put last before."""
        self._crawler.stats.inc_value(Stat.PUT_LAST.value, is_new)
        self._journal.write_request_event(What.PUT_LAST, request, (identity,), form)

    def its_turn(self, request: Request, identity: str) -> None:
        """Report that *request*, put last before, is fetched now."""
        self._crawler.stats.inc_value(Stat.LAST_FETCHED.value)
        self._write_returned(request, identity, "its turn has come")

    def cap(self, request: Request, form: str, identity: str) -> bool:
        """Keep *request*, of a form that brings nothing and is fetched no more, so that it can be given back. False if
        it cannot be kept.
        """
        if not self._open_store().keep(b"", self._own_key(request), (identity,), request, is_waiting=False):
            return False
        self._crawler.stats.inc_value(Stat.CAPPED.value)
        self._journal.write_request_event(What.SUPPRESSED, request, (identity,), form)
        return True

    def take_back(self, request: Request) -> Request | None:
        """Take out *request* to fetch it, if it was capped; else None."""
        if not self._open_store().release(b"", self._own_key(request)):
            return None
        self._crawler.stats.inc_value(Stat.CAPPED.value, -1)
        self._write_returned(request, "", "a page outside of the trap links to it")
        return request.replace(dont_filter=True)

    def give_back(self, identity: str, account: Account) -> None:
        """Give back capped requests of the form *identity* until the form, whose account *account* is, has ended again. They are
        put last again, so that they are drawn like any that wait.
        """
        self._returning.queue_later(self._take_capped(identity, account))

    def _take_capped(self, identity: str, account: Account) -> Iterator[Request]:
        """Take out capped requests of the form *identity*, until the form of *account* has ended again."""
        capped = self._open_store().take_of_rule(identity)
        while not account.has_ended and (taken := next(capped, None)) is not None:
            request = taken[1]
            self._crawler.stats.inc_value(Stat.CAPPED.value, -1)
            self._write_returned(request, identity, "its form brings something new again")
            request.meta[GIVEN_BACK] = True
            yield request.replace(dont_filter=True)

    def _write_returned(self, request: Request, identity: str, why: str) -> None:
        self._journal.write_event(
            Event(What.RETURNED, now(), request.url, (identity,) if identity else (), note=why)
        )

    def _open_store(self) -> LocalStore:
        if not self._is_open:
            self._is_open = True
            self._store.open(goes_on=False)
        return self._store

    def _own_key(self, request: Request) -> bytes:
        return self._crawler.request_fingerprinter.fingerprint(request)

    def _store_failed(self) -> None:
        self._crawler.stats.inc_value(Stat.STORE_ERRORS.value)

    def _spider_closed(self, spider: Spider) -> None:
        if self._is_open:
            self._store.close()
