"""`DustRedisDupeFilter`: `DustDupeFilter` for many workers, with all that it remembers in Redis.

    DUPEFILTER_CLASS = "scrapy_dust.redis.DustRedisDupeFilter"

Alone it goes with Scrapy's own scheduler, each worker with a queue of its own. Under scrapy-redis' scheduler, which
gives no fingerprinter a say, it brings the keys by itself. All workers must go by the same rules, since keys of
different rules do not agree: one that comes with others does not start.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast

from scrapy import signals

from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.requests import follows_rules
from scrapy_dust.crawl.rules import CrawlRules, rules_of
from scrapy_dust.crawl.succession import Succession
from scrapy_dust.crawl.unfiltered import Unfiltered
from scrapy_dust.errors import DustError
from scrapy_dust.redis import scripts
from scrapy_dust.redis.classes import SharedCallbacks, SharedClasses, SharedLandings
from scrapy_dust.redis.leases import Leases
from scrapy_dust.redis.seen import SeenByAll
from scrapy_dust.redis.server import Gone, server_of
from scrapy_dust.redis.suspensions import SharedSuspensions

if TYPE_CHECKING:
    from typing import Self

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.dupefilters import BaseDupeFilter

    from scrapy_dust.crawl.proving import Proving

logger = logging.getLogger(__name__)

#: As scrapy-redis has it.
_QUEUE_KEY = "%(spider)s:requests"


class DustRedisDupeFilter(DustDupeFilter):
    """For ``DUPEFILTER_CLASS``. Wraps nothing: what it does instead of the one underneath needs Redis too."""

    def __init__(self, crawler: Crawler, *, shares_queue: bool = False) -> None:
        rules = rules_of(crawler)
        assert crawler.spider is not None
        server = server_of(rules.settings, crawler.settings, crawler.spider.name)
        self._persists = crawler.settings.getbool("SCHEDULER_PERSIST")
        self._server, self._has_begun = server, False
        self._lease = rules.settings.redis_lease * 1000
        self._begin_or_refuse(crawler, rules, shares_queue=shares_queue)
        self._leases = Leases(crawler, server, rules.settings.redis_lease, shares_queue=shares_queue)
        self._classes = SharedClasses(server, self._leases, lambda: self._spider)
        # They have of a WaitingClasses and of dicts what these are asked for.
        succession = Succession(crawler, cast("Any", self._classes), cast("Any", SharedLandings(server)))
        unfiltered = Unfiltered(cast("Any", SharedCallbacks(server)))
        seen = SeenByAll(crawler, server, self._beginning, self._leases)
        super().__init__(crawler, cast("BaseDupeFilter", seen), succession, unfiltered)
        self._jobdir = None  # what a paused job must not forget is in Redis
        if self._proving is not None:
            self._suspensions = SharedSuspensions(crawler, server, rules, self._proving)
        if shares_queue:
            # scrapy-redis' scheduler does not open its dupefilter.
            crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:
        """For scrapy-redis, whose scheduler has a queue that all workers share."""
        return cls(spider.crawler, shares_queue=True)

    def clear(self) -> None:
        """Forget what was seen: before the crawl, or after it, unless other workers go on."""
        try:
            if self._leases.drop(force=not self._has_begun) and not self._has_begun:
                self._begin(self._rules)
        except Gone as gone:
            logger.warning("Redis is gone (%s): the keys of this crawl stay.", gone)

    def close(self, reason: str) -> None:
        super().close(reason)
        if reason == "finished" and not self._persists:
            self.clear()

    def _spider_opened(self, spider: Spider) -> None:
        self.open()

    def request_seen(self, request: Request) -> bool:
        self._has_begun = True
        try:
            seen = False if self._takes_over(request) else super().request_seen(request)
            self._leases.decided(request, let_through=not seen)
        except Gone:
            self._leases.park(request)
            return True
        return seen

    def _takes_over(self, request: Request) -> bool:
        if not self._leases.is_adopted(request):
            return False
        if self._begins_class(request):
            self._admit(request, self._key(request))
        return True

    def _beginning(self, request: Request) -> str:
        return self._classes.beginning(self._key(request), request.url) if self._begins_class(request) else ""

    def _begins_class(self, request: Request) -> bool:
        return self._rules.enforced and follows_rules(request) and self._rules.cover(request.url)

    def _becomes_canary(self, request: Request, key: bytes, proving: Proving) -> bool:
        # The same URLs are chosen by all workers, and are new to each of them.
        if not proving.may_be_canary(request.url):
            return False
        is_new = self._server.ask("sadd", self._server.key("canaries"), request.url)
        return bool(is_new) and super()._becomes_canary(request, key, proving)

    def _register(self, request: Request) -> None:
        key = self._key(request)
        # Not as in `request_seen`, where a class begins whose page is still to come.
        with suppress(Gone):
            self._server.ask("sadd", self._server.key("seen"), key)
        self._filtering.is_first(request, key)
        self._filtering.fetched(request, key)

    def _request_scheduled(self, request: Request, spider: Spider) -> None:
        try:
            super()._request_scheduled(request, spider)
        except Gone:
            logger.debug(
                "Redis is gone: %(request)s may be fetched again when it is linked.", {"request": request}
            )

    def _begin_or_refuse(self, crawler: Crawler, rules: CrawlRules, *, shares_queue: bool) -> None:
        """Raises `DustError`, in one sentence."""
        queue = crawler.settings.get("SCHEDULER_QUEUE_KEY") or _QUEUE_KEY if shares_queue else ""
        assert crawler.spider is not None
        try:
            if not self._persists:
                self._server.drop(queue.replace("%(spider)s", crawler.spider.name), self._lease)
            begun_with = self._begin(rules)
        except Gone as gone:
            raise DustError(f"Redis cannot be reached ({gone}): start it, or set DUST_REDIS_URL.") from None
        if (
            begun_with == rules.version
            or self._is_what_it_has_become(rules)
            or crawler.settings.getbool("SCHEDULER_FLUSH_ON_START")
        ):
            return
        raise DustError(
            f"The workers of {self._server.prefix}* go by version {begun_with} of the rules and this one by "
            f"{rules.version}: give all the same rule book and DUST_MODE, or begin anew with another DUST_REDIS_KEY "
            "or SCHEDULER_FLUSH_ON_START."
        )

    def _is_what_it_has_become(self, rules: CrawlRules) -> bool:
        """Whether these are the rules of this crawl but for those that were suspended in it."""
        try:
            return bool(self._server.ask("sismember", self._server.key("versions"), rules.version))
        except Gone:
            return False

    def _begin(self, rules: CrawlRules) -> str:
        names = (self._server.key("meta"), self._server.key("workers"))
        found: bytes = self._server.run(scripts.BEGIN, names, (rules.version, self._server.worker))
        return found.decode()
