"""The classes of `crawl/classes.py`, of all workers: each is a JSON value in Redis.

A change is made as it is made there, on this one class alone, and takes effect only if nobody else has changed the
class meanwhile; otherwise it is made again, on what the other has left. So what a class does is said once.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from scrapy_dust.crawl.classes import WaitingClasses
from scrapy_dust.redis import scripts
from scrapy_dust.redis.frozen import freeze, from_json, thaw, to_json
from scrapy_dust.redis.server import Gone, Server

if TYPE_CHECKING:
    from scrapy import Request, Spider

    from scrapy_dust.redis.leases import Leases

Result = TypeVar("Result")
#: As they are in Redis.
Frozen = str

Box = WaitingClasses[Frozen]


class _Elsewhere:
    """Those heirs of one class for whom it has no room, during one change: nothing happens until it takes effect."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.taken, self.added, self.forgotten = 0, list[str](), False

    def put(self, key: bytes, url: str, heir: Frozen) -> bool:
        self.added.append(json.dumps([url, heir]))
        return True

    def take(self, key: bytes) -> tuple[str, Frozen] | None:
        found = self._server.ask("lindex", _list_of(self._server, key), self.taken)
        if found is None:
            return None
        self.taken += 1
        url, heir = json.loads(found)
        return url, heir

    def forget(self, key: bytes) -> None:
        self.forgotten = True

    @property
    def has_changed(self) -> bool:
        return bool(self.taken or self.added or self.forgotten)


def _list_of(server: Server, key: bytes) -> bytes:
    return server.key("heirs:").encode() + key


class SharedClasses:
    """What `Succession` and `DustDupeFilter` ask of `WaitingClasses`."""

    def __init__(self, server: Server, leases: Leases, spider: Callable[[], Spider]) -> None:
        self._server, self._leases, self._spider = server, leases, spider

    def beginning(self, key: bytes, url: str) -> str:
        """A class of which *url* is the first, as it is kept."""
        box: Box = WaitingClasses(_Elsewhere(self._server))
        box.stand(key, url)
        return _kept(box, key, 0)

    def stand(self, key: bytes, url: str) -> None:
        self._change(key, lambda box: box.stand(key, url))

    def is_waiting(self, key: bytes) -> bool:
        return self._opened(key).is_waiting(key)

    def stands(self, key: bytes, url: str) -> bool:
        return self._opened(key).stands(key, url)

    def has_failed(self, key: bytes) -> bool:
        return self._opened(key).has_failed(key)

    def may_stand(self, key: bytes, url: str) -> bool:
        return self._opened(key).may_stand(key, url)

    def was_tried(self, key: bytes, url: str) -> bool:
        return self._opened(key).was_tried(key, url)

    def keep(self, key: bytes, url: str, heir: Request) -> bool:
        frozen = freeze(heir, self._spider())
        if frozen is None:
            # No other worker could ask for it; unless it is settled, it has to be asked for here and now.
            return self._read(key) == "" or self.was_tried(key, url)
        return self._change(key, lambda box: box.keep(key, url, frozen))

    def settle(self, key: bytes) -> bool:
        return self._now_or_later(partial(self._change, key, lambda box: box.settle(key)), default=False)

    def rest(self, key: bytes, landed_on: bytes) -> None:
        self._now_or_later(partial(self._change, key, lambda box: box.rest(key, landed_on)), default=None)

    def fail(self, key: bytes, url: str) -> Request | None:
        return self._now_or_later(partial(self._heir, key, lambda box: box.fail(key, url)), default=None)

    def orphans(self) -> Iterator[Request]:
        """When all workers are idle, and not this one alone."""
        try:
            if not self._leases.are_all_idle():
                return
            for key in self._server.ask("smembers", self._server.key("with_heirs")):
                heir = self._heir(key, lambda box: next(box.orphans(), None))
                if heir is not None:
                    yield heir
        except Gone:
            return

    def dump(self, freeze: object) -> dict[bytes, Any]:
        """Nothing: it is where it is, and outlives this worker."""
        return {}

    def load(self, dumped: object, thaw: object) -> None:
        """Nothing, as well."""

    def _heir(self, key: bytes, change: Callable[[Box], Frozen | None]) -> Request | None:
        """The heir that *change* hands out; in the same breath this worker has it."""
        identity = self._server.new_id()
        frozen = self._change(key, change, hold_as=identity)
        if frozen is None:
            return None
        heir = thaw(frozen, self._spider())
        self._leases.queued(heir, identity)
        return heir

    def _now_or_later(self, change: Callable[[], Result], *, default: Result) -> Result:
        """What became of a request is known once; if Redis is gone just then, it is told later."""
        try:
            return change()
        except Gone:
            self._leases.postpone(change)
            return default

    def _change(self, key: bytes, change: Callable[[Box], Result], hold_as: str = "") -> Result:
        while True:
            old, elsewhere = self._read(key), _Elsewhere(self._server)
            box, version = _box(old, key, elsewhere)
            result = change(box)
            # Counted, since the same class with other heirs elsewhere is not the same.
            new = _kept(box, key, version + elsewhere.has_changed)
            held = (hold_as, f"j{result}") if hold_as and isinstance(result, str) else ()
            if (new == old and not held) or self._swap(key, old, new, elsewhere, held):
                return result

    def _swap(self, key: bytes, old: str, new: str, elsewhere: _Elsewhere, held: tuple[str, ...]) -> bool:
        names: list[str | bytes] = [*map(self._server.key, ("classes", "with_heirs", "overflowed"))]
        names += [_list_of(self._server, key), self._server.held]
        arguments: list[str | bytes | int] = [key, old, new, "1" if _has_heirs(new) else ""]
        arguments += [elsewhere.taken, "1" if elsewhere.forgotten else ""]
        arguments += [len(elsewhere.added), *elsewhere.added, *held]
        return bool(self._server.run(scripts.SWAP, names, arguments))

    def _opened(self, key: bytes) -> Box:
        box, _ = _box(self._read(key), key, _Elsewhere(self._server))
        return box

    def _read(self, key: bytes) -> str:
        found: bytes | None = self._server.ask("hget", self._server.key("classes"), key)
        return "" if found is None else found.decode("ascii")


