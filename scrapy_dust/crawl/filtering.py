"""What rules filtered: told from what Scrapy alone would have filtered, counted by rule, and named in the log."""

from __future__ import annotations

import logging
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import xxhash
from scrapy import Request

from scrapy_dust.crawl.requests import runs_scripts
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.scrapys_keys import as_compared
from scrapy_dust.dust.blame import at_work
from scrapy_dust.dust.rules import Rule
from scrapy_dust.rule_book.entries import rule_id
from scrapy_dust.stats import RULES_COUNTED, Stat

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: So many classes remember the URL that was fetched for them, to be named when an alias is filtered: some 40 MB.
#: For the others the canonical form is named.
FETCHED_REMEMBERED = 100_000


#: A rule with its id.
Behind = tuple[str, Rule]


class Filtering:
    """Of one crawl."""

    def __init__(self, crawler: Crawler, rules: CrawlRules) -> None:
        self._crawler = crawler
        self._rules = rules
        self._stat = Stat.FILTERED if rules.enforced else Stat.SHADOW_FILTERED
        self._counted: set[str] = set()  #: ids of rules that have a stat of their own
        self.asked: set[int] = set()  #: hashes of URLs
        #: Key → URL, the oldest first. A plain dict would look for its oldest past all that it has forgotten.
        self._fetched: OrderedDict[bytes, str] = OrderedDict()
        #: What `behind` was asked last, which several ask of each request that is filtered.
        self._last: tuple[tuple[str, bytes] | None, tuple[Behind, ...]] = (None, ())

    def is_first(self, request: Request, key: bytes) -> bool:
        """Whether Scrapy alone would not have filtered *request*; True once for each URL."""
        asked = self._asked(request, key)
        if asked in self.asked:
            return False
        self.asked.add(asked)
        return True

    def forget(self, request: Request, key: bytes) -> None:
        """As if *request* had never been asked for."""
        self.asked.discard(self._asked(request, key))

    def _asked(self, request: Request, key: bytes) -> int:
        if self._rules.canonize(request.url) == request.url:
            return int.from_bytes(key[:8], "big")
        # A whole fingerprint would cost as much again.
        compared = as_compared(request.url, keep_fragments=runs_scripts(request))
        return _hash(request.method + compared)

    def fetched(self, request: Request, key: bytes) -> None:
        """*request* is let through, and is the one of its class that is named from now on."""
        self._fetched[key] = request.url
        if len(self._fetched) > FETCHED_REMEMBERED:
            self._fetched.popitem(last=False)

    def keeper(self, key: bytes) -> str | None:
        """The URL that is named as fetched for a class."""
        return self._fetched.get(key)

    def behind(self, url: str, key: bytes) -> tuple[Behind, ...]:
        """The rules that make *url* and its keeper one class, each with its id."""
        # The keeper's too: a URL that is its own canonical form was filtered by the rules that changed the other.
        if self._last[0] != (url, key):
            site = self._rules.site_of(url) or ""
            rules = at_work(self._rules.canonizer, url, self._fetched.get(key, url))
            self._last = (url, key), tuple((rule_id(site, rule), rule) for rule in rules)
        return self._last[1]

    def count(self, request: Request, key: bytes) -> None:
        """A rule filtered *request*, or would have in shadow mode."""
        by = self.behind(request.url, key)
        self._crawler.stats.inc_value(self._stat.value)
        for identity in [identity for identity, _ in by] or ["others"]:
            self._crawler.stats.inc_value(f"{self._stat}/{self._counted_as(identity)}")
        logger.debug(
            "%(verb)s %(request)s: %(rules)s makes it the page of %(url)s.",
            {
                "verb": "Filtered" if self._rules.enforced else "Would filter",
                "request": request,
                "rules": ", ".join(f"{rule} [{identity}]" for identity, rule in by) or "a rule",
                "url": self._fetched.get(key) or self._rules.canonize(request.url),
            },
            extra={"spider": self._crawler.spider},
        )

    def uncount(self, request: Request, rules: Sequence[str]) -> None:
        """*request*, filtered by *rules*, comes again, as if for the first time."""
        self._crawler.stats.inc_value(self._stat.value, -1)
        for identity in rules or ["others"]:
            self._crawler.stats.inc_value(f"{self._stat}/{self._counted_as(identity)}", -1)
        self.asked.discard(self._asked(request, self._crawler.request_fingerprinter.fingerprint(request)))

    def fetched_because_of(self, site: str, rule: Rule) -> list[str]:
        """The URLs fetched whose key is what it is because of *rule*."""
        urls = [url for url in self._fetched.values() if self._rules.site_of(url) == site]
        return [url for url in urls if any(step.rule == rule for _, step in self._rules.explain(url))]

    def _counted_as(self, identity: str) -> str:
        if identity in self._counted:
            return identity
        if len(self._counted) >= RULES_COUNTED:
            return "others"
        self._counted.add(identity)
        return identity


def _hash(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))
