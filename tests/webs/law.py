"""The law: whatever the web, the spider, the rules and the order of answers, what the spider yields without us it
yields with us. The unit is the item: a content as one callback takes it, in one language, in one round.

Excepted is what rules that were admitted though wrong say they may lose: contents that share a class with another
one, and what is found over them alone. Rules that the crawl itself found to be false are no excuse: what they
suppressed is given back. Nor is any rule one where all that it would suppress is fetched all the same, as canaries
or in shadow mode. Then one class that alone is sent to a login, since nobody can tell that from a page that has moved,
and walls that were shown in place of two classes at most. Where our files were damaged, the crawl has to come to its end.

The oracle is plain Scrapy, on the same web, with a spider that takes nothing of excepted contents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from scrapy_dust.rules.rule import Rule
from tests.webs.crawling import crawl
from tests.webs.model import Item, Web
from tests.webs.spiders import Crawled

#: In place of so many classes, a wall is one.
_WALL_OF = 3


@dataclass(frozen=True)
class Finding:
    """What crawls of one web came to."""

    with_us: Crawled
    without: Crawled | None  #: where it was looked at
    required: frozenset[Item]  #: where it was looked at, else what there is at most
    lost: frozenset[Item]

    @property
    def is_broken(self) -> bool:
        return bool(self.lost or self.with_us.faults)

    @property
    def stated_loss(self) -> frozenset[Item]:
        if self.without is None:
            return frozenset()
        return frozenset(self.without.items - self.with_us.items - self.required)


def finding(web: Web, *, both: bool = False, **settings: Any) -> Finding:
    """*both*: crawl it without us too, which is done anyway where something is missing; *settings*: of the crawl with us."""
    with_us = _to_its_end(web, **settings)
    rules = _in_force(web, with_us)
    merged = web.merged(rules)
    at_most = web.at_most(merged)
    if not both and at_most <= with_us.items:
        return Finding(with_us, None, at_most, frozenset())
    without, required = _required(web, merged)
    if web.manner.damage and web.manner.pauses:
        return Finding(with_us, without, required, frozenset())
    lost = required - with_us.items
    for excused in _excuses(web, rules, with_us) if lost else ():
        if {content for _, content, _, _ in lost} & excused:
            _, spared = _required(web, merged | excused)
            if spared <= with_us.items:
                return Finding(with_us, without, spared, frozenset())
    return Finding(with_us, without, required, frozenset(lost))


def breaks(web: Web) -> bool:
    return finding(web).is_broken


def _required(web: Web, blind_to: frozenset[str]) -> tuple[Crawled, frozenset[Item]]:
    without = _to_its_end(web, blind_to=blind_to, ADDONS={}, **_WITHOUT)
    return without, web.in_any_order(without.items)


_WITHOUT = {"DUST_MODE": "off", "DUST_CONTENT_DEDUP": "off"}


def _to_its_end(web: Web, **settings: Any) -> Crawled:
    crawled = crawl(web, **settings)
    assert crawled.reason == "finished", crawled.reason
    return crawled


def _in_force(web: Web, crawled: Crawled) -> tuple[Rule, ...]:
    if web.manner.canary_rate == 1 or web.manner.mode == "shadow":
        return ()
    return tuple(rule for rule in web.rules if rule not in crawled.refuted)


def _excuses(web: Web, rules: tuple[Rule, ...], crawled: Crawled) -> Iterator[frozenset[str]]:
    """Contents that may be lost together."""
    yield from (frozenset({one}) for one in web.behind_the_login(rules))
    walls = {url: contents for url, contents in web.behind_walls(rules).items() if url in crawled.asked}
    if len({web.key(rules, url) for url in walls}) < _WALL_OF:
        yield frozenset().union(*walls.values())