def _box(kept: str, key: bytes, elsewhere: _Elsewhere) -> tuple[Box, int]:
    """The one class that *kept* is of, and how often its heirs elsewhere have changed."""
    box: Box = WaitingClasses(elsewhere)
    if not kept:
        return box, 0
    plain, version = from_json(kept)
    box.load({key: plain}, lambda heir: heir)
    return box, version


def _kept(box: Box, key: bytes, version: int) -> str:
    plain = box.dump(lambda heir: heir).get(key)
    return "" if plain is None else to_json((plain, version))


def _has_heirs(kept: str) -> bool:
    return bool(kept) and any(from_json(kept)[0][1:3])


class SharedLandings:
    """Where redirects led, and where from: what `Succession` asks of a dict."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def setdefault(self, landed_on: bytes, origin: tuple[str, str]) -> tuple[str, str] | None:
        """None: from several classes."""
        name = self._server.key("landings")
        try:
            first = self._server.run(scripts.LANDED, (name,), (landed_on, to_json(tuple(origin))))
        except Gone:  # then it is taken for the first, and has to be confirmed by its next alias
            return origin
        return from_json(first) if first else None

    def __setitem__(self, landed_on: bytes, origin: None) -> None:
        with suppress(Gone):
            self._server.ask("hset", self._server.key("landings"), landed_on, "")

    def __len__(self) -> int:
        """Of none that would have to be forgotten."""
        return 0


class SharedCallbacks:
    """What asked not to be filtered, by key: what `Unfiltered` asks of a dict."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def get(self, key: bytes, default: tuple[str, ...]) -> tuple[str, ...]:
        found = self._server.ask("hget", self._server.key("unfiltered"), key)
        return default if found is None else tuple(json.loads(found))

    def __getitem__(self, key: bytes) -> tuple[str, ...]:
        return self.get(key, ())

    def __contains__(self, key: bytes) -> bool:
        return bool(self.get(key, ()))

    def __setitem__(self, key: bytes, callbacks: tuple[str, ...]) -> None:
        self._server.ask("hset", self._server.key("unfiltered"), key, json.dumps(callbacks))
