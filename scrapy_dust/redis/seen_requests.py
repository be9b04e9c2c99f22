"""The requests that any worker has asked for: a set in Redis, changed together with the lease of each request."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.dupefilters import RFPDupeFilter

from scrapy_dust.redis import lua_scripts
from scrapy_dust.redis.leases import Leases
from scrapy_dust.redis.server import Server


class SeenByAll(RFPDupeFilter):
    """A replacement for Scrapy's own dupefilter under `DustDupeFilter`, for all workers."""

    #: Read by `DustDupeFilter`: this dupefilter lets no request through twice.
    forgets_nothing = True

    def __init__(self, crawler: Crawler, server: Server, leases: Leases) -> None:
        super().__init__(debug=crawler.settings.getbool("DUPEFILTER_DEBUG"))
        self._crawler, self._server, self._leases = crawler, server, leases
        # A request that is asked about again, because Redis was gone, is the one that it was.
        self._ids: WeakKeyDictionary[Request, str] = WeakKeyDictionary()
        self._acknowledged: list[str] = []

    def request_seen(self, request: Request) -> bool:
        """Whether a worker asked for *request* before. Raises `Gone` while Redis is away; the call may be repeated."""
        key = self._crawler.request_fingerprinter.fingerprint(request)
        identity = self._ids.setdefault(request, self._server.new_id())
        held, payload = self._leases.lease_of(request)
        names = (self._server.key("seen"), self._server.done, self._server.held)
        arguments: tuple[str | bytes, ...] = (key, identity, held, payload, *self._acknowledged)
        is_first = bool(self._server.run(lua_scripts.ENTER, names, arguments))
        self._acknowledged = [identity] if is_first else []
        if is_first and held:
            self._leases.note_queued(request, held)
        return not is_first
