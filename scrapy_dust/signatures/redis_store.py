"""Signatures in Redis, for workers on many machines (``scrapy-dust[redis]``).

Under a prefix, by default ``dust:pages:``: ``s:`` and a signature → its keeper, ``u:`` and a URL's hash → what it
shows, ``n:`` → its shingles, ``b:`` and a band → hashes of URLs. If two workers fetch copies at the same time, one
command to Redis decides which was first.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

import numpy as np
from xxhash import xxh3_128_digest

from scrapy_dust.errors import SignatureStoreError
from scrapy_dust.signatures.copies import Face, Kind
from scrapy_dust.signatures.store_interface import (
    DAY,
    KINDS,
    MOST_CANDIDATES,
    KeeperPage,
    Outline,
    Row,
    Signatures,
)

PREFIX = "dust:pages:"
#: Seconds that a crawl waits for an answer.
_PATIENCE = 5.0
_PAGE = struct.Struct(">BQ")
_OUTLINE = struct.Struct(">QHH")
_SIGNATURE = 16


class RedisStore:
    """A store of signatures in Redis, at a URL that redis-py takes; ``?prefix=…`` chooses other keys."""

    def __init__(self, url: str, keep_days: int | None = None) -> None:
        parts = urlsplit(url)
        options = dict(parse_qsl(parts.query))
        self._prefix = options.pop("prefix", PREFIX).encode()
        query = "&".join(f"{name}={value}" for name, value in options.items())
        self.url = urlunsplit(parts._replace(query=query))
        #: For messages: without a password.
        self._where = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2], query=""))
        self._redis = _redis()
        self._lifetime = None if keep_days is None else keep_days * DAY
        with self._errors_in_words():
            self._server = self._redis.Redis.from_url(
                self.url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE
            )
            self._server.ping()

    def find(self, signature: bytes) -> KeeperPage | None:
        """The keeper of *signature*; None if there is none."""
        with self._errors_in_words():
            url = self._server.get(self._key(b"s:", signature))
            page = None if url is None else self._server.get(self._key_of_url(b"u:", url))
        if url is None or page is None or signature not in _unpack_signatures(page):
            return None
        return KeeperPage(url.decode("utf-8", "surrogatepass"), KINDS[_PAGE.unpack_from(page)[0]])

    def shown(self, url: str) -> Signatures | None:
        """The signatures that *url* showed last; None where Redis does not know the URL."""
        with self._errors_in_words():
            page = self._server.get(self._key_of_url(b"u:", _encoded(url)))
        return None if page is None else _unpack_signatures(page)

    def keep(self, url: str, signatures: Signatures, kind: Kind, *, claim: bool = True) -> KeeperPage | None:
        """Save that *url* shows *signatures*. Returns the keeper of the last signature if another worker has saved one meanwhile."""
        encoded = _encoded(url)
        page = _PAGE.pack(KINDS.index(kind), int(time.time())) + b"".join(signatures)
        with self._errors_in_words():
            pipe = self._server.pipeline(transaction=False)
            pipe.set(self._key_of_url(b"u:", encoded), page, ex=self._lifetime)
            for signature in signatures:
                pipe.set(self._key(b"s:", signature), encoded, ex=self._lifetime, nx=True, get=True)
            _, *keepers = pipe.execute()
        known = None
        for signature, keeper in zip(signatures, keepers, strict=True):
            known = None if keeper in (None, encoded) else self.find(signature)
            if keeper not in (None, encoded) and known is None:
                # Its keeper shows something else by now.
                with self._errors_in_words():
                    self._server.set(self._key(b"s:", signature), encoded, ex=self._lifetime)
        return known

    def release(self, url: str) -> None:
        """Forget what *url* shows, so that the next page with its content becomes the keeper."""
        encoded = _encoded(url)
        with self._errors_in_words():
            self._server.delete(self._key_of_url(b"u:", encoded), self._key_of_url(b"n:", encoded))

    def near(self, bands: Sequence[int]) -> list[Outline]:
        """The outlines of pages that share one of *bands*: candidates for near-duplicates."""
        with self._errors_in_words():
            pipe = self._server.pipeline(transaction=False)
            for band in bands:
                pipe.srandmember(self._key_of_band(band), MOST_CANDIDATES)
            found = dict.fromkeys(hashed for band in pipe.execute() for hashed in band)
            keys = [self._key(b"n:", hashed) for hashed in list(found)[:MOST_CANDIDATES]]
            outlines = self._server.mget(keys) if keys else []
        return [_unpack_outline(packed) for packed in outlines if packed is not None]

    def keep_near(self, outline: Outline, bands: Sequence[int]) -> None:
        """Save the *outline* of a page, so that `near` finds it by each of *bands*."""
        encoded = _encoded(outline.url)
        hashed = xxh3_128_digest(encoded)
        with self._errors_in_words():
            pipe = self._server.pipeline(transaction=False)
            pipe.set(self._key(b"n:", hashed), _pack_outline(outline, encoded), ex=self._lifetime)
            for band in bands:
                pipe.sadd(self._key_of_band(band), hashed)
                if self._lifetime is not None:
                    pipe.expire(self._key_of_band(band), self._lifetime)
            pipe.execute()

    def flush(self) -> None:
        """Do nothing: Redis has every page as soon as it is kept."""

    def close(self) -> None:
        self._server.close()

    def rows(self) -> Iterator[Row]:
        """All pages of the store, in no order."""
        with self._errors_in_words():
            for key in self._server.scan_iter(match=self._prefix + b"s:*", count=1000):
                url, signature = self._server.get(key), key[len(self._prefix) + 2 :]
                page = None if url is None else self._server.get(self._key_of_url(b"u:", url))
                # Of two signatures of a page the last stands for it.
                if page is not None and _unpack_signatures(page)[-1:] == (signature,):
                    kind, seen = _PAGE.unpack_from(page)
                    yield Row(
                        url.decode("utf-8", "surrogatepass"), _unpack_signatures(page), KINDS[kind], seen
                    )

    def take(self, rows: Iterable[Row]) -> int:
        """Add the pages *rows* of another store, unless this store has seen them later. Returns how many were added."""
        taken = 0
        for row in rows:
            if self.shown(row.url) is None:
                self.keep(row.url, row.signatures, row.kind)
                taken += 1
        return taken

    def purge(self, urls: Iterable[str]) -> int:
        """Remove the pages *urls*. Returns how many of them the store had."""
        gone = 0
        for url in urls:
            signatures = self.shown(url)
            if signatures is None:
                continue
            self.release(url)
            with self._errors_in_words():
                for signature in signatures:
                    if self._server.get(self._key(b"s:", signature)) == _encoded(url):
                        self._server.delete(self._key(b"s:", signature))
            gone += 1
        return gone

    def _key(self, what: bytes, name: bytes) -> bytes:
        return self._prefix + what + name

    def _key_of_url(self, what: bytes, url: bytes) -> bytes:
        return self._key(what, xxh3_128_digest(url))

    def _key_of_band(self, band: int) -> bytes:
        return self._key(b"b:", band.to_bytes(8, "big"))

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Raise errors of Redis as `SignatureStoreError`."""
        try:
            yield
        except (self._redis.RedisError, ValueError) as error:  # ValueError: a URL that cannot be
            raise SignatureStoreError(self._where, f"{str(error).rstrip('.')}.") from error


