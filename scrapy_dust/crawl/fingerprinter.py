"""`DustRequestFingerprinter`: gives the URLs of one page one fingerprint. The URL that is fetched does not change.

It asks the project's own fingerprinter about the canonical form of the request. A request that no rule changes keeps
the fingerprint that it had without rules. One exception: two URLs that a browser renders and that differ in their
fragments have different fingerprints unless a rule says otherwise.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from hashlib import sha1
from typing import Any, TypeVar

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.pipelines.media import MediaPipeline
from scrapy.statscollectors import StatsCollector
from scrapy.utils.misc import build_from_crawler, load_object
from scrapy.utils.request import RequestFingerprinterProtocol

from scrapy_dust.crawl import requests
from scrapy_dust.crawl.components import Component, Wrapper, counting, listen
from scrapy_dust.crawl.requests import is_plain
from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.crawl.scrapys_keys import are_known, scrapys_key, url_in_request
from scrapy_dust.stats import Stat

logger = logging.getLogger(__name__)

Result = TypeVar("Result")

_NOTHING = None, b""
_CANONIZED = Stat.CANONIZED.value


class DustRequestFingerprinter(Component, Wrapper):
    """Fingerprinter that follows the rules. Goes into ``REQUEST_FINGERPRINTER_CLASS``.

    Wraps the fingerprinter in ``DUST_FALLBACK_REQUEST_FINGERPRINTER_CLASS``.
    """

    def __init__(self, crawler: Crawler) -> None:
        rules = rules_of(crawler)
        super().__init__(crawler)
        inner = load_object(rules.settings.fallback_request_fingerprinter_class)
        self._inner: RequestFingerprinterProtocol = build_from_crawler(inner, crawler)
        self._is_known = are_known(self._inner)
        self._traced = rules.traced if rules.enforced else None
        self._canonize = rules.canonize
        self._keeps_fragments = rules.settings.enabled
        self._stats = crawler.stats
        self._count = counting(crawler.stats)
        # What was asked for last: several of us ask about one request, one after the other.
        self._last: tuple[Request | None, bytes] = _NOTHING
        #: The same without rules, and whether the request needs nothing but its URL.
        self._own: tuple[Request | None, bytes, bool] = None, b"", False
        rules.changed.append(self._forget_last)
        self._ignores_rules = False
        if rules.enforced:
            listen(crawler, self._spider_opened)

    def fingerprint(self, request: Request) -> bytes:
        if self._traced is None:
            return self._wrapped_fingerprint(request)
        if self._ignores_rules:
            return self.own(request)
        known, key = self._last
        if known is not request:
            key = self._class_fingerprint(request, self._traced)
            self._last = request, key
        return key

    def _forget_last(self) -> None:
        """Forget the last fingerprint, since the rules have changed."""
        self._last = _NOTHING

    def without_rules(self, ask: Callable[[Request], Result], request: Request) -> Result:
        """The result of ``ask(request)``. All fingerprints that *ask* asks for are those without rules."""
        self._ignores_rules = True
        try:
            return ask(request)
        finally:
            self._ignores_rules = False

    def own(self, request: Request) -> bytes:
        """The fingerprint that *request* has without any rule. Repeated calls for one request cost little."""
        known, key, _ = self._own
        if known is not request:
            is_known = self._is_known and is_plain(request)
            key = scrapys_key(request, request.url) if is_known else self._wrapped_fingerprint(request)
            self._own = request, key, is_known
        return key

    def _class_fingerprint(self, request: Request, traced: Callable[[str], tuple[str, Any, Any]]) -> bytes:
        """The fingerprint of *request*'s canonical form; its own one if no rule changes it."""
        known, _, is_known = self._own
        if is_known if known is request else self._is_known and is_plain(request):
            url = request.url
            form = requests.beside_fragment(url, self._canonize) if "#" in url else traced(url)[0]
            if form == url:
                return self.own(request)
            try:
                key = scrapys_key(request, url_in_request(form, request.encoding))
            except ValueError:  # a form that is no URL: what comes of it is decided, and counted, below
                pass
            else:
                self._count(_CANONIZED)
                return key
        own = self._wrapped_fingerprint
        return class_key(request, self._canonize, own, self._stats) or own(request)

    def _spider_opened(self) -> None:
        """Give media pipelines the fingerprinter that is wrapped: they download each file once per fingerprint.

        If a rule for pages also merged the URLs of two files, the second item would get the first item's file, and a
        media request looks like any other here.
        """
        engine = self._crawler.engine
        for pipeline in engine.scraper.itemproc.middlewares if engine is not None else ():
            if isinstance(pipeline, MediaPipeline) and pipeline._fingerprinter is self:
                pipeline._fingerprinter = self._inner

    def _wrapped_fingerprint(self, request: Request) -> bytes:
        """The wrapped fingerprinter's result, with the fragment where a browser's scripts may read it."""
        key = self._inner.fingerprint(request)
        fragment = requests.fragment_for_scripts(request) if self._keeps_fragments else ""
        if not fragment:
            return key
        try:
            is_left_out = self._inner.fingerprint(requests.without_fragment(request)) == key
        except TypeError:  # a subclass of Request that replace() cannot make
            is_left_out = True
        # Scrapy's own leaves fragments out; those of renderers do not, and are believed.
        if not is_left_out:
            return key
        return sha1(key + fragment.encode("utf-8", "surrogatepass"), usedforsecurity=False).digest()


def class_key(
    request: Request,
    canonize: Callable[[str], str],
    fingerprint: Callable[[Request], bytes],
    stats: StatsCollector,
) -> bytes | None:
    """The fingerprint of *request*'s canonical form; None if no rule changes *request*, or it cannot be canonized."""
    try:
        canonical = requests.canonical_request(request, canonize)
        if canonical is request:
            return None
        key = fingerprint(canonical)
    except Exception:  # whatever a subclass of Request raises from replace(), or the fallback for such a URL
        # The request as it is: fetching a page twice is allowed, losing it is not.
        stats.inc_value(Stat.CANONIZE_ERRORS.value)
        logger.debug("Could not canonize %(request)s.", {"request": request}, exc_info=True)
        return None
    stats.inc_value(Stat.CANONIZED.value)
    return key
