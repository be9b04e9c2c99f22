"""The web of traps under scrapy-redis' scheduler, in each way that a project may crawl."""

from __future__ import annotations

import random
from contextlib import ExitStack

import pytest

from tests.crawl.trap_ways import all_ways, walk, way
from tests.crawl.trap_web import trapping

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
        for number, one in enumerate(ways):
            names = {
                "SCHEDULER_QUEUE_KEY": f"{number}:%(spider)s:requests",
                "DUST_REDIS_KEY": f"{number}:%(spider)s",
            }
            for job in one.jobs:
                # The last one clears up.
                job["settings"] = job["settings"] | names | {"SCHEDULER_PERSIST": job is not one.jobs[-1]}
                job["settings"].pop("JOBDIR", None)
        walk(ways)
        for one in ways:
            one.check()


def test_no_page_is_lost_by_a_spider_that_redis_tells_where_to_start(tmp_path, redis_server):
    with trapping() as web:
        chosen = {
            "TWISTED_REACTOR_ENABLED": True,
            "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
            "DUPEFILTER_CLASS": "scrapy_dust.redis.DustRedisDupeFilter",
            "REDIS_URL": redis_server.url,
            "DUST_REDIS_KEY": "spider:%(spider)s",
        }
        chance = random.Random(1)
        told = way("told by Redis", web, tmp_path / "0", chance, rewrite=True, paused=False, **chosen)
        told.jobs[0]["spider"] = "tests.redis.trap_spider.SharedTrapSpider"
        told.jobs[0]["arguments"]["redis_key"] = "begin"
        redis_server.client.lpush("begin", web.home)
        walk([told])
        told.check()
        # What Redis tells is not filtered, and is fetched once more where it is linked itself, as without us.
        # Nothing new comes of it then, so that each alias is tried, the canonical URL too.
        assert web.asked["GET /"] + web.asked["GET /?sid=home"] <= 4
