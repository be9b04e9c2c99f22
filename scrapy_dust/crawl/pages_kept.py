"""The latest pages of a crawl as they came, compressed: a page is parsed only when it is compared.

Two pages that are compared came at different times, and one may have changed in between. So equal pages prove that two
URLs show one page; different pages prove nothing, and an inquiry decides.
"""

from __future__ import annotations

import zlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from scrapy.http import Response, TextResponse
from xxhash import xxh3_64_intdigest

from scrapy_dust.crawl.components import Latest
from scrapy_dust.crawl.inquiries import read_fetched
from scrapy_dust.crawl.judges import Judges
from scrapy_dust.judge.answers import Fetched
from scrapy_dust.page.compare import Same
from scrapy_dust.settings import DustSettings

#: Bytes of all pages that are kept, packed; and of one page, not packed.
KEPT, LARGEST = 16_000_000, 2_000_000
#: A page counts as so many more for all that comes with it.
_BESIDE = 1000
#: Pages that were read last: a page of a class is compared with several.
_READ = 16


@dataclass(frozen=True, slots=True)
class _Page:
    """A page that is kept compressed."""

    response: Response  #: without its body
    packed: bytes
    body: int  #: a hash


class PagesKept:
    """The pages kept of one crawl, by the URLs of their requests."""

    def __init__(self, settings: DustSettings) -> None:
        self._ignore, self.judges = settings.ignore, Judges(settings)
        self._pages: OrderedDict[str, _Page] = OrderedDict()
        self._read: Latest[str, Fetched] = Latest(_READ)
        self._size = 0

    def keep(self, url: str, response: Response) -> None:
        """Keep *response* as the page of *url*; the oldest pages make room."""
        if url in self._pages or not response.body or len(response.body) > LARGEST:
            return
        packed = zlib.compress(response.body, 1)
        self._pages[url] = _Page(response.replace(body=b""), packed, body_hash(response))
        self._size += _BESIDE + len(packed)
        while self._size > KEPT:
            _, oldest = self._pages.popitem(last=False)
            self._size -= _BESIDE + len(oldest.packed)

    def has(self, url: str) -> bool:
        """Whether the page of *url* is kept."""
        return url in self._pages

    def has_bytes(self, url: str, body: int) -> bool:
        """Whether the page of *url* has exactly the bytes whose hash is *body*."""
        return url in self._pages and self._pages[url].body == body

    def page(self, url: str) -> Fetched | None:
        """The kept page of *url*, read; None if it is not kept any more, or has no text."""
        kept = self._pages.get(url)
        if kept is None:
            return None
        if url not in self._read:
            page = self.read(kept.response.replace(body=zlib.decompress(kept.packed)), url)
            if page is None:
                return None
            self._read[url] = page
        return self._read[url]

    def read(self, response: Response, url: str) -> Fetched | None:
        """The text of *response*, which came for *url*, read for comparison; None if it has no text, or too much."""
        if not isinstance(response, TextResponse) or len(response.body) > LARGEST:
            return None
        return read_fetched(response, url, self._ignore)

    def are_the_same(self, page: Fetched, keeper: str, key: Callable[[str], str]) -> bool:
        """Whether *page* equals the page kept for *keeper*; False if no page is kept.

        *key* gives the key of a URL: links to URLs of one key count as one link.
        """
        there = self.page(keeper)
        if there is None or page.shown is None or there.shown is None:
            return False
        judge = self.judges.judge_for(page.final_url)
        judge.learn(there)
        return judge.compare(page, there, key=key).same is Same.SAME


def body_hash(response: Response) -> int:
    """A hash of the bytes of *response*."""
    return xxh3_64_intdigest(response.body)
