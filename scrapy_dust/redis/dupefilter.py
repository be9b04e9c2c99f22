"""`DustRedisDupeFilter`: `DustDupeFilter` for many workers, with all that it remembers in Redis.

    DUPEFILTER_CLASS = "scrapy_dust.redis.DustRedisDupeFilter"

Alone it goes with Scrapy's own scheduler, each worker with a queue of its own. Under scrapy-redis' scheduler, which
asks no fingerprinter, the dupefilter makes the keys by itself. All workers must go by the same rules, since keys of
different rules do not agree: a worker with other rules does not start.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Self

from scrapy import Request, Spider
from scrapy.crawler import Crawler

from scrapy_dust.crawl.canary_draw import Draw
from scrapy_dust.crawl.components import listen
from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.crawl.rules import CrawlRules, rules_of
from scrapy_dust.errors import DustError
from scrapy_dust.redis import lua_scripts
from scrapy_dust.redis.leases import Leases
from scrapy_dust.redis.seen_requests import SeenByAll
from scrapy_dust.redis.server import Gone, server_of
from scrapy_dust.redis.shared_store import SharedStore
from scrapy_dust.redis.suspensions import SharedSuspensions

#: As scrapy-redis has it.
_QUEUE_KEY = "%(spider)s:requests"


class DustRedisDupeFilter(DustDupeFilter):
    """A dupefilter for many workers, for ``DUPEFILTER_CLASS``. It wraps no other, since all it remembers is in Redis."""

    def __init__(self, crawler: Crawler, *, shares_queue: bool = False) -> None:
        rules = rules_of(crawler)
        assert crawler.spider is not None
        server = server_of(rules.settings, crawler.settings, crawler.spider.name)
        self._persists = crawler.settings.getbool("SCHEDULER_PERSIST")
        self._server, self._has_begun = server, False
        self._lease = rules.settings.redis_lease * 1000
        self._begin_or_refuse(crawler, rules, shares_queue=shares_queue)
        self._leases = Leases(crawler, server, rules.settings.redis_lease, shares_queue=shares_queue)
        self._shared = SharedStore(server, self._leases, lambda: crawler.spider)
        seen = SeenByAll(crawler, server, self._leases)
        super().__init__(crawler, seen, self._shared, Draw(server.secret(), ""))
        self.worker = server.worker
        if self.enforcing is not None:
            self._suspensions = SharedSuspensions(crawler, server, rules, self.enforcing.proving)
        if shares_queue:
            # scrapy-redis' scheduler does not open its dupefilter.
            listen(crawler, self._spider_opened)

    @classmethod
    def from_spider(cls, spider: Spider) -> Self:
        """Make the dupefilter for scrapy-redis, whose scheduler has one queue for all workers."""
        return cls(spider.crawler, shares_queue=True)

    def clear(self) -> None:
        """Forget the requests that were seen: before the crawl, or after it, unless other workers go on."""
        try:
            if self._leases.drop(force=not self._has_begun) and not self._has_begun:
                self._register_worker(self._rules)
        except Gone as gone:
            self._log.warning("Redis is gone (%s): the keys of this crawl stay.", gone)

    def close(self, reason: str) -> None:
        super().close(reason)
        self._shared.close()
        if reason == "finished" and not self._persists:
            self.clear()

    def _spider_opened(self) -> None:
        self.open()

    def request_seen(self, request: Request) -> bool:
        self._has_begun = True
        returning = None if self.enforcing is None else self.enforcing.returning
        again = self._crawler.engine.crawl if returning is None else returning.queue_again()
        try:
            seen = False if self._is_taken_over(request) else super().request_seen(request)
            self._leases.note_decided(request, let_through=not seen)
        except Gone:
            self._leases.park(request, again)
            return True
        return seen

    def _is_taken_over(self, request: Request) -> bool:
        """Whether another worker let *request* through, and has died since."""
        if not self._leases.is_adopted(request):
            return False
        site = None if self.enforcing is None else self.enforcing.site_of(request)
        if self.enforcing is not None and site is not None:
            self.enforcing.fetch_waiting(request, site)
        return True

    def _begin_or_refuse(self, crawler: Crawler, rules: CrawlRules, *, shares_queue: bool) -> None:
        """Begin with the crawl's rules. Raises `DustError` with one sentence where the workers' rules differ."""
        queue = crawler.settings.get("SCHEDULER_QUEUE_KEY") or _QUEUE_KEY if shares_queue else ""
        assert crawler.spider is not None
        try:
            if not self._persists:
                self._server.drop(queue.replace("%(spider)s", crawler.spider.name), self._lease)
            begun_with = self._register_worker(rules)
        except Gone as gone:
            raise DustError(f"Redis cannot be reached ({gone}): start it, or set DUST_REDIS_URL.") from None
        if begun_with == rules.version or crawler.settings.getbool("SCHEDULER_FLUSH_ON_START"):
            return
        # The rules of the running crawl, except for rules that were suspended in it.
        with suppress(Gone):
            if self._server.ask("sismember", self._server.key("versions"), rules.version):
                return
        raise DustError(
            f"The workers of {self._server.prefix}* go by version {begun_with} of the rules and this one by "
            f"{rules.version}: give all the same rule book and DUST_MODE, or begin anew with another DUST_REDIS_KEY "
            "or SCHEDULER_FLUSH_ON_START."
        )

    def _register_worker(self, rules: CrawlRules) -> str:
        """Add this worker to the crawl. Returns the version of the rules that all workers go by."""
        names = (self._server.key("meta"), self._server.key("workers"))
        found: bytes = self._server.run(lua_scripts.BEGIN, names, (rules.version, self._server.worker))
        return found.decode()
