"""Counts in the stats of a crawl what happens with each request.

Scrapy's own way to add one to a stat goes through five calls, which is a tenth of the time that Scrapy takes for a
request that it has seen. So the number is raised where it stands. A collector that counts in a way of its own is
asked, as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.statscollectors import StatsCollector

if TYPE_CHECKING:
    from collections.abc import Callable


def counting(stats: StatsCollector) -> Callable[[str], None]:
    """A function that adds one to a stat of *stats*."""
    held = vars(stats)
    if type(stats).inc_value is not StatsCollector.inc_value or "inc_value" in held or "_stats" not in held:
        return stats.inc_value

    def count(name: str) -> None:
        values = held["_stats"]
        values[name] = values.get(name, 0) + 1

    return count
