"""What is counted is in the stats at once, whoever keeps them."""

from __future__ import annotations

import pytest
from scrapy.statscollectors import MemoryStatsCollector
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.components import counting


class Elsewhere(MemoryStatsCollector):
    """Counts in a way of its own."""

    def inc_value(self, key, count=1, start=0, spider=None):
        super().inc_value(f"elsewhere/{key}", count, start)


@pytest.mark.parametrize(
    ("kept_by", "name"),
    [
        ("scrapy.statscollectors.MemoryStatsCollector", "seen"),
        ("tests.crawl.test_stat_counting.Elsewhere", "elsewhere/seen"),
    ],
)
def test_what_is_counted_can_be_read_at_once(kept_by, name):
    stats = get_crawler(settings_dict={"STATS_CLASS": kept_by}).stats
    count = counting(stats)
    for seen in (1, 2):
        count("seen")
        assert stats.get_value(name) == seen


def test_stats_that_were_set_anew_are_counted_on():
    stats = get_crawler().stats
    count = counting(stats)
    count("seen")
    stats.set_stats({"seen": 7})
    count("seen")
    assert stats.get_stats() == {"seen": 8}


def test_a_collector_that_was_given_another_way_to_count_counts_in_that_way():
    stats, told = get_crawler().stats, []
    stats.inc_value = told.append
    counting(stats)("seen")
    assert told == ["seen"]


def test_stats_that_nobody_keeps_stay_empty():
    stats = get_crawler(settings_dict={"STATS_CLASS": "scrapy.statscollectors.DummyStatsCollector"}).stats
    counting(stats)("seen")
    assert not stats.get_stats()