def _redis() -> Any:
    """The module of redis-py. Raises `SignatureStoreError` if it is not installed."""
    try:
        import redis  # noqa: PLC0415
    except ImportError:
        raise SignatureStoreError(
            "DUST_CONTENT_STORE",
            "a store in Redis needs redis-py. Install it with `pip install scrapy-dust[redis]`.",
        ) from None
    module: ModuleType = redis
    return module


def _encoded(url: str) -> bytes:
    return url.encode("utf-8", "surrogatepass")


def _unpack_signatures(page: bytes) -> Signatures:
    packed = page[_PAGE.size :]
    return tuple(packed[at : at + _SIGNATURE] for at in range(0, len(packed), _SIGNATURE))


def _pack_outline(outline: Outline, url: bytes) -> bytes:
    canonical = (outline.face.canonical or "").encode("utf-8", "surrogatepass")[: 1 << 15]
    head = _OUTLINE.pack(outline.face.heading, len(url), len(canonical))
    return head + url + canonical + outline.shingles.astype("<u8").tobytes()


def _unpack_outline(packed: bytes) -> Outline:
    heading, of_url, of_canonical = _OUTLINE.unpack_from(packed)
    middle, end = _OUTLINE.size + of_url, _OUTLINE.size + of_url + of_canonical
    canonical = packed[middle:end].decode("utf-8", "surrogatepass") or None
    shingles = np.frombuffer(packed[end:], "<u8").astype(np.uint64)
    return Outline(
        packed[_OUTLINE.size : middle].decode("utf-8", "surrogatepass"), Face(heading, canonical), shingles
    )
