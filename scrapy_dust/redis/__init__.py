"""Many workers, one crawl: seen requests, classes, waiting requests and requests in flight are in Redis.

    dupefilter.py     `DustRedisDupeFilter`, the only name a project needs
    seen_requests.py  the requests that any worker has asked for
    shared_store.py   classes and the requests that wait for them; one worker at a time changes a class
    leases.py         which worker is at which request; the requests of a dead worker go to another one
    suspensions.py    rules that one worker has found to be false
    leased_queue.py   scrapy-redis' queue, which keeps each request until a worker has finished it
    server.py         the one place where Redis is talked to, by the scripts in lua_scripts.py
    request_json.py   requests as JSON

Requests and classes are written as JSON, which can be read with redis-cli. scrapy-redis writes its own keys in its own way.
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
