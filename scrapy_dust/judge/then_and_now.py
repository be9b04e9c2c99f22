"""Compares the pages that a site shows now with those that the log has of the same URLs.

Two URLs that differ in the log may show one page to a later fetch: the page has changed between two answers of the crawl, or the
fetch does not see what the crawl saw. The crawl was logged in, a promotion has ended. Then the fetch must not overrule the log.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from typing import Literal

import numpy as np

from scrapy_dust.judge.answers import Fetched, Known
from scrapy_dust.page.compare import Difference
from scrapy_dust.page.places import Kind
from scrapy_dust.page.unitsets import UnitSet, is_in, places_of, set_of

#: URLs whose two answers are kept.
_KEPT = 400
#: A unit that so many of the pages with its place show is no page's own.
_SHARED = 0.2
#: Of fewer pages nobody can tell what they share.
_LEAST_PAGES = 5
_KINDS = (Kind.TEXT, Kind.MEDIA, Kind.FIELD, Kind.DATA)


class ThenAndNow:
    """Remembers the pages of one site, each as the log has the page and as a fetch has shown it."""

    def __init__(self) -> None:
        #: By URL, the units of the page in the log and now.
        self._pages: OrderedDict[str, tuple[UnitSet, UnitSet]] = OrderedDict()

    def note(self, page: Fetched, known: Known) -> None:
        """Remember *page* beside *known*, what the log has of its URL."""
        if page.shown is None or known.shown is None:
            return
        self._pages[page.url] = set_of(known.shown.units), set_of(page.shown.units)
        if len(self._pages) > _KEPT:
            self._pages.popitem(last=False)

    def explain(
        self, here: Known, there: Known, of_here: Iterable[Difference], of_there: Iterable[Difference]
    ) -> bool:
        """Whether changes of the one page that two URLs show now explain how their answers *here* and *there* in the log
        differ. *of_here*, *of_there*: units that one of the answers has alone.
        """
        if here.shown is None or there.shown is None:
            return True
        then = set_of(here.shown.units), set_of(there.shown.units)
        pages = [self._pages.get(shown.url) for shown in (here.shown, there.shown)]
        now = next((page[1] for page in pages if page is not None), None)
        if now is None:
            return True
        came_first = here.at < there.at, there.at < here.at
        return all(
            self._explains(one, now, then[not side], is_older=came_first[side])
            for side, differences in enumerate((of_here, of_there))
            for one in differences
            if one.kind in _KINDS
        )

    def _explains(self, difference: Difference, now: UnitSet, other: UnitSet, *, is_older: bool) -> bool:
        """Whether the page showed *difference* when it was logged and has changed since. *now*: the page as fetched.
        *other*: the other URL's page in the log. *is_older*: the answer with *difference* came before that of the other
        URL.
        """
        here, there = (units[places_of(units) == np.uint64(difference.place)] for units in (now, other))
        unit = np.uint64(difference.place << 32 | difference.value)
        if unit in here or self._share_with_unit(unit, 0) >= _SHARED:
            return True
        if not len(here):
            return not len(
                there
            )  # a notice that the page had at times; else a part that the fetch does not see
        if is_in(here, there).any():
            return is_older  # one change explains that
        return any(self._share_with_unit(shown, 1, unknown=1.0) < _SHARED for shown in here)

    def _share_with_unit(self, unit: np.uint64, when: Literal[0, 1], *, unknown: float = 0.0) -> float:
        """The share of pages with *unit*, in the log (*when* = 0) or as fetched (1), among those with its place;
        *unknown* if these are few.
        """
        place = unit >> np.uint64(32)
        having = [page[when] for page in self._pages.values() if place in places_of(page[when])]
        showing = sum(bool(unit in units) for units in having)
        return unknown if len(having) < _LEAST_PAGES else showing / len(having)
