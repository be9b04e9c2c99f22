"""What a rule does on one site is nothing to the same rule on another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from scrapy import Request

from tests.life.both import Both, Reader
from tests.life.web import Answer, Asked, index, page

PAGES = range(8)
SIDS = "abcdef"


class OneSiteAfterTheOther(Reader):
    async def start(self) -> AsyncIterator[Any]:
        for at, home in enumerate(self.homes):
            yield Request(home, priority=-at)

    def links(self, response: Any) -> Any:
        yield from response.follow_all(css="a", priority=response.request.priority)


def hub(asked: Asked) -> Answer:
    return index(*(f"/p{n}?sid={sid}" for sid in SIDS for n in PAGES))


def honest(asked: Asked) -> Answer:
    return hub(asked) if asked.path == "/" else page(f"honest {asked.path}")


def changed(asked: Asked) -> Answer:
    return hub(asked) if asked.path == "/" else page(f"changed {asked.path} {asked.query}")


def test_a_rule_that_is_false_on_one_site_gives_back_what_it_suppressed_there(both):
    found: Both = both(OneSiteAfterTheOther, honest, changed, CONCURRENT_REQUESTS=1, DUST_CANARY_RATE=0.01)
    found.check(wanted=len(PAGES) * (1 + len(SIDS)))
    assert found.ours.stats["dust/suspended"] == 1
    assert found.ours.stats["dust/filtered"] > 0  # on the other site
