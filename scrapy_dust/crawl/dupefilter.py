"""`DustDupeFilter`: of the URLs of one page one is fetched, and the others only if the first brings no page.

The project's own dupefilter is asked first, about the request as the spider made it. Requests that the project's
dupefilter lets through are then judged by their class (`enforcing`). Requests that the project's dupefilter has seen
are filtered, except redirects back to a URL of their own chain: without scrapy-dust their pages would be lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.dupefilters import BaseDupeFilter, RFPDupeFilter
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.python import global_object_name
from twisted.internet.defer import Deferred

from scrapy_dust.crawl.canary_draw import Draw, local_draw
from scrapy_dust.crawl.class_names import Naming
from scrapy_dust.crawl.class_store import LocalStore, StoreGone
from scrapy_dust.crawl.components import Component, CrawlLogger, Wrapper, listen
from scrapy_dust.crawl.enforcing import Enforcing
from scrapy_dust.crawl.faults import Faults
from scrapy_dust.crawl.fingerprinter import DustRequestFingerprinter
from scrapy_dust.crawl.http_cache import goes_by_key
from scrapy_dust.crawl.requests import AFTER_FAILURE, ASKED_BY, ITSELF, ORIGINAL_URL, is_retry, redirect_chain
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.crawl.rules_into_force import IntoForce
from scrapy_dust.crawl.shadow_mode import Shadow
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from scrapy_dust.crawl.probation import Probation


class DustDupeFilter(Component, Wrapper):
    """Dupefilter that suppresses URLs of pages already fetched. Goes into ``DUPEFILTER_CLASS``.

    Wraps the dupefilter in ``DUST_FALLBACK_DUPEFILTER_CLASS``.
    """

    def __init__(
        self,
        crawler: Crawler,
        inner: BaseDupeFilter | None = None,
        store: LocalStore | None = None,
        draw: Draw | None = None,
    ) -> None:
        """A dupefilter around *inner*, the project's own. *store* and *draw*: those that several workers share."""
        self._rules = rules = rules_of(crawler)
        if inner is None:
            inner = build_from_crawler(load_object(rules.settings.fallback_dupefilter_class), crawler)
        super().__init__(crawler)
        self._inner: BaseDupeFilter = inner
        self._log, self._is_enabled = CrawlLogger(__name__, crawler), rules.settings.enabled
        self._naming = Naming(crawler, rules)
        #: Own names of requests that may come again: those that the dupefilter underneath is not asked about, and
        #: all where it lets some through twice.
        self._had: set[int] = set()
        #: The project filters nothing, not even the very same request.
        self.filters_nothing = type(inner).request_seen is BaseDupeFilter.request_seen
        forgets_nothing = type(inner).request_seen is RFPDupeFilter.request_seen
        self._lets_through_twice = not getattr(inner, "forgets_nothing", forgets_nothing)
        self._cache_goes_by_key = rules.settings.enabled and goes_by_key(crawler)
        self._cache_matters = self._cache_goes_by_key or crawler.settings.getbool("HTTPCACHE_ENABLED")
        self._faults = Faults(crawler, Stat.DUPEFILTER_ERRORS, "It is filtered as without rules")
        self._shadow: Shadow | None = None
        #: The part that decides about requests to sites with rules; None: rules are not enforced.
        self.enforcing: Enforcing | None = None
        #: The part that puts rules into force while the crawl goes on; None: no rule comes into force.
        self.into_force: IntoForce | None = None
        #: The tests of rules on probation; None: the crawl has no such rules.
        self.probation: Probation | None = None
        #: Told of each request that is no duplicate and is queued next, where rules are enforced.
        self.let_through: list[Callable[[Request], None]] = []
        self._job: LocalStore | None = None
        #: The name of this process among those that share what was seen; None: it crawls alone.
        self.worker: str | None = None
        if rules.enforced or rules.shadowed:
            draw = draw or local_draw(log_dir(rules.settings.dir).parent)
            self._begin_with(store, draw)

    def _begin_with(self, store: LocalStore | None, draw: Draw) -> None:
        """Build the part that applies the rules, or only measures them in shadow mode."""
        crawler, rules = self._crawler, self._rules
        if rules.shadowed:
            self._shadow = Shadow(crawler, rules, self._naming, draw)
            return
        if store is None:
            failed = Stat.STORE_ERRORS.value
            store = self._job = LocalStore(
                job_dir(crawler.settings), lambda: crawler.spider, lambda: crawler.stats.inc_value(failed)
            )
        self._draw = draw
        twice = self._lets_through_twice
        self.enforcing = Enforcing(crawler, rules, self._naming, store, draw, lets_through_twice=twice)
        listen(crawler, self._request_scheduled)
        # Workers that share a store go by the same rules to the end.
        if self._job is not None and (rules.may_learn or rules.on_probation or rules.before.rules):
            self.into_force = IntoForce(crawler, rules, self.enforcing)
        if rules.on_probation:
            # Not loaded by a crawl that has nothing to prove: it brings all that compares pages.
            from scrapy_dust.crawl.probation import Probation  # noqa: PLC0415

            reach = self.enforcing.proving.reach
            self.probation = Probation(crawler, rules, self._naming, self.into_force, reach)
            self.let_through.append(self.probation.let_through)

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:
        """Build the dupefilter as the scheduler of scrapy-redis does, which may call `clear` later.

        The dupefilter of scrapy-redis itself does not ask for fingerprints, so rules have no effect over that one.
        """
        rules = rules_of(spider.crawler)
        fallback = load_object(rules.settings.fallback_dupefilter_class)
        of_spider = getattr(fallback, "from_spider", None)
        if of_spider is not None and rules.count and not issubclass(fallback, RFPDupeFilter):
            CrawlLogger(__name__, spider.crawler).warning(
                "%s makes fingerprints of its own, so that no rule has an effect. "
                'Set DUPEFILTER_CLASS = "scrapy_dust.redis.DustRedisDupeFilter".',
                global_object_name(fallback),
            )
        return cls(spider.crawler, None if of_spider is None else of_spider(spider))

    def clear(self) -> None:
        """Forget all requests seen, if the wrapped dupefilter can."""
        clear = getattr(self._inner, "clear", None)
        if clear is not None:
            clear()

    def open(self) -> Deferred[None] | None:
        opened = self._inner.open()
        if self.enforcing is not None and self._job is not None:
            self._job.open(goes_on=self._rules.goes_on)
            self._draw.day = self._job.fact("day") or self._draw.day
            self._job.put_fact("day", self._draw.day)
            self.enforcing.proving.go_on(
                self._job.fact("proving"), self._job.put_fact, has_lost=self._job.has_lost
            )
        return opened

    def close(self, reason: str) -> Deferred[None] | None:
        if self.enforcing is not None and self._job is not None:
            self.enforcing.proving.save()
            self._job.close()
        return self._inner.close(reason)

    def request_seen(self, request: Request) -> bool:
        if not self._is_enabled:
            return self._inner.request_seen(request)
        enforcing, asked_by = self.enforcing, request.meta.pop(ASKED_BY, None)
        comes_back, must_stand = (False, False) if enforcing is None else enforcing.returning.coming_back()
        self._note_digest(request)
        seen = not comes_back and self._was_seen(request)
        try:
            is_filtered = self._is_filtered(request, seen=seen, must_stand=must_stand, comes_back=comes_back)
        except StoreGone:
            raise
        except Exception as error:  # noqa: BLE001  Whatever a request of the project's has against it.
            self._note_fault(request, error)
            is_filtered = seen
        else:
            for note in () if is_filtered else self.let_through:
                note(request)
        if asked_by is not None:
            self._report_judged(request, asked_by, is_new=not is_filtered)
        return is_filtered

    def _report_judged(self, request: Request, asked_by: int, *, is_new: bool) -> None:
        """Report to the answer with the number *asked_by* whether its *request* was new."""
        if self.enforcing is not None:
            try:
                self.enforcing.outcomes.request_judged(asked_by, is_new=is_new)
            except Exception as error:  # noqa: BLE001  The store may be gone; *request* is judged all the same.
                self._note_fault(request, error)

    def _note_digest(self, request: Request) -> None:
        try:
            self._naming.asking.note_digest(request)
        except Exception as error:  # noqa: BLE001  Whatever a cookie of the project's has against it.
            self._note_fault(request, error)

    def _was_seen(self, request: Request) -> bool:
        """Whether the wrapped dupefilter has seen *request* as the spider made it, before any rule."""
        if self.enforcing is None:
            return self._inner.request_seen(request)
        # Where a URL leads for which the spider has not asked; it may still ask for this one.
        if ORIGINAL_URL in request.meta and request.meta.get("redirect_urls"):
            return False
        asked, fingerprinter = self.enforcing.spider_request(request), self._naming.fingerprinter
        if not isinstance(fingerprinter, DustRequestFingerprinter):
            return self._inner.request_seen(asked)
        seen: bool = fingerprinter.without_rules(self._inner.request_seen, asked)
        return seen

    def _is_filtered(self, request: Request, *, seen: bool, must_stand: bool, comes_back: bool) -> bool:
        if self.enforcing is None:
            if self._shadow is not None and not seen:
                self._shadow.watch(request)
            return seen and not self._returns_in_chain(request, None)
        site = self.enforcing.site_of(request)
        if seen:
            return not self._returns_in_chain(request, site) and self._ends_chain(request, site)
        may_be_itself = self._lets_through_twice or bool(self._had)
        if site is None or self.filters_nothing:
            # Rules of its site may come into force.
            if self.into_force is not None and may_be_itself and self._was_fetched_before(request):
                request.meta[ITSELF] = request.url
            return False
        is_itself = may_be_itself and not comes_back and self._was_fetched_before(request)
        if is_itself and self.into_force is not None:
            request.meta[ITSELF] = request.url
        is_known = self._cache_matters and self.enforcing.is_known(request, site)
        if must_stand:
            self.enforcing.fetch_waiting(request, site)
        elif self.enforcing.suppresses(request, site, is_itself=is_itself):
            return True
        if is_known:
            self._spare_cache(request)
        return False

    def _was_fetched_before(self, request: Request) -> bool:
        """Whether *request* itself was fetched before, and the project's own dupefilter lets it through once more."""
        assert self.enforcing is not None
        own = hash(self._naming.own(self.enforcing.spider_request(request)))
        if own in self._had:
            return True
        if self._lets_through_twice:
            self._had.add(own)
        return False

    def _returns_in_chain(self, request: Request, site: str | None) -> bool:
        """Whether *request*, seen before, is a redirect that leads back, for the first time, to a URL of its own chain."""
        chain = redirect_chain(request)
        been = [*(earlier.url for earlier in chain), request.url]
        if not chain or len(been) - len(set(been)) > 1:  # one return is a cookie being set, two are a circle
            return False
        own = self._naming.own(request)
        if all(self._naming.own(earlier) != own for earlier in chain):
            return False
        self._spare_cache(request)
        if self.enforcing is not None:
            self.enforcing.let_return(request, site)
        else:
            self._crawler.stats.inc_value(Stat.REDIRECTS_CONTINUED.value)
        return True

    def _ends_chain(self, request: Request, site: str | None) -> bool:
        """Whether *request*, which was seen before, is filtered, so that its redirects end here."""
        assert self.enforcing is not None
        if self.enforcing.is_filtered_again(request, site):
            return True
        self._spare_cache(request)
        return False

    def _spare_cache(self, request: Request) -> None:
        """Fetch *request* from the site, whatever the HTTP cache has for it."""
        # The cache would give it the answer to the request before it: a failure, or the redirect that led here.
        if self._cache_goes_by_key:
            request.meta["dont_cache"] = True
        else:
            request.meta[AFTER_FAILURE] = request.url

    def is_still_wanted(self, request: Request) -> bool:
        """Whether *request*, let through earlier, should still be fetched under the rules of now."""
        if self.enforcing is None or request.meta.get(ITSELF) == request.url:
            return True
        has_new_rules = self._rules.site_of(request.url) in self._rules.learned
        if not has_new_rules and not self.enforcing.proving.was_beyond(request):
            return True
        if self.enforcing.is_still_wanted(request):
            return True
        assert self._crawler.spider is not None
        self._inner.log(request, self._crawler.spider)
        return False

    @property
    def waiting(self) -> int | None:
        """The number of requests that wait for the page of their class; None if they wait with other workers' requests."""
        return None if self._job is None else self._job.count_waiting

    def is_canary(self, url: str) -> bool:
        """Whether *url* is a canary: a rule suppresses it, and it is fetched unchanged to test the rule."""
        return self.enforcing is not None and self.enforcing.proving.may_be_canary(url)

    def _request_scheduled(self, request: Request, spider: Spider) -> None:
        """Let a request with ``dont_filter`` stand for its class: Scrapy schedules it without asking a dupefilter."""
        if not request.dont_filter or self.enforcing is None:
            return
        if ASKED_BY in request.meta:
            self._report_judged(request, request.meta.pop(ASKED_BY), is_new=True)
        if not is_retry(request):
            self._note_digest(request)
        try:
            has_rules = self.enforcing.note_unfiltered(request)
            if has_rules or (self.into_force is not None and self._lets_through_twice):
                self._had.add(hash(self._naming.own(request)))
        except StoreGone as gone:
            self._log.debug("%s: %s may be fetched again when it is linked.", gone, request)
        except Exception as error:  # noqa: BLE001  As above.
            self._note_fault(request, error)

    def _note_fault(self, request: Request, error: Exception) -> None:
        trace = self._log.isEnabledFor(logging.DEBUG)
        self._faults.note(f"Could not apply rules to {request}", error, trace=trace)
