"""How many pages a crawl may fetch again to compare them: one for each fifty requests, and a few in any case."""

from __future__ import annotations

from scrapy.crawler import Crawler

from scrapy_dust.crawl.components import listen
from scrapy_dust.stats import Stat

#: Of the crawl's responses, so many more; and so many in any case.
_SHARE, _FREE = 0.02, 12
#: Of the crawl's responses, so many more are fetched before all others to show a rule where it is untested; and so many in any case.
_BEYOND_SHARE, _BEYOND_FREE = 0.01, 3
#: So many are asked for at most to compare two pages.
AT_MOST = 5


class Budget:
    """The number of pages that one crawl may still fetch again to compare them."""

    def __init__(self, crawler: Crawler) -> None:
        self._stats = crawler.stats
        self._responses = 0
        listen(crawler, self._response_received)

    def _response_received(self) -> None:
        self._responses += 1

    @property
    def left(self) -> float:
        """How many pages the crawl may fetch again now."""
        asked = self._stats.get_value(Stat.CONTROLS.value, 0)
        return float(_FREE + _SHARE * self._responses - asked)

    @property
    def most_beyond(self) -> float:
        """How many canaries may come before all others so far, where rules are in force and untested."""
        return _BEYOND_FREE + _BEYOND_SHARE * self._responses
