"""The law: whatever the web, the rules and the order of answers, the contents fetched without us are fetched with us.

Excepted is what rules that were admitted though wrong say they may lose: contents that share a class with another
one, and what is found over them alone. Rules that the crawl itself found to be false are no excuse: what they
suppressed is given back. Nor is any rule one where all that it would suppress is fetched all the same, as canaries
or in shadow mode. And one class that alone is sent to a login, since nobody can tell that from a page that has moved.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scrapy_dust.dust.rules import Rule
from tests.webs.crawling import Crawled, crawl
from tests.webs.model import Web


@dataclass(frozen=True)
class Finding:
    """What crawls of one web came to."""

    with_us: Crawled
    without: Crawled | None  #: where it was looked at
    required: frozenset[str]  #: contents
    lost: frozenset[str]  #: of them

    @property
    def stated_loss(self) -> frozenset[str]:
        if self.without is None:
            return frozenset()
        return frozenset(self.without.contents - self.with_us.contents - self.required)


def finding(web: Web, *, both: bool = False, **settings: Any) -> Finding:
    """*both*: crawl it without us too, which is done anyway where something is missing; *settings*: of the crawl with us."""
    with_us = _to_its_end(web, **settings)
    rules = _in_force(web, with_us)
    required = web.required(rules)
    if not both and required <= with_us.contents:
        return Finding(with_us, None, frozenset(required), frozenset())
    without = _to_its_end(web, DUST_MODE="off", DUST_CONTENT_DEDUP="off")
    required &= without.contents
    lost = required - with_us.contents
    for one in lost & web.behind_the_login(rules):
        spared = web.required(rules, but={one}) & without.contents
        if spared <= with_us.contents:
            return Finding(with_us, without, frozenset(spared), frozenset())
    return Finding(with_us, without, frozenset(required), frozenset(lost))


def breaks(web: Web) -> bool:
    return bool(finding(web).lost)


def _to_its_end(web: Web, **settings: Any) -> Crawled:
    crawled = crawl(web, **settings)
    assert crawled.reason == "finished", crawled.reason
    return crawled


def _in_force(web: Web, crawled: Crawled) -> tuple[Rule, ...]:
    if web.manner.canary_rate == 1 or web.manner.mode == "shadow":
        return ()
    return tuple(rule for rule in web.rules if rule not in crawled.refuted)
