"""Finds parts of a site where fetches repeatedly show nothing: their pages change at each fetch, or stand behind a wall."""

from __future__ import annotations

from collections import Counter

from scrapy_dust.dust.outcomes import Outcome
from scrapy_dust.dust.strata import template_of

#: Answers of one path template that say nothing, one after the other, after which no more are asked for.
_ENOUGH = 10


class Silence:
    """Counts, for each path template, the fetches without result since the last one with a result."""

    def __init__(self) -> None:
        self._since: Counter[str] = Counter()

    def said(self, url: str, outcome: Outcome) -> None:
        """Count a fetch for a pair of *url* that had this *outcome*."""
        template = template_of(url)
        if outcome is Outcome.UNKNOWN:
            self._since[template] += 1
        elif self._since[template] < _ENOUGH:
            self._since[template] = 0

    def covers(self, url: str) -> bool:
        """Whether no more URLs like *url* should be fetched."""
        return self._since[template_of(url)] >= _ENOUGH

    @property
    def templates(self) -> list[str]:
        """The path templates of which no more URLs should be fetched."""
        return [template for template, count in self._since.items() if count >= _ENOUGH]
