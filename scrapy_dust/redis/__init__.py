"""Many workers, one crawl: seen requests, classes, waiting requests and requests in flight are in Redis.

    dupefilter.py   `DustRedisDupeFilter`, the only name a project needs
    seen.py         which requests were asked for, by any worker
    store.py        classes and what waits for them, each changed by one worker at a time
    leases.py       which worker is at which request, and what becomes of those of a worker that died
    suspensions.py  rules that one worker has found to be false
    queue.py        scrapy-redis' queue, out of which nothing falls
    server.py       the one place where Redis is talked to; scripts.py is what it is told
    frozen.py       requests as JSON

What is written there is JSON and can be read with redis-cli. What scrapy-redis itself keeps is its own business.
"""

from __future__ import annotations

from typing import Any

__all__ = ["DustRedisDupeFilter"]


def __getattr__(name: str) -> Any:
    if name != "DustRedisDupeFilter":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from scrapy_dust.redis.dupefilter import DustRedisDupeFilter  # noqa: PLC0415
    except ModuleNotFoundError as missing:
        if missing.name != "redis":
            raise
        raise ModuleNotFoundError(
            "scrapy_dust.redis needs redis: pip install scrapy-dust[redis].", name="redis"
        ) from None
    return DustRedisDupeFilter
