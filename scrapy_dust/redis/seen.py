"""Which requests were let through, by any worker: a set in Redis, and in the same breath the class that begins."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy_dust.redis import scripts
from scrapy_dust.redis.server import Server

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.crawler import Crawler

    from scrapy_dust.redis.leases import Leases

logger = logging.getLogger(__name__)


class SeenByAll:
    """Does for `DustDupeFilter` what Scrapy's own dupefilter would do, for all workers."""

    def __init__(
        self,
        crawler: Crawler,
        server: Server,
        begin: Callable[[Request], str],
        leases: Leases,
    ) -> None:
        """*begin*: the class that a request begins, as it is kept; empty where it begins none."""
        self._crawler = crawler
        self._server, self._leases = server, leases
        self._begin = begin
        # A request that is asked about again, because Redis was gone, is the one that it was.
        self._ids: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        self._acknowledged: list[str] = []
        self._debug = crawler.settings.getbool("DUPEFILTER_DEBUG")
        self._said = False

    def request_seen(self, request: Request) -> bool:
        """Raises `Gone`; then it may be asked again, about the same request."""
        key = self._crawler.request_fingerprinter.fingerprint(request)
        identity = self._ids.setdefault(request, self._server.new_id())
        held, payload = self._leases.taken_over_by(request)
        names = (
            self._server.key("seen"),
            self._server.key("classes"),
            self._server.done,
            self._server.key("unfiltered"),
            self._server.held,
        )
        arguments: tuple[str | bytes, ...] = (
            key,
            identity,
            self._begin(request),
            held,
            payload,
            *self._acknowledged,
        )
        is_first = bool(self._server.run(scripts.ENTER, names, arguments))
        self._acknowledged = [identity] if is_first else []
        if is_first and held:
            self._leases.queued(request, held)
        return not is_first

    def open(self) -> None:
        """It was there before."""

    def close(self, reason: str) -> None:
        """It stays there; `Leases` knows when it may go."""

    def log(self, request: Request, spider: Spider) -> None:
        self._crawler.stats.inc_value("dupefilter/filtered")
        if self._debug or not self._said:
            more = (
                ""
                if self._debug
                else " - no more duplicates will be shown (see DUPEFILTER_DEBUG to show all)"
            )
            logger.debug(
                f"Filtered duplicate request: %(request)s{more}",
                {"request": request},
                extra={"spider": spider},
            )
        self._said = True
