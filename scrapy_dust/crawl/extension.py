"""`DustExtension`: says at the end of a crawl what rules saved, and learns new ones if asked to."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import NotConfigured

from scrapy_dust.crawl.rules import rules_of
from scrapy_dust.stats import Stat

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Self

    from scrapy import Spider
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)

#: So many rules are named in the summary.
RULES_NAMED = 3


class DustExtension:
    """For ``EXTENSIONS``."""

    def __init__(self, crawler: Crawler) -> None:
        self._rules = rules_of(crawler)
        if not self._rules.settings.enabled:
            raise NotConfigured
        self._crawler = crawler
        self._reason: str | None = None  #: why the spider was closed
        crawler.signals.connect(self._spider_opened, signal=signals.spider_opened)
        crawler.signals.connect(self._spider_closed, signal=signals.spider_closed)
        # Not when the spider closes: then the crawl log is just being closed too.
        crawler.signals.connect(self._engine_stopped, signal=signals.engine_stopped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler)

    def _spider_opened(self, spider: Spider) -> None:
        self._crawler.stats.set_value(Stat.RULES.value, self._rules.count)

    def _spider_closed(self, spider: Spider, reason: str) -> None:
        self._reason = reason
        logger.info("%s", self._summary(self._crawler.stats.get_stats()), extra={"spider": spider})

    async def _engine_stopped(self) -> None:
        settings = self._rules.settings
        # One who stops a crawl, or pauses it, does not want to wait for another.
        if settings.learn != "close" or not settings.log_enabled or self._reason in (None, "shutdown"):
            return
        # Not loaded before: it brings all of mining.
        from scrapy_dust.crawl.learning import learn  # noqa: PLC0415

        assert self._crawler.spider is not None
        await learn(self._crawler, settings)

    def _summary(self, stats: Mapping[str, Any]) -> str:
        if not self._rules.sites:
            return _without_rules(stats, self._rules.settings.mode)
        shadow = self._rules.settings.mode == "shadow"
        filtered = Stat.SHADOW_FILTERED if shadow else Stat.FILTERED
        saved = stats.get(filtered, 0) - (0 if shadow else stats.get(Stat.HEIRS, 0))
        said = f"{_number(self._rules.count, 'rule')} {'would have ' if shadow else ''}saved "
        said += _number(max(saved, 0), "request")
        by_rule = _by_rule(stats, f"{filtered}/")
        if by_rule:
            said += f" ({by_rule})"
        if not shadow:
            said += (
                f"; {_number(stats.get(Stat.CANARIES, 0), 'URL')} fetched to test rules,"
                f" {_number(stats.get(Stat.KEPT_ALIVE, 0), 'page')} got by another alias after the first had failed"
            )
        return f"{said}."


def _without_rules(stats: Mapping[str, Any], mode: str) -> str:
    recorded = stats.get(Stat.RECORDED, 0)
    if mode == "off":
        return f"Rules are off (DUST_MODE); recorded {_number(recorded, 'answer')}."
    return f"No rules yet; recorded {_number(recorded, 'answer')}. `scrapy dustmine` makes rules of them."


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _by_rule(stats: Mapping[str, Any], prefix: str) -> str:
    counts = {name.removeprefix(prefix): count for name, count in stats.items() if name.startswith(prefix)}
    most = sorted(counts, key=lambda identity: (-counts[identity], identity))
    named = [f"{identity}: {counts[identity]}" for identity in most[:RULES_NAMED]]
    if len(most) > RULES_NAMED:
        named.append(f"and {len(most) - RULES_NAMED} more")
    return ", ".join(named)
