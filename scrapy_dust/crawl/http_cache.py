"""`DustCacheStorage`: the HTTP cache keeps each response by its URL, although the URLs of one class share a
fingerprint.

If the cache went by class, the request for a second URL of a page would be answered with the failure of the first, a
redirect inside a class would be answered with itself, and the spider would get the page of a URL it did not ask for.
"""

from __future__ import annotations

import logging

from scrapy import Request, Spider
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from scrapy_dust.crawl.components import Wrapper
from scrapy_dust.crawl.requests import AFTER_FAILURE, OPT_OUT, canonical_request
from scrapy_dust.crawl.rules import CrawlRules, rules_of
from scrapy_dust.settings import DustSettings

logger = logging.getLogger(__name__)


def goes_by_key(crawler: Crawler) -> bool:
    """Whether the project's HTTP cache keeps responses by class, because it does not use `DustCacheStorage`."""
    settings = crawler.settings
    if not settings.getbool("HTTPCACHE_ENABLED"):
        return False
    if DustCacheStorage in load_object(settings["HTTPCACHE_STORAGE"]).__mro__:
        return False
    if rules_of(crawler).enforced:
        logger.warning(
            "The HTTP cache may answer a request with the page of another URL: set HTTPCACHE_STORAGE to "
            "scrapy_dust.DustCacheStorage, as the add-on does."
        )
    return True


class DustCacheStorage(Wrapper):
    """Cache storage that keeps responses by URL, not by class. Goes into ``HTTPCACHE_STORAGE``.

    Wraps the storage in ``DUST_FALLBACK_HTTPCACHE_STORAGE``.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._inner = load_object(DustSettings.from_settings(settings).fallback_httpcache_storage)(settings)
        self._rules: CrawlRules | None = None  #: where they are enforced

    def open_spider(self, spider: Spider) -> None:
        rules = rules_of(spider.crawler)
        self._rules = rules if rules.enforced else None
        self._inner.open_spider(spider)

    def retrieve_response(self, spider: Spider, request: Request) -> Response | None:
        found: Response | None = self._inner.retrieve_response(spider, self._as_itself(request))
        if found is None or found.url == request.url:
            return found
        # Scrapy's own canonicalization makes two URLs equal: *found* is the redirect that led here, or what failed
        # before the project asked for this URL, which has an answer of its own.
        is_another = request.meta.get("redirect_urls") or request.meta.get(AFTER_FAILURE) == request.url
        return None if is_another else found

    def store_response(self, spider: Spider, request: Request, response: Response) -> None:
        self._inner.store_response(spider, self._as_itself(request), response)

    def _as_itself(self, request: Request) -> Request:
        """A copy of *request* whose fingerprint is that of its own URL, without rules."""
        if self._rules is None:
            return request
        try:
            is_own = canonical_request(request, self._rules.canonize) is request
            return request if is_own else request.replace(meta={**request.meta, OPT_OUT: False})
        except TypeError:  # a subclass of Request that wants more; it is not canonized either
            return request
