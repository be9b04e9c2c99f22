"""The work of ``scrapy dusteval --online``: it replays a log as a first crawl that learns while it goes
on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from scrapy_dust.commands.tables import table
from scrapy_dust.commands.truths import examine
from scrapy_dust.errors import DustError
from scrapy_dust.learners.dust_learner import Dust
from scrapy_dust.learners.maybe_dont import MaybeDont
from scrapy_dust.online.replaying import (
    Arrivals,
    OnlineCrawl,
    arrivals_of,
    online,
    with_keys,
    with_knowledge,
    with_relearning,
)
from scrapy_dust.page.site_log import site_log
from scrapy_dust.rule_book.priors import priors_of_package
from scrapy_dust.settings import DustSettings
from scrapy_dust.visits.pages import SiteLog

#: Points of a curve that are told.
_POINTS = 50

Method = Callable[[Arrivals, DustSettings], OnlineCrawl]


def _maybe_dont(arrivals: Arrivals, settings: DustSettings) -> OnlineCrawl:
    """A crawl that learns by the published method MaybeDont, and learns again as its log grows."""

    def learn(log: SiteLog) -> Callable[[str], str]:
        """The function that makes keys of URLs, as learned from *log*."""
        return MaybeDont().learn(arrivals.site, log).key

    return with_relearning(arrivals, learn)


def _offline(arrivals: Arrivals, settings: DustSettings) -> OnlineCrawl:
    """A crawl that applies, from its start, the rules that our learner finds in the whole log, as a second crawl does."""
    log = site_log(visit for url in arrivals.urls for visit in arrivals.visits[url])
    learner = Dust(max_loss=settings.max_loss, pool=priors_of_package())
    return with_keys(arrivals, learner.learn(arrivals.site, log).key)


#: All methods, in the order of the table.
METHODS: Mapping[str, Method] = {
    "keepall": lambda arrivals, settings: with_keys(arrivals, str),
    "maybedont": _maybe_dont,
    "online": lambda arrivals, settings: online(arrivals, settings, priors_of_package()),
    "offline": _offline,
    "oracle": lambda arrivals, settings: with_knowledge(arrivals),
}


@dataclass(frozen=True, slots=True)
class Total:
    """The results of one method, summed over all sites of a log."""

    method: str
    crawls: Sequence[OnlineCrawl]

    def sum_of(self, name: str) -> int:
        """The sum of the count *name* over all sites."""
        return sum(getattr(crawl, name) for crawl in self.crawls)

    @property
    def fetches(self) -> int:
        """The number of fetches on all sites."""
        return sum(len(crawl.fetched) for crawl in self.crawls)

    @property
    def share(self) -> float:
        """The share of redundant fetches that the method saved."""
        redundant = self.sum_of("redundant")
        return self.sum_of("avoided") / redundant if redundant else 0.0

    def curve(self) -> list[tuple[int, int]]:
        """Pairs of a number of fetches and the number of contents seen by then, site after site."""
        points, before, seen = [(0, 0)], 0, 0
        for crawl in self.crawls:
            every = max(1, len(crawl.uniques) // _POINTS)
            points += [
                (before + n, seen + crawl.uniques[n - 1]) for n in range(every, len(crawl.uniques), every)
            ]
            before, seen = before + len(crawl.uniques), seen + (crawl.uniques[-1] if crawl.uniques else 0)
            points.append((before, seen))
        return points


@dataclass(frozen=True, slots=True)
class OnlineEvaluation:
    """One run of ``scrapy dusteval --online``."""

    logs: tuple[str, ...]
    truth: str | None
    settings: DustSettings
    methods: Sequence[str]
    as_json: bool

    def run(self) -> None:
        """Replay the log with each method and print the table. Raises `DustError` where that cannot be done."""
        examined = examine(self.logs, self.truth)
        if examined.unreadable:
            print(f"not read: {examined.unreadable} lines.", file=sys.stderr)
        arrivals = list(arrivals_of(examined.visits, examined.truth))
        if not arrivals:
            raise DustError(f"{', '.join(self.logs)}: no URL whose {examined.field!r} is known.")
        totals = [
            Total(name, [METHODS[name](one, self.settings) for one in arrivals]) for name in self.methods
        ]
        if self.as_json:
            for total in totals:
                print(json.dumps(_json(total)))
            return
        print(_table(totals))
        first = totals[0]
        print(
            f"\nReplayed {first.sum_of('urls')} URLs of {first.sum_of('contents')} contents (by {examined.field}) as a "
            "first crawl."
        )


def methods_of(named: str | None) -> tuple[str, ...]:
    """The names of the methods to compare. Raises `ValueError` for a method that does not learn while it crawls."""
    names = tuple(dict.fromkeys(name.strip() for name in named.split(","))) if named else tuple(METHODS)
    for name in names:
        if name not in METHODS:
            raise ValueError(f"there is no method {name!r} with --online. These are: {', '.join(METHODS)}.")
    return names


def _table(totals: Sequence[Total]) -> str:
    """The table of all methods, a row each."""
    rows = [
        (
            total.method,
            str(total.fetches),
            str(total.sum_of("avoided")),
            f"{total.share:.1%}",
            str(total.sum_of("lost")),
        )
        for total in totals
    ]
    return table(_HEADS, rows, right=range(1, len(_HEADS)))


_HEADS = ("method", "fetches", "avoided", "of redundant", "lost")


def _json(total: Total) -> dict[str, object]:
    """The JSON object for one method."""
    return {
        "method": total.method,
        "urls": total.sum_of("urls"),
        "clusters": total.sum_of("contents"),
        "crawled": total.fetches,
        "avoided": total.sum_of("avoided"),
        "share": round(total.share, 4),
        "clusters_lost": total.sum_of("lost"),
        "curve": total.curve(),
    }
