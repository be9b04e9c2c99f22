"""What rules filtered: told from what Scrapy alone would have filtered, counted by rule, and named in the log."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import xxhash
from scrapy import Request
from w3lib.url import canonicalize_url

from scrapy_dust.crawl.requests import runs_scripts
from scrapy_dust.crawl.rules import CrawlRules, names
from scrapy_dust.stats import RULES_COUNTED, Stat

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: So many classes remember the URL that was fetched for them, to be named when an alias is filtered: some 20 MB.
#: For the others the canonical form is named.
FETCHED_REMEMBERED = 100_000


class Filtering:
    """Of one crawl."""

    def __init__(self, crawler: Crawler, rules: CrawlRules) -> None:
        self._crawler = crawler
        self._rules = rules
        self._stat = Stat.FILTERED if rules.enforced else Stat.SHADOW_FILTERED
        self._counted: set[str] = set()  #: ids of rules that have a stat of their own
        self.asked: set[int] = set()  #: hashes of URLs
        self._fetched: dict[bytes, str] = {}  #: key → URL, the oldest first

    def is_first(self, request: Request, key: bytes) -> bool:
        """Whether Scrapy alone would not have filtered *request*; True once for each URL."""
        if self._rules.canonize(request.url) == request.url:
            asked = int.from_bytes(key[:8], "big")
        else:
            # As Scrapy's own fingerprinter compares URLs. A whole fingerprint would cost as much again.
            as_compared = canonicalize_url(request.url, keep_fragments=runs_scripts(request))
            asked = _hash(request.method + as_compared)
        if asked in self.asked:
            return False
        self.asked.add(asked)
        return True

    def fetched(self, request: Request, key: bytes) -> None:
        """*request* is let through, and is the one of its class that is named from now on."""
        self._fetched[key] = request.url
        if len(self._fetched) > FETCHED_REMEMBERED:
            del self._fetched[next(iter(self._fetched))]

    def is_canary(self, url: str) -> bool:
        """Chosen by a hash, so that it is the same URLs whenever and wherever the crawl runs."""
        return _hash(url) < self._rules.settings.canary_rate * 2**64

    def count(self, request: Request, key: bytes) -> None:
        """A rule filtered *request*, or would have in shadow mode."""
        stats = self._crawler.stats
        stats.inc_value(self._stat.value)
        fetched = self._fetched.get(key)
        # A URL that is its own canonical form was filtered by the rules that changed the one fetched instead.
        by = self._rules.explain(request.url) or self._rules.explain(fetched or request.url)
        for identity in {identity for identity, _ in by} or {"others"}:
            stats.inc_value(f"{self._stat}/{self._counted_as(identity)}")
        logger.debug(
            "%(verb)s %(request)s: %(rules)s makes it the page of %(url)s.",
            {
                "verb": "Filtered" if self._rules.enforced else "Would filter",
                "request": request,
                "rules": names(by) or "a rule",
                "url": fetched or self._rules.canonize(request.url),
            },
            extra={"spider": self._crawler.spider},
        )

    def _counted_as(self, identity: str) -> str:
        if identity in self._counted:
            return identity
        if len(self._counted) >= RULES_COUNTED:
            return "others"
        self._counted.add(identity)
        return identity


def _hash(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))
