"""Leases: which worker has which request, so that the requests of a dead worker are given to another one.

A request is *held* by a worker from when no other worker can fetch it until its page is dealt with: its links
are queued, its items stored. A request from a queue that all share is held once it is out, and goes back into it;
a request in a worker's own queue is held once it is let through, and is taken over, as JSON, by another worker.

A worker is dead that was silent for `DUST_REDIS_LEASE` seconds. If it was only too busy to speak, some
pages are fetched twice.

While Redis is gone, nothing is decided: requests wait here, outcomes are sent later, and no worker closes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.exceptions import DontCloseSpider
from scrapy.utils.asyncio import create_looping_call

from scrapy_dust.crawl.components import CrawlLogger, listen
from scrapy_dust.redis import lua_scripts
from scrapy_dust.redis.leased_queue import LeasedQueue
from scrapy_dust.redis.request_json import freeze, thaw
from scrapy_dust.redis.server import Gone, Server
from scrapy_dust.stats import Stat

#: In a request's meta, internal: the id under which a worker holds it while it is in a queue of its own.
HELD = "_dust_held"

#: The most requests of a dead worker that are taken over at a time.
_AT_A_TIME = 200

#: In seconds: how often a worker says that it is alive, at least, and at most.
_BEATS = (0.25, 5.0)


class Leases:
    """The requests that one worker holds."""

    def __init__(self, crawler: Crawler, server: Server, lease: int, *, shares_queue: bool) -> None:
        self._crawler, self._server, self._log = crawler, server, CrawlLogger(__name__, crawler)
        self._lease = lease * 1000
        self._shares_queue = shares_queue
        self._queue: LeasedQueue | None = None
        self.flights: dict[str, Request] = {}  #: requests that Scrapy works at, by the ids of their leases
        self._answered: set[str] = set()  #: ids of those that have an answer
        self._queued: set[str] = set()  #: ids of requests that are, or will be, in this worker's own queue
        self._adopted: set[str] = set()  #: ids of queued requests that another worker had let through
        self._parked: list[tuple[Request, Callable[[Request], object]]] = []
        self._postponed: list[Callable[[], object]] = []
        self._is_gone = False
        self._clears_up = False  #: others were still at it when this one was to forget the crawl
        self._beats = create_looping_call(self._beat)
        listen(crawler, self._spider_opened, self._spider_idle, self._spider_closed, self._response_received)
        if not shares_queue:
            listen(crawler, self._request_scheduled, self._request_reached_downloader, self._scheduler_empty)

    def lease_of(self, request: Request) -> tuple[str, str]:
        """The id and the JSON with which another worker could take over *request*; both empty if no worker needs to or can."""
        if self._shares_queue:
            return "", ""
        identity = request.meta.get(HELD)
        if identity not in self._queued:
            identity = request.meta[HELD] = self._server.new_id()
        frozen = freeze(request, self._spider)
        return ("", "") if frozen is None else (identity, f"j{frozen}")

    def note_queued(self, request: Request, identity: str) -> None:
        """Note that *request* is held under *identity*, and is in a queue or on its way into one."""
        request.meta[HELD] = identity
        self._queued.add(identity)

    def note_decided(self, request: Request, *, let_through: bool) -> None:
        """Note whether *request* is going to be queued. Raises `Gone` while Redis is away."""
        identity = request.meta.get(HELD)
        if let_through and not self._shares_queue and identity not in self._queued:
            identity, frozen = self.lease_of(request)
            if not identity:
                self._crawler.stats.inc_value(Stat.NOT_SHARED.value)
                return
            self._server.ask("hset", self._server.held, identity, frozen)
            self.note_queued(request, identity)
        elif not let_through and identity in self._queued:
            self._release([identity])
        elif identity not in self._queued:
            request.meta.pop(HELD, None)  # copied from the request before

    def is_adopted(self, request: Request) -> bool:
        """Whether this worker took *request* over from another one; True only the first time."""
        identity = request.meta.get(HELD)
        if identity not in self._adopted:
            return False
        self._adopted.remove(identity)
        return True

    def park(self, request: Request, queue: Callable[[Request], object]) -> None:
        """Keep *request* in memory until Redis can be reached again; *queue* is called with it then."""
        self._notice_gone()
        self._parked.append((request, queue))

    def postpone(self, change: Callable[[], object]) -> None:
        """Keep *change* until Redis is back."""
        self._notice_gone()
        self._postponed.append(change)

    def are_all_idle(self) -> bool:
        """Whether all workers, this one included, have nothing to do. Raises `Gone` while Redis is away."""
        if not self._crawler.engine.spider_is_idle():
            return False  # whoever was told before that the spider is idle has queued a request
        self._finish_all()
        if self._parked or self._postponed or self._queued or self._count_held_by_others():
            return False
        return not self._queue

    def ids_to_release(self, request: Request) -> list[str]:
        """The ids under which this worker no longer holds *request*, which is about to enter the queue of all workers."""
        identity = request.meta.pop(HELD, None)
        if identity not in self._queued:
            return []
        self._queued.remove(identity)
        return [identity]

    def finished_ids(self) -> list[str]:
        """The ids of the requests that this worker has finished since the last call."""
        # Scrapy says it nowhere else: until items are stored, links queued.
        slot = self._crawler.engine._slot
        at_work = slot.inprogress if slot is not None else ()
        done = [identity for identity, request in self.flights.items() if request not in at_work]
        self._forget(done)
        return done

    def drop(self, *, force: bool = False) -> bool:
        """Forget the whole crawl, unless other workers are in it."""
        self._finish_all()
        self._clears_up = not self._server.drop("", self._lease, force=force)
        return not self._clears_up

    @property
    def _spider(self) -> Spider:
        assert self._crawler.spider is not None
        return self._crawler.spider

    def _release(self, identities: Iterable[str]) -> None:
        """Forget the requests *identities* here and in Redis, so that no worker takes them over."""
        released = tuple(identities)
        self._forget(released)
        if released:
            self._server.ask("hdel", self._server.held, *released)

    def _forget(self, identities: Iterable[str]) -> None:
        """Forget the requests *identities* in this worker alone."""
        for identity in identities:
            self.flights.pop(identity, None)
            for known in (self._answered, self._queued, self._adopted):
                known.discard(identity)

    def _finish_all(self) -> None:
        """Finish everything that this worker holds, now that the spider is idle."""
        waiting = {request.meta.get(HELD) for request, _ in self._parked}
        self._release((self.flights.keys() | self._queued) - waiting)

    def _count_held_by_others(self) -> int:
        """The number of requests that other workers hold."""
        arguments = (self._server.worker, self._server.prefix)
        found: int = self._server.run(lua_scripts.OTHERS, (self._server.key("workers"),), arguments)
        return found

    # -- what Scrapy tells

    def _spider_opened(self) -> None:
        if self._shares_queue:
            self._queue = LeasedQueue.put_into(self._crawler.engine.scheduler, self._server, self)
        least, most = _BEATS
        self._beats.start(min(most, max(least, self._lease / 4000)), now=True)

    def _request_scheduled(self, request: Request) -> None:
        identity = request.meta.get(HELD)
        if identity in self.flights and identity not in self._answered:
            # A retry, a redirect: what came out of the queue goes on in another request.
            del self.flights[identity]
            self._queued.add(identity)
        elif request.dont_filter:
            try:
                self.note_decided(request, let_through=True)
            except Gone:
                self._notice_gone()

    def _request_reached_downloader(self, request: Request) -> None:
        identity = request.meta.get(HELD)
        if identity in self._queued:
            self._queued.remove(identity)
            self.flights[identity] = request

    def _response_received(self, request: Request) -> None:
        identity = request.meta.get(HELD)
        if identity in self.flights:
            self._answered.add(identity)

    def _scheduler_empty(self) -> None:
        try:
            self._release(self.finished_ids())
        except Gone:
            self._notice_gone()

    def _spider_idle(self) -> None:
        try:
            if self._crawler.engine.spider_is_idle():  # nobody who was told so before has queued a request
                self._finish_all()
            self._renew()
            must_wait = bool(self._count_held_by_others() or self._queued)
        except Gone:
            self._notice_gone()
            must_wait = True
        if must_wait or self._parked or self._postponed:
            raise DontCloseSpider

    def _spider_closed(self) -> None:
        if self._beats.running:
            self._beats.stop()
        names = (self._server.key("workers"), self._server.held, self._server.done)
        try:
            self._release(self.finished_ids())
            self._server.run(lua_scripts.LEAVE, names, (self._server.worker,))
            if self._clears_up:
                # Of several that leave at a time, the last one.
                self._server.drop("" if self._queue is None else self._queue.key, self._lease)
        except Gone:
            said = "Redis is gone: what this worker still had is given to others in %d s."
            self._log.warning(said, self._lease // 1000)

    # -- what happens again and again

    def _beat(self) -> None:
        """Renew the lease, at regular times."""
        try:
            self._renew()
        except Gone:
            self._notice_gone()

    def _renew(self) -> None:
        """Renew this worker's lease, send what is overdue, and take over the requests of dead workers. Raises `Gone`."""
        self._release(self.finished_ids())
        queue, kind = ("", "") if self._queue is None else (self._queue.key, self._queue.kind)
        arguments = (self._server.worker, kind, self._lease, self._server.prefix, _AT_A_TIME)
        found = self._server.run(lua_scripts.RESCUE, (self._server.key("workers"), queue), arguments)
        known = (*self.flights, *self._queued, *found[::2])
        if self._shares_queue or not known:
            found += self._server.run(lua_scripts.RECONCILE, (self._server.held, queue), (kind, *known))
        self._server.keep_alive()
        self._notice_back()
        self._take_over(found)

    def _take_over(self, found: list[bytes]) -> None:
        """Hold the requests in *found*, of dead workers: ids and JSON in turns."""
        for identity, payload in zip(map(bytes.decode, found[::2]), found[1::2], strict=True):
            try:
                request = thaw(payload[1:], self._spider)
            except (ValueError, TypeError) as error:
                self._log.error("Cannot take over a request of another worker: %s", error)
                self._release([identity])
                continue
            self.note_queued(request, identity)
            self._adopted.add(identity)
            self._crawler.stats.inc_value(Stat.TAKEN_OVER.value)
            self._crawler.engine.crawl(request)

    def _notice_gone(self) -> None:
        if not self._is_gone:
            self._is_gone = True
            self._crawler.stats.inc_value(Stat.REDIS_GONE.value)
            self._log.warning("Redis is gone; the crawl waits for it.")

    def _notice_back(self) -> None:
        """Send and queue all that waited while Redis was away."""
        if self._is_gone:
            self._is_gone = False
            self._log.warning("Redis is back.")
        if self._queue is not None:
            self._queue.push_kept()
        while self._postponed:
            self._postponed[0]()
            del self._postponed[0]
        parked, self._parked = self._parked, []
        for request, queue in parked:
            queue(request)
