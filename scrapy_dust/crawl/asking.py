"""What a request asks a server for beside its URL: headers, cookies, its own cookie jar.

A server may answer two requests for one URL with two pages. Only headers and cookies that the spider sets count,
since downloader middlewares add headers later. So the crawl notes them in the request's meta when it queues the
request.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scrapy.http import Headers
from xxhash import xxh3_64_hexdigest

from scrapy_dust.crawl.requests import ASKED

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.settings import BaseSettings

#: Said by Scrapy, or of the crawler and not of the page.
_NOT_OF_THE_PAGE = frozenset({b"Referer", b"User-Agent", b"Accept-Encoding", b"Proxy-Authorization"})


class Asking:
    """Notes in each request of a crawl which headers and cookies the spider set. *by*: the setting ``DUST_CLASS_BY``."""

    def __init__(self, by: Sequence[str], settings: BaseSettings) -> None:
        self._by_headers, self._by_cookies = "any_headers" not in by, "any_cookies" not in by
        default = Headers(settings.getdict("DEFAULT_REQUEST_HEADERS"))
        self._usual = {name: default.getlist(name) for name in default}
        self._ignored = _NOT_OF_THE_PAGE
        if settings.getbool("COOKIES_ENABLED"):  # then Scrapy sets this header, whatever it was
            self._ignored |= {b"Cookie"}

    def note(self, request: Request) -> None:
        """Note the headers and cookies of *request* in its meta. A redirect keeps the note of the request it came from."""
        meta = request.meta
        if meta.get("redirect_urls"):
            return
        said = self._said(request)
        if said:
            meta[ASKED] = xxh3_64_hexdigest(repr(said).encode("utf-8", "surrogatepass"))
        elif ASKED in meta:  # copied from the request before
            del meta[ASKED]

    def _said(self, request: Request) -> list[object]:
        said: list[object] = []
        if self._by_headers and request.headers:
            said += sorted(
                (name, values)
                for name, values in request.headers.items()
                if name not in self._ignored and self._usual.get(name) != values
            )
        if self._by_cookies:
            jar = request.meta.get("cookiejar")
            said += [("cookies", request.cookies)] if request.cookies else []
            said += [("cookiejar", jar)] if jar is not None else []
        return said
