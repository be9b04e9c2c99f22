"""Estimates from a log without contents how much likelier it is that two pages are one than that they are two.

The features of a pair are how near their sizes are (equal, within 0.1 %, within 1 %, further apart), and whether
out-links, types and titles are equal. URLs that were fetched more than once show how often a feature is seen of one
page; random pairs with a common path template show how often it is seen of two. Both are counted for the site, and
for each template with enough of them: where all pages of a template have one size, as a login page under many URLs
has, equal sizes say nothing. DustBuster's test of overlapping sizes is the case where one of the two is 0 and the
other 1.

These are estimates from few features: they say where to look first, and are never the whole of a proof.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from scrapy_dust.visits.pages import Page

Seen = tuple[str, bool | None, bool | None, bool | None]

#: What is expected of one page where no URL was asked for twice, as so many observations: live pages vary a little.
_EXPECTED = {"equal": 6.0, "0.1 %": 2.0, "1 %": 1.0, "other": 1.0}
#: Random pairs that tell what a template's pages have in common.
_ENOUGH, _MOST = 30, 400


def features_of(here: Page, there: Page) -> Seen | None:
    """The features by which two pages seem to be one page; None if there is nothing to compare."""
    if here.size is None or there.size is None:
        return None
    return (
        _size_nearness(here.size, there.size),
        _are_equal(here.outlinks, there.outlinks),
        _are_equal(here.content_type, there.content_type),
        _are_equal(here.title, there.title),
    )


class Likelihood:
    """The frequencies of features on one site. *pages* are drawn from in their order: shuffle them before."""

    def __init__(self, pages: Iterable[Page], template_of: dict[str, str]) -> None:
        self._template_of = template_of
        self._one: Counter[str] = Counter()
        self._two: dict[str | None, Counter[Seen]] = {None: Counter()}
        last: dict[str, Page] = {}
        for page in pages:
            if page.size is None:
                continue
            if page.again:
                self._one[_size_nearness((page.size[0],) * 2, (page.size[1],) * 2)] += 1
            template = template_of[page.url]
            before, last[template] = last.get(template), page
            of_template = self._two.setdefault(template, Counter())
            if before is not None and of_template.total() < _MOST:
                seen = features_of(before, page)
                assert seen is not None
                of_template[seen] += 1
                self._two[None][seen] += 1

    def ratio(self, here: Page, there: Page) -> float | None:
        """How many times likelier the features of two pages are if they are one page; None if they have no features."""
        seen = features_of(here, there)
        if seen is None or not self._two[None]:
            return None
        return self._probability_if_one(seen) / self._probability_if_two(
            seen, self._template_of.get(here.url)
        )

    def _probability_if_one(self, seen: Seen) -> float:
        """The probability that two answers of one page have the features *seen*."""
        near = seen[0]
        total = self._one.total() + sum(_EXPECTED.values())
        # That out-links, types and titles of one page differ is taken to be as rare as that its size does.
        odd = sum(one is False for one in seen[1:])
        return (self._one[near] + _EXPECTED[near]) / total * 0.1**odd

    def _probability_if_two(self, seen: Seen, template: str | None) -> float:
        """The probability that two pages of the path *template* have the features *seen*."""
        counts = self._two.get(template, Counter[Seen]())
        if counts.total() < _ENOUGH:
            counts = self._two[None]
        alike = sum(count for other, count in counts.items() if _agrees(other, seen))
        return (alike + 0.5) / (counts.total() + 1)


def log_bet(ratios: Sequence[float], share: float) -> float:
    """The logarithm of what a bet wins by *ratios* against "a *share* of these pairs are two pages"."""
    return sum(-math.log(1 - share + share / ratio) for ratio in ratios)


def _agrees(other: Seen, seen: Seen) -> bool:
    """Whether *other* has the same value as *seen* in all features that are known."""
    return other[0] == seen[0] and all(
        mine is None or mine == theirs for mine, theirs in zip(seen[1:], other[1:], strict=True)
    )


def _size_nearness(a: tuple[int, int], b: tuple[int, int]) -> str:
    """How near two ranges of sizes are, as one of four words."""
    gap = max(a[0], b[0]) - min(a[1], b[1])
    if gap <= 0:
        return "equal"
    relative = gap / max(1, a[0], b[0])
    return "0.1 %" if relative <= 0.001 else "1 %" if relative <= 0.01 else "other"


def _are_equal(a: object, b: object) -> bool | None:
    return None if a is None or b is None else a == b
