"""`SharedStore`: the classes of all workers, and the requests that wait for them. Each class is a JSON value in
Redis.

A worker computes a change by `life`, and Redis takes the change only if no other worker has changed the class
meanwhile; otherwise the worker computes it again. A worker also keeps the requests that it has suppressed, in case
a rule is false, as the store of one process does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from scrapy import Request, Spider

from scrapy_dust.crawl.class_store import LocalStore, Standing, class_from_json, class_json
from scrapy_dust.crawl.life import UNKNOWN, Class, State, with_waiting
from scrapy_dust.crawl.plain_requests import Manner
from scrapy_dust.redis import lua_scripts
from scrapy_dust.redis.leases import Leases
from scrapy_dust.redis.request_json import freeze, thaw, to_json
from scrapy_dust.redis.request_json import from_json as plain_of
from scrapy_dust.redis.server import Gone, Server

Result = TypeVar("Result")


class SharedStore(LocalStore):
    """A store in Redis. Requests that this worker has suppressed are kept as in a `LocalStore`."""

    def __init__(self, server: Server, leases: Leases, spider: Callable[[], Spider | None]) -> None:
        super().__init__(None, spider)
        self._server, self._leases = server, leases
        self._released: set[bytes] = set()  #: own names of requests that were fetched after all
        self._keepers: dict[bytes, int] = {}  #: by class, where this worker has written which URL it fetched

    def get(self, class_key: bytes) -> Class:

        return self._class_from(class_key, self._read_class(class_key))

    def change(self, class_key: bytes, how: Callable[[Class], tuple[Class, Result]]) -> Result:

        while True:
            old = self._read_class(class_key)
            before = self._class_from(class_key, old)
            after, result = how(before)
            if after.keeper:
                self._keepers[class_key] = after.keeper
            if after is before or self._swap(class_key, old, after):
                return result

    def keep(
        self,
        class_key: bytes,
        own_key: bytes,
        rules: tuple[str, ...],
        request: Request,
        *,
        is_waiting: bool,
        manner: Manner | None = None,
    ) -> bool:
        """Keep *request*. False also if *request* would wait for a URL that no worker is fetching any more."""
        if not super().keep(class_key, own_key, rules, request, is_waiting=False, manner=manner):
            return False
        if not is_waiting or self._may_wait(class_key, own_key, request):
            return True
        super().release(class_key, own_key)
        return False

    def _count_waiting(self, class_key: bytes, more: int) -> None:
        """Do nothing: Redis counts what waits, for all workers."""

    def _may_wait(self, class_key: bytes, own_key: bytes, request: Request) -> bool:
        """Whether *request* can wait: another worker could ask for it, and a URL stands for its class still."""
        spider = self._spider()
        frozen = None if spider is None else freeze(request, spider)
        while frozen is not None:
            old = self._read_class(class_key)
            known = self._class_from(class_key, old)
            if known.state is State.SETTLED:
                return True
            if known.state in (State.UNKNOWN, State.FAILED):
                return False
            if self._swap(class_key, old, with_waiting(known), f"{own_key.hex()}\n{frozen}"):
                return True
        return False

    def take_next(self, class_key: bytes) -> Request | None:
        """Take out the request that has waited longest for the class *class_key*, whichever worker kept it."""
        spider = self._spider()
        names = (self._server.key("with_heirs"), self._list_key(class_key), self._server.held)
        while spider is not None:
            identity = self._server.new_id()
            found: bytes | None = self._server.run(lua_scripts.TAKE, names, (class_key.hex(), identity))
            self.change(class_key, lambda known: (with_waiting(known, -1), None))
            if found is None:
                return None
            own, _, frozen = found.partition(b"\n")
            name = bytes.fromhex(own.decode("ascii"))
            super().release(class_key, name)
            if name not in self._released:
                request = thaw(frozen, spider)
                self._leases.note_queued(request, identity)
                return request
        return None

    def release(self, class_key: bytes, own_key: bytes, *, stays: bool = False) -> bool:
        was_kept = super().release(class_key, own_key, stays=stays)
        if not was_kept or stays:
            return was_kept
        self._released.add(own_key)
        return True

    def first_origin(self, landing: bytes, origin: Standing) -> Standing | None:

        names = (self._server.key("landings"),)
        try:
            first = self._server.run(lua_scripts.LANDED, names, (landing.hex(), to_json(origin)))
            known: Standing | None = plain_of(first) if first else None
            if known is not None and known[0] != origin[0]:
                self._server.ask("hset", names[0], landing.hex(), "")
        except Gone:  # then it is taken for the first, and has to be confirmed by its next alias
            return origin
        return known

    def waiting(self) -> Iterable[bytes]:
        """The classes in which requests wait, once all workers are idle."""
        with suppress(Gone):
            if self._leases.are_all_idle():
                names: Iterable[bytes] = self._server.ask("smembers", self._server.key("with_heirs"))
                return [bytes.fromhex(name.decode("ascii")) for name in names]
        return ()

    def call_later(self, what: Callable[[], object]) -> None:

        self._leases.postpone(what)

    def _class_from(self, class_key: bytes, kept: bytes) -> Class:
        """The class that Redis has as *kept*, with the keeper that this worker knows."""
        known = class_from_json(kept) if kept else UNKNOWN
        return known._replace(keeper=self._keepers[class_key]) if class_key in self._keepers else known

    def _read_class(self, class_key: bytes) -> bytes:
        """The class *class_key* as JSON; empty if Redis has none."""
        found: bytes | None = self._server.ask("hget", self._server.key("classes"), class_key.hex())
        return b"" if found is None else found

    def _swap(self, class_key: bytes, old: bytes, new: Class, row: str = "") -> bool:
        """Save the class *new* if Redis still has *old*, and say whether. *row*: a request to keep waiting with it."""
        names = (self._server.key("classes"), self._server.key("with_heirs"), self._list_key(class_key))
        is_settled = "1" if new.state is State.SETTLED else ""
        arguments = (class_key.hex(), old, class_json(new), is_settled, row)
        return bool(self._server.run(lua_scripts.SWAP, names, arguments))

    def _list_key(self, class_key: bytes) -> str:
        """The name of the list of requests that wait for the class *class_key*."""
        return self._server.key(f"heirs:{class_key.hex()}")
