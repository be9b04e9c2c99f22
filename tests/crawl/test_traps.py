"""The web of traps, with rules in force: no page is lost. More ways to walk through it are in tests/e2e."""

from __future__ import annotations

import random
from collections import Counter
from pathlib import Path

import pytest

from tests.crawl.crawling import QUIET, crawl
from tests.crawl.trap_spider import DELIVERED, TrapSpider, settings_for
from tests.crawl.trap_ways import MAY_COME_TWICE
from tests.crawl.trap_web import trapping, write_rules


class InThisProcess(TrapSpider):
    def __init__(self, requests, **arguments):
        super().__init__(requests[0], **arguments)


def walk(web, folder: Path, **chosen):
    settings = settings_for(str(folder)) | {"DUST_DIR": str(folder / "dust"), "DUST_CANARY_RATE": 0}
    rules = {"DUST_RULES": [write_rules(folder / "rules.json", web)]}
    result = crawl([web.home], QUIET | settings | rules | chosen, spider=InThisProcess)
    delivered = Counter()
    for name, count in result.stats.items():
        if name.startswith(DELIVERED):
            delivered[name.removeprefix(DELIVERED)] += count
    return result, delivered


@pytest.mark.once
@pytest.mark.parametrize("rewrite", [False, True])
def test_no_page_is_lost_and_few_come_twice(tmp_path, rewrite):
    with trapping(jitter=random.Random(7)) as web:
        _, delivered = walk(web, tmp_path, CONCURRENT_REQUESTS=8, DUST_REWRITE=rewrite)
        media = {name for name in web.contents if name.startswith(("file/", "image/"))}
        assert web.lost <= {name for name in media if name.startswith("image/")}  # where Pillow is missing
        assert web.contents - media == delivered.keys()
        twice = {name.partition("/")[0] for name, count in delivered.items() if count > 1}
        assert twice <= MAY_COME_TWICE
        # The start request has no errback, and its links have one; and the very same URL is Scrapy's to filter. Nothing new comes
        # of the page, so that each alias is tried; where URLs are rewritten, the canonical one is an alias too.
        assert web.asked["GET /"] + web.asked["GET /?sid=home"] <= 3 + rewrite
