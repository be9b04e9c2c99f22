"""scrapy-redis' own dupefilter makes its own fingerprints; a project that keeps it is told so."""

from __future__ import annotations

import logging

import pytest
from scrapy import Spider
from scrapy.dupefilters import BaseDupeFilter
from scrapy.utils.test import get_crawler

from scrapy_dust.crawl.dupefilter import DustDupeFilter
from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.crawling import QUIET, write_rules


class ItsOwn(BaseDupeFilter):
    """As scrapy-redis 0.9.1 has it, without Redis."""

    @classmethod
    def from_spider(cls, spider):
        return cls()


@pytest.mark.parametrize("rules", [[], [Rule.of(DropParameter("sid"))]])
def test_its_own_dupefilter_is_warned_of_once_where_there_are_rules(tmp_path, caplog, rules):
    write_rules(tmp_path / "dust-rules.json", {"a.example": rules})
    settings = {
        "DUST_RULES": [str(tmp_path / "dust-rules.json")],
        "DUST_DIR": str(tmp_path),
        "DUST_FALLBACK_DUPEFILTER_CLASS": ItsOwn,
    }
    crawler = get_crawler(Spider, QUIET | settings)
    crawler.spider = crawler._create_spider("spider")
    with caplog.at_level(logging.WARNING):
        DustDupeFilter.from_spider(crawler.spider)
    told = [line for line in caplog.messages if "no rule has an effect" in line]
    assert len(told) == len(rules)
    assert all("ItsOwn" in line and "scrapy_dust.redis.DustRedisDupeFilter" in line for line in told)
