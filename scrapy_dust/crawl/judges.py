"""A judge for each site of a crawl: compares two pages by what validation has learned of their site."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from urllib.parse import urlsplit

from scrapy_dust.crawl_log.log_places import log_dir
from scrapy_dust.judge.judging import Judge
from scrapy_dust.page.knowledge import NOTHING_KNOWN
from scrapy_dust.page.volatile import Volatile
from scrapy_dust.rule_book.volatile_places import known_places
from scrapy_dust.settings import DustSettings
from scrapy_dust.sites import site_of

#: Hosts with a judge, those asked for last: each keeps some pages, all together some 50 MB.
_HOSTS = 100


def volatile_places(settings: DustSettings) -> Mapping[str, Volatile]:
    """For each site, the places of its pages that are known to change at each fetch."""
    return known_places(log_dir(settings.dir).parent).volatile()


class Judges:
    """Makes one judge for each host, with what earlier crawls and validations have learned of its site."""

    def __init__(self, settings: DustSettings) -> None:
        self._knowledge = known_places(log_dir(settings.dir).parent).knowledge()
        self._found: OrderedDict[str, Judge] = OrderedDict()

    def judge_for(self, url: str) -> Judge:
        """The judge for pages of *url*'s host."""
        host = urlsplit(url).netloc
        judge = self._found.get(host)
        if judge is None:
            judge = self._found[host] = Judge(self._knowledge.get(site_of(url) or "", NOTHING_KNOWN))
        self._found.move_to_end(host)
        while len(self._found) > _HOSTS:
            self._found.popitem(last=False)
        return judge
