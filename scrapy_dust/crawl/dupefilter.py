"""`DustDupeFilter`: what the dupefilter underneath must not decide alone once URLs of one class share a key.

A canonizing fingerprint on its own loses pages. A redirect inside a class would be dropped as a duplicate of
the request that it answers, and a URL that fails would take with it every alias that was filtered because of
it. So here

- a redirect to the class it came from goes through, also where it is Scrapy's own canonicalization that makes
  both ends equal; the very same URL may come back once in a chain, as on sites that set a cookie first;
- while a class has no page, its aliases are kept, and queued in turn as those before them fail: `succession`;
- what asks not to be filtered, as start requests do, is not fetched again when it is linked: `unfiltered`;
- a few of the URLs that a rule would filter are fetched all the same, so that a rule that is no longer true
  is found out.

Whether a key was seen before is left to the dupefilter underneath.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.job import job_dir
from scrapy.utils.misc import build_from_crawler, load_object

from scrapy_dust.crawl import job
from scrapy_dust.crawl.filtering import Filtering
from scrapy_dust.crawl.fingerprinter import class_key
from scrapy_dust.crawl.http_cache import goes_by_key
from scrapy_dust.crawl.proving import NewGround, Proving
from scrapy_dust.crawl.requests import AFTER_FAILURE, CANARY, LET_THROUGH, as_written, follows_rules, is_retry
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.crawl.shadowing import Shadow
from scrapy_dust.crawl.succession import STANDS_FOR, Succession, stands_for
from scrapy_dust.crawl.unfiltered import Unfiltered
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter
    from twisted.internet.defer import Deferred

    from scrapy_dust.crawl.canaries import Canaries
    from scrapy_dust.crawl.journal import Suppressions


class DustDupeFilter:
    """For ``DUPEFILTER_CLASS``; wraps ``DUST_FALLBACK_DUPEFILTER_CLASS``."""

    def __init__(
        self,
        crawler: Crawler,
        inner: BaseDupeFilter | None = None,
        succession: Succession | None = None,
        unfiltered: Unfiltered | None = None,
    ) -> None:
        self._rules = rules_of(crawler)
        if inner is None:
            fallback = load_object(self._rules.settings.fallback_dupefilter_class)
            inner = build_from_crawler(fallback, crawler)
        self._inner = inner
        self._crawler = crawler
        self._filtering = Filtering(crawler, self._rules)
        self._succession = succession or Succession(crawler)
        self._unfiltered = unfiltered or Unfiltered()
        self._jobdir = job_dir(crawler.settings) if self._rules.enforced else None
        self._cache_goes_by_key = self._rules.settings.enabled and goes_by_key(crawler)
        self._proving: Proving | None = None  #: where rules are enforced
        if self._rules.enforced:
            self._proving = Proving(crawler, self._rules, self._filtering, self._jobdir, self._register)
        self._shadow = Shadow(crawler, self._rules, self._filtering) if self._rules.shadowed else None
        #: Told of each request that is let through and is queued next.
        self.let_through: Callable[[Request], None] = lambda request: None
        #: Whether the very request was fetched before, perhaps under a key that rules have changed since.
        self.was_asked: Callable[[Request], bool] = lambda request: False
        if self._rules.enforced:
            crawler.signals.connect(self._request_scheduled, signal=signals.request_scheduled)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:
        """For scrapy-redis, whose scheduler builds its dupefilter in this way and may `clear` it.

        Its own dupefilter does not ask for fingerprints, so over that one rules have no effect.
        """
        fallback = load_object(rules_of(spider.crawler).settings.fallback_dupefilter_class)
        of_spider = getattr(fallback, "from_spider", None)
        return cls(spider.crawler, None if of_spider is None else of_spider(spider))

    def clear(self) -> None:
        """Forget what was seen, where the dupefilter underneath can."""
        clear = getattr(self._inner, "clear", None)
        if clear is not None:
            clear()

    def open(self) -> Deferred[None] | None:
        if self._jobdir is not None:
            job.restore(self._jobdir, self._spider, self._succession, self._filtering, self._unfiltered)
        opened = self._inner.open()
        if self._proving is not None:
            self._proving.open()
        return opened

    def close(self, reason: str) -> Deferred[None] | None:
        if self._jobdir is not None:
            job.save(self._jobdir, self._spider, self._succession, self._filtering, self._unfiltered)
        if self._proving is not None:
            self._proving.save()
        self._succession.close()
        return self._inner.close(reason)

    def log(self, request: Request, spider: Spider) -> None:
        self._inner.log(request, spider)

    def request_seen(self, request: Request) -> bool:
        if self._was_fetched(request):
            return True
        seen = self._inner.request_seen(request)
        if not self._rules.settings.enabled:
            return seen
        is_filtered = self._is_filtered(request, seen)
        if seen and not is_filtered:
            # From a cache it would be answered with what the one before it was: a failure, or the redirect that led here.
            if self._cache_goes_by_key:
                request.meta["dont_cache"] = True
            else:
                request.meta[AFTER_FAILURE] = request.url
        if not is_filtered:
            self.let_through(request)
        return is_filtered

    @property
    def suspended(self) -> Collection[str]:
        """Ids of rules that this crawl has found to be false."""
        return () if self._proving is None else self._proving.suspended

    @property
    def suppressions(self) -> Suppressions | None:
        """What this crawl suppresses; None: rules are not enforced in it."""
        return None if self._proving is None else self._proving.suppressions

    @property
    def canaries(self) -> Canaries | None:
        """Those of this crawl; None: rules are not enforced in it."""
        return None if self._proving is None else self._proving.canaries

    def prove_in_new_parts(self, is_new: NewGround) -> None:
        """Where *is_new*, asked about a URL and the rules that would suppress it, says so, it becomes a canary."""
        if self._proving is not None:
            self._proving.is_new_ground = is_new

    def take_back(self, site: str, identity: str) -> None:
        """A rule that was learned in this crawl is false: give back what it suppressed."""
        if self._proving is not None:
            self._proving.suspended_elsewhere({identity: site})

    def showed_page(self, request: Request) -> None:
        """*request* has brought a page: its class, by the rules as they are now, has one."""
        key = self._key(request)
        self._inner.request_seen(request)
        self._filtering.is_first(request, key)
        if self._filtering.keeper(key) is None:
            self._filtering.fetched(request, key)
        self._succession.classes.settle(key)

    def is_still_wanted(self, request: Request) -> bool:
        """Whether *request*, let through a while ago, is to be fetched by the rules as they are now."""
        if self._was_fetched(request):
            self._inner.log(request, self._spider)
            return False
        key = self._key(request)
        let_through: list[str] = request.meta.get(LET_THROUGH, [])
        if self._proving is None or not let_through or stands_for(request, key):
            return True
        # A key that it was let through with was seen because of itself, unless another URL stands for it by now.
        its_own = key.hex() in let_through
        if its_own and self._filtering.keeper(key) in (None, request.url):
            return True
        self._filtering.forget(request, key)
        if self._is_admitted(request, its_own or self._inner.request_seen(request), self._proving):
            request.meta[LET_THROUGH] = [*let_through, key.hex()]
            return True
        self._inner.log(request, self._spider)
        return False

    def _is_filtered(self, request: Request, seen: bool) -> bool:
        if follows_rules(request) and self._rules.cover(request.url):
            if self._proving is not None:
                return not self._is_admitted(request, seen, self._proving)
            if self._shadow is not None and not seen:
                self._shadow.watch(request, self._class_key(request), map(self._class_key, _chain(request)))
        if seen and self._continues(request):
            self._crawler.stats.inc_value(Stat.REDIRECTS_CONTINUED.value)
            return False
        if seen:
            self._succession.chain_ended(request, self._key(request))
        return seen

    def _was_fetched(self, request: Request) -> bool:
        if not self.was_asked(request) or self._continues(request):
            return False
        self._succession.chain_ended(request, self._key(request))
        return True

    def is_canary(self, url: str) -> bool:
        """Whether *url* is fetched although a rule suppresses it, and so must be fetched as it is."""
        return self._proving is not None and self._proving.may_be_canary(url)

    def _is_admitted(self, request: Request, seen: bool, proving: Proving) -> bool:
        if not request.meta.get("redirect_urls"):
            request.meta.pop(CANARY, None)  # copied from the request before
        key = self._key(request)
        written = self._as_written(request, key)
        is_first = self._filtering.is_first(written, key)
        if self._rules.are_set_aside(request.url):
            seen = seen and not is_first
        elif not seen:
            seen = self._had_unfiltered(request, key)
        if seen and is_first and proving.is_another_page(request, key):
            seen = False
        if seen:
            if self._continues(request) and not self._was_tried_elsewhere(request, key):
                self._crawler.stats.inc_value(Stat.REDIRECTS_CONTINUED.value)
                if self._succession.classes.is_waiting(key):
                    self._succession.admit(request, key)
                return True
            self._succession.chain_ended(request, key)
            if is_first and self._becomes_canary(written, key, proving):
                return True
            if not self._is_needed(written, key, is_first, proving):
                return False
        self._admit(request, key)
        return True

    def _as_written(self, request: Request, key: bytes) -> Request:
        """The request in whose place *request* was put, where it was."""
        written = as_written(request)
        # Meta is copied from request to request; only what has the same key can be meant.
        return request if written is None or self._key(written) != key else written

    def _admit(self, request: Request, key: bytes) -> None:
        self._filtering.fetched(request, key)
        self._succession.admit(request, key)
        written = self._as_written(request, key)
        if written is not request:
            self._succession.keep(written, key)
            if self._proving is not None:
                self._proving.replace(written, key)

    def _had_unfiltered(self, request: Request, key: bytes) -> bool:
        # If it failed, what links to it is another chance, as it is without us.
        failed = self._succession.classes.has_failed(key)
        return not failed and self._unfiltered.had(key, request, self._spider)

    def _request_scheduled(self, request: Request, spider: Spider) -> None:
        """What asks not to be filtered comes by here and nowhere else."""
        if not request.dont_filter or is_retry(request):
            return
        if not (follows_rules(request) and self._rules.cover(request.url)):
            return
        key = self._key(request)
        self._filtering.is_first(request, key)
        if self._unfiltered.add(key, request, spider):
            self._admit(request, key)

    def _was_tried_elsewhere(self, request: Request, key: bytes) -> bool:
        chain = request.meta["redirect_urls"]
        return request.url not in chain and self._succession.classes.was_tried(key, request.url)

    def _becomes_canary(self, request: Request, key: bytes, proving: Proving) -> bool:
        early = self._succession.classes.is_waiting(key)
        if not proving.becomes_canary(request, key, early=early):
            return False
        if early:
            self._succession.admit(request, key)
        else:
            request.meta.pop(STANDS_FOR, None)
        return True

    def _is_needed(self, request: Request, key: bytes, is_first: bool, proving: Proving) -> bool:
        """Whether the page may be lost without this alias of a class that was seen."""
        if self._succession.classes.may_stand(key, request.url):
            self._crawler.stats.inc_value((Stat.ALIASES_AFTER_FAILURE if is_first else Stat.HEIRS).value)
            if not is_first:
                proving.fetched_after_all(request)
            return True
        if not self._succession.keep(request, key) or (is_first and not proving.suppress(request, key)):
            self._crawler.stats.inc_value(Stat.ALIASES_WITHOUT_ROOM.value)
            return True
        return False

    def _register(self, request: Request) -> None:
        """*request* was fetched under another key than it has now."""
        key = self._key(request)
        self._inner.request_seen(request)
        self._filtering.is_first(request, key)
        self._filtering.fetched(request, key)

    def _continues(self, request: Request) -> bool:
        """Whether *request* is a redirect back to the class, or the very URL, that its chain came from."""
        chain = _chain(request)
        been = [*(earlier.url for earlier in chain), request.url]
        if len(been) - len(set(been)) > 1:  # one return is a cookie being set, two are a circle
            return False
        return any(self._key(earlier) == self._key(request) for earlier in chain)

    @property
    def _spider(self) -> Spider:
        assert self._crawler.spider is not None
        return self._crawler.spider

    def _key(self, request: Request) -> bytes:
        return self._crawler.request_fingerprinter.fingerprint(request)

    def _class_key(self, request: Request) -> bytes:
        """The key that *request* would have if the rules were enforced."""
        return class_key(request, self._rules.canonize, self._key, self._crawler.stats) or self._key(request)


def _chain(request: Request) -> list[Request]:
    """The requests that redirects led from to *request*, the first one first."""
    try:
        return [request.replace(url=url) for url in request.meta.get("redirect_urls", ())]
    except TypeError:  # a subclass of Request that wants more than that, with meta copied from another
        return []
