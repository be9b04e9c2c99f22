"""Finds parts of a site where fetches repeatedly show nothing: their pages change at each fetch, or stand behind a wall, or
what rules make up is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scrapy_dust.visits.outcomes import Outcome
from scrapy_dust.visits.strata import template_of

#: Answers of one path template that say nothing, one after the other, after which no more are asked for.
_ENOUGH = 10


class Silence:
    """Counts, for each path template, the fetches without result since the last one with a result."""

    def __init__(self) -> None:
        self._since: Counter[str] = Counter()
        self._made_up: Counter[tuple[str, Sequence[str], bool]] = Counter()

    def count_made_up(self, target: str, families: Sequence[str], outcome: Outcome) -> None:
        """Count a fetch of *target*, a URL that a rule of these *families* makes up, by whether there was a page."""
        if outcome is not Outcome.UNKNOWN:
            self._made_up[template_of(target), families, outcome is not Outcome.UNFETCHABLE] += 1

    def made_up_is_missing(self, target: str, families: Sequence[str]) -> bool:
        """Whether URLs like *target*, which rules of these *families* make up, never had a page when they were fetched."""
        dead, there = (self._made_up[template_of(target), families, exists] for exists in (False, True))
        return not there and dead >= _ENOUGH

    def count(self, url: str, outcome: Outcome) -> None:
        """Count a fetch for a pair of *url* that had this *outcome*."""
        template = template_of(url)
        if outcome is Outcome.UNKNOWN:
            self._since[template] += 1
        elif self._since[template] < _ENOUGH:
            self._since[template] = 0

    def is_silent(self, url: str) -> bool:
        """Whether no more URLs like *url* should be fetched, since fetches of them have shown nothing."""
        return self._since[template_of(url)] >= _ENOUGH

    @property
    def templates(self) -> list[str]:
        """The path templates of which no more URLs should be fetched."""
        return [template for template, count in self._since.items() if count >= _ENOUGH]
