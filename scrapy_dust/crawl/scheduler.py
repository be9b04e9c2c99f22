"""`DustScheduler`: fetches URLs of traps last, and may fetch the canonical URL in the place of the one that a page
has.

Every queued request passes the scheduler, so traps are recognised and URLs rewritten here. `DustDupeFilter`
recognises duplicates; it keeps the spider's own request as the first to be fetched if the canonical URL fails.
Nothing is rewritten over any other dupefilter, nor where the project's own dupefilter filters nothing.

Only rules whose target has been seen to answer rewrite URLs. A rule whose target fails in this crawl rewrites no
more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.utils.misc import build_from_crawler, load_object
from twisted.internet.defer import Deferred

from scrapy_dust.crawl.components import Component, CrawlLogger, Wrapper, listen
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.held_requests import Turn
from scrapy_dust.crawl.requests import ASKED_BY, ORIGINAL_URL, canonical_request, may_be_rewritten
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.crawl.trapping import Trapping
from scrapy_dust.rules.rule import Rule
from scrapy_dust.sites import site_of
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy_dust.crawl.online import Online


class DustScheduler(Component, Wrapper, BaseScheduler):
    """Scheduler that puts traps last and rewrites URLs. Goes into ``SCHEDULER``; wraps ``DUST_FALLBACK_SCHEDULER``."""

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._rules, self._log = rules_of(crawler), CrawlLogger(__name__, crawler)
        inner = load_object(self._rules.settings.fallback_scheduler)
        self._inner: BaseScheduler = build_from_crawler(inner, crawler)
        #: The learning in this crawl, and its traps; None where there are none.
        self.online: Online | None = None
        self.trapping: Trapping | None = None
        self._answering: set[tuple[str, Rule]] = set()  #: nothing is rewritten until it is open
        self._dupefilter: DustDupeFilter | None = None  #: where URLs are rewritten

    def open(self, spider: Spider) -> Deferred[None] | None:
        opened = self._inner.open(spider) if hasattr(self._inner, "open") else None
        # `scrapy shell` waits for the very request that it made; there the crawler does not crawl.
        if not self._crawler.crawling:
            return opened
        rules, settings = self._rules, self._rules.settings
        if rules.enforced and settings.rewrite:
            self._begin_rewriting()
        if rules.may_learn and rules.enforced:
            self.online = self._online_learning()
        if settings.enabled and settings.traps != "off":
            key_of = rules.canonize if self.online is None else self.online.key_of
            self.trapping = Trapping(self._crawler, rules, key_of)
        return opened

    def _begin_rewriting(self) -> None:
        """Rewrite URLs from now on, if a `DustDupeFilter` can fetch the spider's own URL where that fails."""
        dupefilter = getattr(self._inner, "df", None)
        if isinstance(dupefilter, DustDupeFilter) and not dupefilter.filters_nothing:
            self._answering = set(self._rules.answering)
            self._dupefilter = dupefilter
            listen(self._crawler, self._response_received)
        else:
            self._log.warning(
                "DUST_REWRITE has no effect: set DUPEFILTER_CLASS to scrapy_dust.DustDupeFilter, which asks for a URL "
                "as it was written when the canonical one fails, over a dupefilter of yours that filters duplicates."
            )

    def close(self, reason: str) -> Deferred[None] | None:
        return self._inner.close(reason) if hasattr(self._inner, "close") else None

    def has_pending_requests(self) -> bool:
        return self._inner.has_pending_requests()

    def enqueue_request(self, request: Request) -> bool:
        if self.online is not None:
            self.online.note_fingerprint(request)
        if self.trapping is None:
            return self._inner.enqueue_request(self._rewritten(request))
        link = self.trapping.linked(request)
        if self._inner.enqueue_request(self._rewritten(request)):
            if link is not None:
                self.trapping.queued(request, link)
            return True
        again = self.trapping.refused(request, link)
        return again is not None and self._inner.enqueue_request(again)

    def next_request(self) -> Request | None:
        while (request := self._inner.next_request()) is not None:
            turn = self._turn(request)
            if turn is Turn.GO:
                break
            if turn is not Turn.DROP:
                self._inner.enqueue_request(request)
            if turn is Turn.HOLD:
                return None
        return request

    def _turn(self, request: Request) -> Turn:
        """Decide whether *request*, which has left the queue, is fetched, queued again, held back or dropped."""
        before = 0 if self.trapping is None else self.trapping.wake(request)
        turn = self._turn_by_rules(request) if self.online is None else self.online.decide_turn(request)
        if turn is not Turn.GO or self.trapping is None:
            return turn
        is_fetched = self.trapping.is_fetched(request, before)
        return Turn.DROP if is_fetched is None else Turn.GO if is_fetched else Turn.WAIT

    def _turn_by_rules(self, request: Request) -> Turn:
        """Whether *request* is still to be fetched under the rules of now."""
        dupefilter = getattr(self._inner, "df", None)
        if not isinstance(dupefilter, DustDupeFilter) or request.dont_filter:
            return Turn.GO
        return Turn.GO if dupefilter.is_still_wanted(request) else Turn.DROP

    def _online_learning(self) -> Online | None:
        """The learning during this crawl, if there is any and our dupefilter runs in this process."""
        dupefilter = getattr(self._inner, "df", None)
        if type(dupefilter) is not DustDupeFilter or dupefilter.enforcing is None:
            self._log.warning(
                'DUST_LEARN = "online" learns when this crawl has ended: while it goes on it needs '
                "scrapy_dust.DustDupeFilter as DUPEFILTER_CLASS, and Scrapy's scheduler."
            )
            return None
        # Not loaded by a crawl that does not learn.
        from scrapy_dust.crawl.online import Online  # noqa: PLC0415

        return Online(self._crawler, self._rules, dupefilter)

    def __len__(self) -> int:
        return len(self._inner)  # type: ignore[arg-type]

    def _rewritten(self, request: Request) -> Request:
        """The request for the canonical URL in the place of *request*; *request* itself if it must not be replaced."""
        if not (request.dont_filter or request.meta.get("redirect_urls")):
            request.meta.pop(ORIGINAL_URL, None)  # copied from the request before
        if not self._answering or not may_be_rewritten(request) or not self._leads_to_a_page(request.url):
            return request
        try:
            rewritten = canonical_request(request, self._rules.canonize)
        except TypeError:  # a subclass of Request that wants more than an URL
            return request
        if rewritten is request:
            return request
        rewritten.meta[ORIGINAL_URL] = request.url
        request.meta.pop(ASKED_BY, None)  # is judged as the request in its place
        self._crawler.stats.inc_value(Stat.REWRITTEN.value)
        return rewritten

    def _leads_to_a_page(self, url: str) -> bool:
        """Whether *url* may be rewritten: all rules that change it are known to lead to URLs that answer."""
        site = site_of(url) or ""
        if self._rules.are_set_aside(url) or (self._dupefilter and self._dupefilter.is_canary(url)):
            return False
        return all((site, step.rule) in self._answering for step in self._rules.canonizer.explain(url))

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        written = request.meta.get(ORIGINAL_URL)
        if written and self._answering and not 200 <= response.status < 300:
            site = site_of(written) or ""
            self._answering -= {(site, step.rule) for step in self._rules.canonizer.explain(written)}
