"""Shadow mode: what enforcing the rules would have saved, and what it would have lost.

All is fetched; so each page that would not have been is compared with the one that would have stood for it. Most
pages that are the same are so to the byte. Of the others the first few of each set of rules are looked at as
canaries are, and then a share of ``DUST_CANARY_RATE``.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from scrapy import signals

from scrapy_dust.crawl.canaries import Canaries
from scrapy_dust.crawl.requests import SHADOW, canary_of
from scrapy_dust.dust.blame import at_work
from scrapy_dust.dust.outcomes import Outcome
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request, Spider
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from scrapy_dust.crawl.canaries import Canary
    from scrapy_dust.crawl.filtering import Filtering
    from scrapy_dust.crawl.rules import CrawlRules
    from scrapy_dust.dust.rules import Rule

#: Of the URLs that the same rules would have filtered so many are looked at in any case.
FIRST_LOOKED_AT = 10

_STATS = {Outcome.SAME: Stat.SHADOW_SAME, Outcome.DIFFERENT: Stat.SHADOW_DIFFERENT}


class Shadow:
    """Of one crawl."""

    def __init__(self, crawler: Crawler, rules: CrawlRules, filtering: Filtering) -> None:
        self._crawler, self._rules, self._filtering = crawler, rules, filtering
        self._seen: set[bytes] = set()  #: keys that would have been seen
        self._looked_at: Counter[tuple[Rule, ...]] = Counter()
        self._canaries = Canaries(crawler, rules, self._concluded, SHADOW, self._is_looked_at)
        crawler.signals.connect(self._response_received, signal=signals.response_received)

    def watch(self, request: Request, key: bytes, chain: Iterable[bytes]) -> None:
        """*request* is let through; *key* is its class's, and *chain* are those of what redirected to it."""
        if key not in self._seen:
            self._seen.add(key)
            self._filtering.fetched(request, key)
        elif key not in chain:
            self._filtering.count(request, key)
            self._canaries.send(request, key, self._filtering.keeper(key))

    def _response_received(self, response: Response, request: Request, spider: Spider) -> None:
        if canary_of(request, SHADOW) is not None:
            self._crawler.stats.inc_value(Stat.SHADOW_BYTES.value, len(response.body))

    def _is_looked_at(self, canary: Canary) -> bool:
        rules = at_work(self._rules.canonizer, canary.url, canary.keeper)
        self._looked_at[rules] += 1
        return self._looked_at[rules] <= FIRST_LOOKED_AT or self._canaries.are_chosen(canary.url)

    def _concluded(self, canary: Canary, outcome: Outcome) -> None:
        self._crawler.stats.inc_value(_STATS.get(outcome, Stat.SHADOW_UNKNOWN).value)
