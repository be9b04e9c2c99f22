"""The web of traps in each way that a project may crawl, with a Twisted reactor and without."""

from __future__ import annotations

import random
from contextlib import ExitStack

import pytest

from tests.crawl.trap_ways import all_ways, walk

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("reactor", [True, False], ids=["asyncio", "reactorless"])
def test_no_page_is_lost_under_scrapys_scheduler(tmp_path, reactor):
    with ExitStack() as stack:
        ways = all_ways(tmp_path, random.Random(int(reactor)), stack, TWISTED_REACTOR_ENABLED=reactor)
        walk(ways)
        for way in ways:
            way.check()
