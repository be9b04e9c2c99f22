"""`TwoWayMiddleware`: the two-way check of Mahajan, Gupta and Bedi (2015) as printed (``DUST_CONTENT_DEDUP =
"paper"``).

Steps 3 to 6 of the paper: a link is normalized in the standard way, and dropped if the xxHash of its URL is in the database;
else the hash is stored. A fetched page is dropped if the xxHash of its text is in the database; else the hash is
stored. The database outlives the crawl.

The check exists to be compared with `content_dedup.py`, and lacks its care: a page that failed is known all the same,
of all pages with one text only the first is kept, be it a login or an empty listing, and links of a copy are not
followed.

The paper leaves two things open. Here start requests are always fetched, and the text is that of title and body.
"""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from w3lib.url import canonicalize_url
from xxhash import xxh64_digest

from scrapy_dust.crawl.answer_records import body_of, yield_nothing
from scrapy_dust.crawl.components import Component, listen
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.stats import Stat

FILE = "two-way.sqlite"
_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS signature (kind TEXT, hash BLOB, PRIMARY KEY (kind, hash)) WITHOUT ROWID"
)


class TwoWayMiddleware(Component):
    """Spider middleware for the paper's two-way check. Goes into ``SPIDER_MIDDLEWARES`` at 955."""

    def __init__(self, crawler: Crawler) -> None:
        settings = rules_of(crawler).settings
        if not settings.enabled or settings.content_dedup != "paper":
            raise NotConfigured
        # numpy and the parser, which a crawl without this need not load
        from scrapy_dust.page.sketch import describe  # noqa: PLC0415

        self._describe, self._stats = describe, crawler.stats
        folder = log_dir(settings.dir).parent
        folder.mkdir(parents=True, exist_ok=True)
        self._base = sqlite3.connect(folder / FILE, isolation_level=None)
        self._base.execute("PRAGMA synchronous = OFF")
        self._base.execute(_SCHEMA)
        listen(crawler, self._spider_closed)

    def _spider_closed(self) -> None:
        self._base.close()

    def process_spider_input(self, response: Response) -> None:
        if response.request is None or response.status != 200:
            return
        body = body_of(response.request, response)
        text = self._describe(body.content, body.content_type, body.encoding, response.url).text_digest
        if self._is_new("content", text.encode()):
            self._stats.inc_value(Stat.CONTENTS.value)
        else:
            self._stats.inc_value(Stat.COPIES_DROPPED.value)
            response.request = response.request.replace(callback=yield_nothing)

    async def process_spider_output(
        self, response: Response, result: AsyncIterator[Any]
    ) -> AsyncIterator[Any]:
        async for one in result:
            if self._lets_through(one):
                yield one

    def _lets_through(self, one: Any) -> bool:
        if not isinstance(one, Request) or self._is_new("url", canonicalize_url(one.url).encode()):
            return True
        self._stats.inc_value(Stat.KNOWN_SKIPPED.value)
        return False

    def _is_new(self, kind: str, said: bytes) -> bool:
        """Add the hash of *said*, a URL or a text by its *kind*, to the database. Returns whether it was new."""
        row = (kind, xxh64_digest(said))
        return self._base.execute("INSERT OR IGNORE INTO signature VALUES (?, ?)", row).rowcount > 0
