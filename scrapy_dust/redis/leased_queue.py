"""scrapy-redis' queue without losses: a request that a worker takes stays known to Redis until it is done.

The queue wraps the one that scrapy-redis has made, whatever its order, and keeps requests in the same form.
"""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Self

from redis.exceptions import ConnectionError as NoConnection
from redis.exceptions import ReadOnlyError
from redis.exceptions import TimeoutError as NoAnswer
from scrapy import Request

from scrapy_dust.redis import lua_scripts
from scrapy_dust.redis.server import Gone, Server

if TYPE_CHECKING:
    from scrapy_dust.redis.leases import Leases

logger = logging.getLogger(__name__)

_KINDS = {"PriorityQueue": "priority", "FifoQueue": "fifo", "LifoQueue": "lifo"}


def kind_of(queue: object) -> str | None:
    """The way in which a queue of scrapy-redis keeps its requests; None for a queue of another kind."""
    return next((_KINDS[base.__name__] for base in type(queue).__mro__ if base.__name__ in _KINDS), None)


class LeasedQueue:
    """A queue with the methods that scrapy-redis' scheduler calls; what is taken out of it is leased to the worker."""

    def __init__(self, theirs: Any, kind: str, server: Server, leases: Leases) -> None:
        self.key: str = theirs.key
        self.kind = kind
        self._theirs, self._server, self._leases = theirs, server, leases
        self._unsent: list[Request] = []

    @classmethod
    def put_into(cls, scheduler: Any, server: Server, leases: Leases) -> Self | None:
        """Wrap the queue of *scheduler*, or of the one that it wraps; None where the queue is of an unknown kind."""
        while "queue" not in vars(scheduler) and hasattr(scheduler, "_inner"):
            scheduler = scheduler._inner
        theirs = getattr(scheduler, "queue", None)
        kind = kind_of(theirs)
        if kind is None:
            said = (
                "%s is none of scrapy-redis' queues: what a worker has in flight is lost when it is killed."
            )
            logger.warning(said, type(theirs).__name__)
            return None
        scheduler.queue = cls(theirs, kind, server, leases)
        queue: Self = scheduler.queue
        return queue

    def __len__(self) -> int:
        try:
            command = "zcard" if self.kind == "priority" else "llen"
            return int(self._server.ask(command, self.key)) + len(self._unsent)
        except Gone:
            return 1  # who knows

    def push(self, request: Request) -> None:
        """Add *request*; while Redis is away, keep it for `send`."""
        held = self._leases.ids_to_release(request)
        try:
            self._theirs.push(request)
        except (NoConnection, NoAnswer, ReadOnlyError):
            self._unsent.append(request)
            return
        if held:
            self._server.ask("hdel", self._server.held, *held)

    def push_kept(self) -> None:
        """Push the requests that could not be pushed while Redis was away."""
        unsent, self._unsent = self._unsent, []
        for request in unsent:
            self.push(request)

    def pop(self, timeout: int = 0) -> Request | None:
        """The next request. The call never waits for one, since the worker would do nothing meanwhile."""
        identity = self._server.new_id()
        names = (self._server.key("workers"), self._server.held, self.key)
        arguments = (self._server.worker, self.kind, identity, *self._leases.finished_ids())
        try:
            raw = self._server.run(lua_scripts.POP, names, arguments)
        except Gone:
            return None
        if raw is None:
            return None
        request: Request = self._theirs._decode_request(raw)
        self._leases.flights[identity] = request
        return request

    def clear(self) -> None:
        """Empty the queue, unless other workers are in the crawl."""
        with suppress(Gone):
            if self._leases.drop():
                self._server.ask("delete", self.key)
