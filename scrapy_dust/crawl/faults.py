"""Faults in scrapy-dust's own parts never end a crawl: each fault is counted in a stat, and logged the first time."""

from __future__ import annotations

from scrapy.crawler import Crawler

from scrapy_dust.crawl.components import CrawlLogger
from scrapy_dust.errors import DustError
from scrapy_dust.stats import Stat


class Faults:
    """The faults of one part of scrapy-dust in one crawl, counted in *stat*. *so*: what the crawl does all the same."""

    def __init__(self, crawler: Crawler, stat: Stat, so: str = "The crawl goes on") -> None:
        self._crawler, self._stat, self._so = crawler, stat, so
        self._are_said = False

    def note(self, what: str, error: Exception | str, *, count: int = 1, trace: bool | None = None) -> None:
        """Count, and log once, that *what* failed by *error*. *trace*: with a traceback; None: only where it may be a bug."""
        self._crawler.stats.inc_value(self._stat.value, count)
        if self._are_said:
            return
        self._are_said = True
        is_meant = isinstance(error, (DustError, OSError, str))
        why = str(error) if isinstance(error, (DustError, str)) else f"{type(error).__name__}: {error}"
        CrawlLogger(__name__, self._crawler).error(
            "%s: %s. %s; what else fails is counted in the stat %s.",
            *(what, why.rstrip("."), self._so, self._stat.value),
            exc_info=not is_meant and trace is not False,
        )
