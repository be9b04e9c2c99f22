"""What a worker holds in Redis while its spider is told that it is idle: a request that is queued then stays held."""

from __future__ import annotations

from typing import Any

import pytest
from scrapy import Request, signals

from scrapy_dust.rules.parameters import DropParameter
from scrapy_dust.rules.rule import Rule
from tests.crawl.conftest import _idle_is_noticed_at_once
from tests.crawl.crawling import Visitor, crawl, write_rules
from tests.crawl.site import page, serving

__all__ = ["_idle_is_noticed_at_once"]

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("redis")]


class Idling(Visitor):
    """Is told that it is idle before any handler of ours is."""

    name = "idling"

    @classmethod
    def from_crawler(cls, crawler: Any, *arguments: Any, **more: Any) -> Any:
        spider = super().from_crawler(crawler, *arguments, **more)
        crawler.signals.connect(spider.idle, signal=signals.spider_idle)
        return spider

    def idle(self) -> None:
        if len(self.crawl.got) == 1:
            self.late(Request(f"{self.crawl.got[0]}/late?sid=1", self.parse))

    def late(self, request: Request) -> None:
        self.crawler.engine.crawl(request)


class Inheriting(Idling):
    """Finds that another worker has died, and what it held."""

    client: Any = None

    def late(self, request: Request) -> None:
        from scrapy_dust.redis.request_json import freeze  # noqa: PLC0415

        self.client.hset("dust:idling:held:dead", "dead.1", f"j{freeze(request, self)}")
        self.client.zadd("dust:idling:workers", {"dead": 0})


@pytest.mark.parametrize("spider", [Idling, Inheriting])
def test_what_is_queued_while_the_spider_is_idle_is_held_until_it_is_done(
    redis_server, tmp_path, spider, monkeypatch
):
    client = redis_server.raw_client
    held: list[bytes] = []
    monkeypatch.setattr(Inheriting, "client", client)

    def web(path):
        if "late" in path:
            held.extend(payload for name in client.keys("*:held:*") for payload in client.hvals(name))
        return page(words=path)

    with serving(web) as site:
        settings = {
            "DUPEFILTER_CLASS": "scrapy_dust.redis.DustRedisDupeFilter",
            "REDIS_URL": redis_server.url,
            "DUST_DIR": str(tmp_path / "dust"),
            "DUST_RULES": [
                write_rules(tmp_path / "rules.json", {site.name: [Rule.of(DropParameter("sid"))]})
            ],
        }
        crawled = crawl([site.url("/first")], settings, spider=spider)
        late = site.url("/first/late?sid=1")
    assert crawled.got == [site.url("/first"), late]
    assert [late.encode() in payload for payload in held] == [True]
    assert client.keys("*") == []
