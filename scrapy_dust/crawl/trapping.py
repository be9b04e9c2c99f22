"""Traps in a crawl that learns: what looks like one is fetched last, and what is one is not fetched any more.

What is not fetched is kept, and named in the journal, like anything that rules suppress. It is fetched after all when a
page that is no trap's links to it, and when its site shows something new again.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from xxhash import xxh3_64_hexdigest, xxh3_64_intdigest

from scrapy_dust.crawl.requests import LET_THROUGH, follows_rules
from scrapy_dust.crawl.returning import Returning
from scrapy_dust.online.traps import Fate, Traps, form_of
from scrapy_dust.stats import Stat
from scrapy_dust.text.reading import read_text
from scrapy_dust.text.words import split_words

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_dust.crawl.journal import Suppressions

logger = logging.getLogger(__name__)

#: Of a page that is read while the crawl goes on; a longer one counts as new.
_MAX_BYTES = 256 * 1024


class Trapping:
    """Of one crawl; *limit* as in ``DUST_TRAP_LIMIT``, 0: nothing is looked at."""

    def __init__(self, crawler: Crawler, suppressions: Suppressions, limit: int) -> None:
        self._crawler, self._suppressions, self._limit = crawler, suppressions, limit
        self._traps = Traps(limit) if limit else None
        self._returning = Returning(crawler)
        self._vouched, self._capped = _Some(), _Some()  #: keys
        self._said: set[str] = set()  #: ids of forms that were warned of

    def response_received(self, response: Response, request: Request) -> None:
        """A page has come."""
        if self._traps is None:
            return
        parent = _parent(request) if self._traps.asks_for_parents else None
        for form in self._traps.came(request.url, parent, lambda: _words(response)):
            self._returning.add(self._again(trap_id(form)))

    def is_last(self, request: Request) -> bool:
        """Whether *request* comes after all that does not look like a trap."""
        return self._fate(request) is not Fate.FETCH

    def is_capped(self, request: Request) -> bool:
        """Whether *request*, whose turn has come, is not fetched; then it is counted and kept."""
        if self._fate(request) is not Fate.CAP:
            return False
        form = form_of(request.url)
        if not self._suppressions.add(request, form, (trap_id(form),), None):
            return False
        self._capped.add(_key(request))
        self._crawler.stats.inc_value(Stat.CAPPED.value)
        self._say(form, request.url)
        return True

    def refused(self, request: Request) -> Request | None:
        """*request* is a duplicate. What is to be queued in its stead: itself, if what it is a duplicate of was capped."""
        if self._traps is None or not _is_watched(request) or not request.meta.get(LET_THROUGH):
            return None
        parent, key = _parent(request), _key(request)
        if parent is None or key in self._vouched or form_of(parent) == form_of(request.url):
            return None
        if self._traps.fate(request.url, parent) is not Fate.FETCH:
            return None
        self._vouched.add(key)
        return request.replace(dont_filter=True) if key in self._capped else None

    def _fate(self, request: Request) -> Fate:
        if self._traps is None or not self._traps.suspects_any or not _is_watched(request):
            return Fate.FETCH
        fate = self._traps.fate(request.url, _parent(request))
        return Fate.FETCH if fate is not Fate.FETCH and _key(request) in self._vouched else fate

    def _again(self, identity: str) -> Iterator[Request]:
        for _, request in self._suppressions.suppressed_by(identity):
            self._suppressions.given_back(request.url, (identity,), "its site shows something new again")
            self._crawler.stats.inc_value(Stat.CAPPED.value, -1)
            yield request.replace(dont_filter=True)

    def _say(self, form: str, url: str) -> None:
        identity = trap_id(form)
        if identity in self._said:
            return
        self._said.add(identity)
        logger.warning(
            "A trap: the last %(limit)d pages like %(url)s (%(form)s) said nothing new and led to nothing else, so that "
            "no more are fetched from there (stat %(stat)s); `scrapy dustrules requeue %(id)s` has the next crawl fetch "
            "them, DUST_TRAP_LIMIT sets how many are fetched first, and 0 all.",
            {"limit": self._limit, "url": url, "form": form, "stat": Stat.CAPPED.value, "id": identity},
            extra={"spider": self._crawler.spider},
        )


class _Some:
    """A set of keys in 4 MB; of one in some hundreds it says that it has it, though it has not."""

    _BITS = 25

    def __init__(self) -> None:
        self._bits: bytearray | None = None

    def add(self, key: bytes) -> None:
        self._bits = self._bits or bytearray(1 << (self._BITS - 3))
        place = xxh3_64_intdigest(key) >> (64 - self._BITS)
        self._bits[place >> 3] |= 1 << (place & 7)

    def __contains__(self, key: bytes) -> bool:
        place = xxh3_64_intdigest(key) >> (64 - self._BITS)
        return self._bits is not None and bool(self._bits[place >> 3] >> (place & 7) & 1)


def trap_id(form: str) -> str:
    """By which the journal and ``dustrules requeue`` know it."""
    return f"trap-{xxh3_64_hexdigest(form.encode('utf-8', 'surrogatepass'))[:10]}"


def _is_watched(request: Request) -> bool:
    return follows_rules(request) and not request.dont_filter


def _parent(request: Request) -> str | None:
    referer = request.headers.get("Referer")
    return None if referer is None else referer.decode("latin-1")


def _key(request: Request) -> bytes:
    let_through: list[str] = request.meta.get(LET_THROUGH) or [request.url]
    return let_through[0].encode("utf-8", "surrogatepass")


def _words(response: Response) -> Sequence[bytes] | None:
    if len(response.body) > _MAX_BYTES:
        return None
    content_type = (response.headers.get("Content-Type") or b"").decode("latin-1")
    read = read_text(response.body, content_type, None, response.url)
    if read is None:
        return None
    return split_words(f"{read[0].title or ''} {read[0].text}")[0]
