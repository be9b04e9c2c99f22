"""The spider of the web of traps as scrapy-redis has spiders: told where to start through Redis, as often as one likes."""

from __future__ import annotations

from typing import Any

from scrapy_redis.spiders import RedisSpider

from tests.crawl.trap_spider import TrapSpider


class SharedTrapSpider(TrapSpider, RedisSpider):
    name = "shared-traps"
    max_idle_time = 1
    start = RedisSpider.start

    def __init__(self, redis_key: str, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.redis_key = redis_key
