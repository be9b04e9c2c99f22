"""`SharedStore`: the classes of all workers, and the requests that wait for them. Each class is a JSON value in
Redis.

A worker computes a change by `life`, and Redis takes the change only if no other worker has changed the class
meanwhile; otherwise the worker computes it again. Requests that a worker has suppressed it also keeps itself, in case
a rule is false.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

from scrapy_dust.crawl.class_store import LocalStore, as_json, from_json
from scrapy_dust.crawl.life import UNKNOWN, Class, State, waits
from scrapy_dust.redis import lua_scripts
from scrapy_dust.redis.request_json import freeze, thaw, to_json
from scrapy_dust.redis.request_json import from_json as plain_of
from scrapy_dust.redis.server import Gone, Server

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from scrapy_dust.crawl.class_store import Standing, Suppressed
    from scrapy_dust.crawl.plain_requests import Manner
    from scrapy_dust.redis.leases import Leases

Result = TypeVar("Result")


class SharedStore:
    """A `Store` in Redis."""

    def __init__(self, server: Server, leases: Leases, spider: Callable[[], Spider | None]) -> None:
        self._server, self._leases, self._spider = server, leases, spider
        self._here = LocalStore(None, spider)
        self._released: set[bytes] = set()  #: own names of requests that were fetched after all
        self._keepers: dict[bytes, int] = {}  #: by class, where this worker has written which URL it fetched

    def get(self, of: bytes) -> Class:
        """The class *of* as all workers know it; `UNKNOWN` if nothing is known of it."""
        return self._class(of, self._read(of))

    def change(self, of: bytes, how: Callable[[Class], tuple[Class, Result]]) -> Result:
        """Change the class *of* by the function *how*, which is called again if another worker has changed the class
        meanwhile.
        """
        while True:
            old = self._read(of)
            before = self._class(of, old)
            after, result = how(before)
            if after.keeper:
                self._keepers[of] = after.keeper
            if after is before or self._swap(of, old, after):
                return result

    def keep(
        self,
        of: bytes,
        own: bytes,
        rules: tuple[str, ...],
        request: Request,
        *,
        is_waiting: bool,
        manner: Manner | None = None,
    ) -> bool:
        """Keep *request*, named *own*, of the class *of*, in this worker. False if it cannot be kept, or waits for a
        URL that no worker is fetching any more.
        """
        if not self._here.keep(of, own, rules, request, is_waiting=False, manner=manner):
            return False
        if not is_waiting or self._waits(of, own, request):
            return True
        self._here.release(of, own)
        return False

    def _waits(self, of: bytes, own: bytes, request: Request) -> bool:
        """Whether *request* can wait for all workers. It cannot if no other worker could ask for it, or
        nothing stands for its class any more.
        """
        spider = self._spider()
        frozen = None if spider is None else freeze(request, spider)
        while frozen is not None:
            old = self._read(of)
            known = self._class(of, old)
            if known.state is State.SETTLED:
                return True
            if known.state in (State.UNKNOWN, State.FAILED):
                return False
            if self._swap(of, old, waits(known), f"{own.hex()}\n{frozen}"):
                return True
        return False

    def next_of(self, of: bytes) -> Request | None:
        """Take out the request that has waited longest for the class *of*, whichever worker kept it."""
        spider = self._spider()
        names = (self._server.key("with_heirs"), self._list(of), self._server.held)
        while spider is not None:
            identity = self._server.new_id()
            found: bytes | None = self._server.run(lua_scripts.TAKE, names, (of.hex(), identity))
            self.change(of, lambda known: (waits(known, -1), None))
            if found is None:
                return None
            own, _, frozen = found.partition(b"\n")
            name = bytes.fromhex(own.decode("ascii"))
            self._here.release(of, name)
            if name not in self._released:
                request = thaw(frozen, spider)
                self._leases.queued(request, identity)
                return request
        return None

    def release(self, of: bytes, own: bytes, *, stays: bool = False) -> bool:
        """Take out the request *own* of the class *of*, or leave it (*stays*). Returns whether it was kept."""
        was_kept = self._here.release(of, own, stays=stays)
        if not was_kept or stays:
            return was_kept
        self._released.add(own)
        return True

    def landed(self, at: bytes, origin: Standing) -> Standing | None:
        """The first class from which a redirect led any worker to the page *at*; None if there were several."""
        names = (self._server.key("landings"),)
        try:
            first = self._server.run(lua_scripts.LANDED, names, (at.hex(), to_json(origin)))
            known: Standing | None = plain_of(first) if first else None
            if known is not None and known[0] != origin[0]:
                self._server.ask("hset", names[0], at.hex(), "")
        except Gone:  # then it is taken for the first, and has to be confirmed by its next alias
            return origin
        return known

    def of_rule(self, rule: str) -> Iterator[Suppressed]:
        """Take out each request that *rule* suppressed in this worker, the newest first."""
        return self._here.of_rule(rule)

    def waiting(self) -> Iterable[bytes]:
        """The classes in which requests wait, once all workers are idle."""
        with suppress(Gone):
            if self._leases.are_all_idle():
                names: Iterable[bytes] = self._server.ask("smembers", self._server.key("with_heirs"))
                return [bytes.fromhex(name.decode("ascii")) for name in names]
        return ()

    def later(self, what: Callable[[], object]) -> None:
        """Have *what*, a function that has raised `StoreGone`, called again when Redis can be reached."""
        self._leases.postpone(what)

    def close(self) -> None:
        """End the worker's part. Its list of suppressed requests is removed with it."""
        self._here.close()

    def _class(self, of: bytes, kept: bytes) -> Class:
        known = from_json(kept) if kept else UNKNOWN
        return known._replace(keeper=self._keepers[of]) if of in self._keepers else known

    def _read(self, of: bytes) -> bytes:
        found: bytes | None = self._server.ask("hget", self._server.key("classes"), of.hex())
        return b"" if found is None else found

    def _swap(self, of: bytes, old: bytes, new: Class, row: str = "") -> bool:
        names = (self._server.key("classes"), self._server.key("with_heirs"), self._list(of))
        is_settled = "1" if new.state is State.SETTLED else ""
        return bool(self._server.run(lua_scripts.SWAP, names, (of.hex(), old, as_json(new), is_settled, row)))

    def _list(self, of: bytes) -> str:
        return self._server.key(f"heirs:{of.hex()}")
