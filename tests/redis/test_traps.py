"""The web of traps under scrapy-redis' scheduler, in each way that a project may crawl."""

from __future__ import annotations

import random
from contextlib import ExitStack

import pytest

from tests.crawl.trap_ways import all_ways, walk

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize("reactor", [True, False], ids=["asyncio", "reactorless"])
def test_no_page_is_lost_under_scrapy_redis(tmp_path, redis_server, reactor):
    """A pause is one there that leaves the queue in Redis."""
    chosen = {
        "TWISTED_REACTOR_ENABLED": reactor,
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_dust.redis.DustRedisDupeFilter",
        "REDIS_URL": redis_server.url,
        "DUST_REDIS_LEASE": 10,
    }
    with ExitStack() as stack:
        ways = all_ways(tmp_path, random.Random(int(reactor)), stack, **chosen)
        for number, way in enumerate(ways):
            names = {
                "SCHEDULER_QUEUE_KEY": f"{number}:%(spider)s:requests",
                "DUST_REDIS_KEY": f"{number}:%(spider)s",
            }
            for job in way.jobs:
                # The last one clears up.
                job["settings"] = job["settings"] | names | {"SCHEDULER_PERSIST": job is not way.jobs[-1]}
                job["settings"].pop("JOBDIR", None)
        walk(ways)
        for way in ways:
            way.check()
