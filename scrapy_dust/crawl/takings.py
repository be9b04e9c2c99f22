"""Keeps for a while what a crawl's callbacks took, to compare canaries with their keepers (``DUST_SAME = "items"``).

A fetch of our own has no callback. So canaries are compared only by what callbacks of the crawl itself took.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from scrapy import Request
from scrapy.crawler import Crawler

from scrapy_dust.crawl.components import Latest, listen
from scrapy_dust.crawl.requests import canary_of, target_url
from scrapy_dust.crawl.rules import CrawlRules
from scrapy_dust.crawl.taken import TAKEN
from scrapy_dust.page.places import VALUE, url_value
from scrapy_dust.page.taking import Taken
from scrapy_dust.visits.outcomes import Outcome

if TYPE_CHECKING:
    from scrapy_dust.crawl.canaries import Canary
    from scrapy_dust.page.volatile import Volatile

#: Pages kept, the latest; and canaries that wait for what is taken from them, or from their keepers.
KEPT, WAITING = 20_000, 4000


@dataclass(frozen=True, slots=True)
class _Kept:
    """The units that a callback took from one page."""

    url: str
    units: array[int]  #: of what links lead to, the value is that of its key


class Takings:
    """Compares the canaries of one crawl. *concluded* is called with each result; *mark* is the canaries' key in meta."""

    def __init__(
        self,
        crawler: Crawler,
        rules: CrawlRules,
        concluded: Callable[[Canary, Outcome], None],
        mark: str,
    ) -> None:
        self._rules, self._mark, self._concluded = rules, mark, concluded
        self._kept: Latest[str, _Kept | None] = Latest(KEPT)  # by URL; None: the callback failed
        self._waiting: dict[str, Canary] = {}  # by its URL
        self._for_keeper: dict[str, list[str]] = {}  # by the keeper's, the canaries that have come
        crawler.signals.connect(self._taken, signal=TAKEN)
        listen(crawler, self._spider_idle)

    def judge(self, canary: Canary) -> None:
        """Take note that the page of *canary* has come. The canary is judged when its callback is done."""
        if len(self._waiting) >= WAITING:
            self._concluded(canary, Outcome.UNKNOWN)
        else:
            self._waiting[canary.url] = canary
            self._kept.pop(canary.url, None)

    def _taken(self, request: Request, taken: Taken | None) -> None:
        """Keep what the callback for *request* has *taken*, and judge canaries that waited for it."""
        canary = canary_of(request, self._mark)
        kept = None if taken is None else _Kept(taken.url, array("Q", self._by_keys(taken)))
        urls = [target_url(request), *request.meta.get("redirect_urls", ())[:1]]
        if taken is not None:
            urls.append(taken.url)
        if canary is not None:
            urls.append(canary["url"])
        for url in dict.fromkeys(urls):
            self._kept.pop(url, None)
            self._kept[url] = kept
            self._compare(url)

    def _by_keys(self, taken: Taken) -> list[int]:
        """The units of *taken*, in which links of one class are equal."""
        keyed = {
            unit: unit & ~0xFFFFFFFF | url_value(self._rules.canonize(url)) & VALUE
            for unit, url in taken.links.items()
        }
        return [keyed.get(unit, unit) for unit in taken.units]

    def _compare(self, url: str) -> None:
        """Compare the items of the canary *url* with those of its keeper, or of all canaries that wait for the keeper *url*."""
        for one in [url, *self._for_keeper.pop(url, ())]:
            canary = self._waiting.get(one)
            if canary is None or one not in self._kept:
                continue
            if canary.keeper in self._kept:
                del self._waiting[one]
                self._concluded(canary, self._outcome(self._kept[one], self._kept[canary.keeper]))
            else:
                self._for_keeper.setdefault(canary.keeper, []).append(one)

    def _outcome(self, here: _Kept | None, there: _Kept | None) -> Outcome:
        """Whether *here* and *there* are equal, apart from places that change at each fetch."""
        if here is None or there is None:
            return Outcome.UNKNOWN
        # Not loaded before: it brings all that compares pages.
        from scrapy_dust.page.compare import Answer, Same, compare  # noqa: PLC0415
        from scrapy_dust.page.knowledge import Knowledge  # noqa: PLC0415
        from scrapy_dust.page.units import units_of  # noqa: PLC0415
        from scrapy_dust.page.volatile import NOTHING_VOLATILE  # noqa: PLC0415

        volatile = self._volatile.get(self._rules.site_of(here.url) or "", NOTHING_VOLATILE)
        a, b = (Answer(self._rules.canonize(one.url), units_of(one.units)) for one in (here, there))
        same = compare(a, b, Knowledge(volatile=volatile, of_items=True)).same
        return {Same.SAME: Outcome.SAME, Same.DIFFERENT: Outcome.DIFFERENT}.get(same, Outcome.UNKNOWN)

    @cached_property
    def _volatile(self) -> Mapping[str, Volatile]:
        """By site, the places that earlier crawls have seen change at each fetch."""
        from scrapy_dust.crawl.judges import volatile_places  # noqa: PLC0415

        return volatile_places(self._rules.settings)

    def _spider_idle(self) -> None:
        """Give up canaries whose callbacks have taken nothing by now."""
        waiting, self._waiting, self._for_keeper = self._waiting, {}, {}
        for canary in waiting.values():
            self._concluded(canary, Outcome.UNKNOWN)
